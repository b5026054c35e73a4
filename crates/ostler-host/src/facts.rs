//! What the judge must know of the disk, looked up for one call.
//!
//! Reads names, links and git's own files; never starts a program, never writes, and never
//! walks without a bound. What cannot be looked up is left out, and then the judge asks.

mod entries;
mod gitlinks;
mod repository;
#[cfg(test)]
mod tests;

use ostler_permission::{Facts, Resolved, look_ups};
use ostler_protocol::Access;
use ostler_stdx::AbsPath;

/// Looks things up, and remembers what is costly to read.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    links: gitlinks::Cache,
}

impl Disk {
    /// The facts about some accesses; `facts` comes with its folders filled in.
    pub(crate) fn gather(&self, accesses: &[Access], mut facts: Facts) -> Facts {
        let wanted = look_ups(accesses, &facts.home);
        let places = wanted
            .paths
            .into_iter()
            .chain(facts.extra_dirs.iter().cloned())
            .chain([facts.project.clone(), facts.home.clone()]);
        facts.resolved = places.map(|path| (path.clone(), resolve(&path))).collect();
        let mut entries = entries::Entries::new(&mut facts.resolved);
        let mut walks = wanted.walks;
        for glob in wanted.globs {
            let found = entries.glob(&glob);
            walks.extend(found.iter().flatten().filter(|_| glob.follows).cloned());
            facts.globs.insert(glob, found);
        }
        for path in walks {
            let walked = entries.walk(&path);
            if walked.as_ref().is_some_and(|(_, odd)| *odd) {
                facts.odd.insert(path.clone());
            }
            facts.walks.insert(path, walked.map(|(links, _)| links));
        }
        for folder in wanted.repositories {
            let found = repository::find(&resolve(&folder).real, &facts.home, &self.links);
            facts.repositories.insert(folder, found);
        }
        facts
    }
}

/// The facts about some accesses, as a session gathers them; `facts` comes with its folders
/// filled in.
#[must_use]
pub fn look_up(accesses: &[Access], facts: Facts) -> Facts {
    Disk::default().gather(accesses, facts)
}

/// Links that one path may go through, as Linux has it.
const MAX_LINKS: usize = 40;

/// Where a path leads: links followed; for what does not exist, the nearest folder that
/// does, joined with the rest.
pub(crate) fn resolve(path: &AbsPath) -> Resolved {
    follow(path, MAX_LINKS)
}

fn follow(path: &AbsPath, links_left: usize) -> Resolved {
    if let Ok(real) = std::fs::canonicalize(path.as_path()) {
        let is_dir = real.is_dir();
        return Resolved {
            real: AbsPath::new(real).unwrap_or_else(|_| path.clone()),
            exists: true,
            is_dir,
        };
    }
    let gone = |real: AbsPath| Resolved { real, exists: false, is_dir: false };
    let (Some(parent), Some(name)) = (path.parent(), path.as_path().file_name()) else {
        return gone(path.clone());
    };
    let parent = follow(&parent, links_left).real;
    match std::fs::read_link(path.as_path()) {
        // A dangling link leads where it points from where it really lies, though nothing
        // is there yet.
        Ok(target) => match links_left.checked_sub(1) {
            Some(left) => gone(follow(&parent.join(target), left).real),
            // Links in a circle lead nowhere; no rule for a project covers that.
            None => gone(AbsPath::root()),
        },
        Err(_) => gone(parent.join(name)),
    }
}
