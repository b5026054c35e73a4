//! A shell script in the judge's eyes: its paths placed, its column in the mode table.
//!
//! What the script means is read in `shell`; here it only meets the facts.

use std::path::Path;

use ostler_protocol::Mode;
use ostler_stdx::AbsPath;

use super::{accesses::Place, git};
use crate::{
    facts::Facts,
    mode::{Cell, Column, cell},
    rules::base_name,
    shell::{self, Command, How, Kind, Script, Touch},
};

/// A script with its paths placed.
#[derive(Debug)]
pub(crate) struct ScriptSeen<'a> {
    pub(crate) text: &'a str,
    pub(crate) script: Script,
    /// The places of redirections.
    pub(crate) redirects: Vec<Place>,
    /// The places of each command, in the order of the script's commands.
    pub(crate) commands: Vec<Vec<Place>>,
    /// Arguments of unknown programs that may be paths.
    pub(crate) maybe: Vec<Place>,
}

impl<'a> ScriptSeen<'a> {
    pub(super) fn new(text: &'a str, cwd: &AbsPath, facts: &Facts) -> Self {
        let script = shell::analyse(text, cwd, &facts.home);
        let writes = script.touches().any(|touch| touch.how == How::Write);
        let places = |touches: &[Touch]| {
            touches
                .iter()
                .filter(|touch| touch.how != How::Maybe)
                .flat_map(|touch| places_of(touch, facts, writes))
                .collect::<Vec<_>>()
        };
        let redirects = places(&script.redirects);
        let commands = script.commands.iter().map(|c| places(&c.effect.touches)).collect();
        let mut seen = Self { text, script, redirects, commands, maybe: Vec::new() };
        git::note(&mut seen, facts);
        seen.note_switches(facts);
        seen.maybe = seen.maybe_places(facts);
        seen
    }

    /// A command whose program a file of the project may choose is one of unknown effect; the
    /// script itself may make such a file first.
    fn note_switches(&mut self, facts: &Facts) {
        let written: Vec<AbsPath> = self
            .places()
            .filter(|place| place.writes())
            .flat_map(|place| place.spellings().cloned())
            .collect();
        let chosen = |path: &&AbsPath| {
            facts.resolved.get(*path).is_none_or(|resolved| resolved.exists)
                || written.iter().any(|written| path.is_within(written))
        };
        for command in &mut self.script.commands {
            let file = command.effect.unless.iter().find(chosen);
            if let Some(file) = file
                && command.effect.kind != Kind::Other
            {
                command.effect.why = format!("`{file}` may choose what runs");
                command.effect.kind = Kind::Other;
            }
        }
    }

    /// The arguments of its commands that may be paths.
    pub(super) fn maybe_places(&self, facts: &Facts) -> Vec<Place> {
        let maybe = self.script.touches().filter(|touch| touch.how == How::Maybe);
        maybe.flat_map(|touch| places_of(touch, facts, true)).collect()
    }

    /// Every path that is touched for certain.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        self.redirects.iter().chain(self.commands.iter().flatten())
    }

    /// Why it cannot be allowed part by part, if that is so.
    pub(crate) fn not_understood(&self) -> Option<&str> {
        self.script.opaque.first().or(self.script.unclear.first()).map(String::as_str)
    }

    /// Commands with their places.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&Command, &[Place])> {
        self.script.commands.iter().zip(self.commands.iter().map(Vec::as_slice))
    }

    /// The column of a command without its reads outside, and why it is not a better one.
    pub(crate) fn column(command: &Command, places: &[Place]) -> (Column, String) {
        let outside = places.iter().find(|place| place.writes() && !place.inside);
        match (command.effect.kind, outside) {
            (Kind::Other, _) => (Column::Shell, command.effect.why.clone()),
            (_, Some(place)) => (Column::Shell, place.describe()),
            (Kind::Read, None) if !places.iter().any(Place::writes) => {
                (Column::ShellRead, String::new())
            }
            (Kind::Read | Kind::Files, None) => {
                (Column::ShellFiles, "it changes files of the project".into())
            }
        }
    }

    /// What the mode says to the script as a whole.
    pub(super) fn cell(&self, mode: Mode) -> (Cell, String) {
        let mut worst = (cell(mode, Column::ShellRead), String::new());
        let mut add = |column: Column, why: String| {
            let next = cell(mode, column);
            if next > worst.0 {
                worst = (next, why);
            }
        };
        if let Some(why) = self.not_understood() {
            add(Column::Shell, why.to_owned());
        }
        for (command, places) in self.each() {
            let (column, why) = Self::column(command, places);
            add(column, why);
        }
        for place in &self.redirects {
            if place.writes() {
                let column = if place.inside { Column::ShellFiles } else { Column::Shell };
                add(column, place.describe());
            }
        }
        let outside = |place: &&Place| !place.writes() && !place.inside && !is_public(place);
        for place in self.places().filter(outside) {
            add(Column::ReadOutside, place.describe());
        }
        worst
    }

    /// Why it asks even if a rule allows it: it would remove the project, the home or more.
    pub(super) fn destroys(&self, facts: &Facts) -> Option<String> {
        for (command, places) in self.each() {
            let removes = command.readings.iter().any(|reading| {
                let name = reading.words.first().and_then(|word| word.text.as_deref());
                matches!(name.map(base_name), Some("rm" | "rmdir" | "mv"))
            });
            if !removes {
                continue;
            }
            // `*.o` takes some of a folder, `*` takes all of it.
            let whole = |place: &&Place| {
                place.last.as_ref().is_none_or(|last| last.bytes().all(|b| b"*?.".contains(&b)))
            };
            for place in places.iter().filter(|place| place.writes()).filter(whole) {
                let above = |dir: &AbsPath| place.spellings().any(|path| dir.is_within(path));
                let moved_into = command
                    .readings
                    .iter()
                    .any(|reading| reading.words.first().is_some_and(|word| word.is("mv")));
                if !moved_into && (facts.inside_dirs().any(above) || above(&facts.home)) {
                    return Some(format!("it would remove `{}` as a whole", place.path));
                }
            }
        }
        None
    }
}

/// The places that one touch stands for: the path itself, what a glob matches, and where
/// links below lead if they are followed. `writes`: whether the script may make further ones.
fn places_of(touch: &Touch, facts: &Facts, writes: bool) -> Vec<Place> {
    let mut places = vec![place(touch, facts)];
    if let Some(glob) = touch.glob() {
        match facts.globs.get(&glob) {
            Some(Some(found)) => {
                places[0].expanded = touch.how != How::Write && !writes;
                let is_option = |path: &AbsPath| {
                    let name = path.strip_prefix(touch.path.as_path()).unwrap_or(path.as_path());
                    name.to_string_lossy().starts_with('-')
                };
                if touch.dashless && (writes || found.iter().any(is_option)) {
                    lose(&mut places[0]);
                }
                places.extend(found.iter().map(|path| Place::new(touch.how, path, facts)));
            }
            // Rules for these look at the text alone then.
            Some(None) | None if touch.how == How::Maybe => {}
            Some(None) | None => lose(&mut places[0]),
        }
    }
    if touch.follows {
        let from = usize::from(!touch.glob.is_empty());
        let walked: Vec<AbsPath> = places[from..].iter().map(|place| place.path.clone()).collect();
        for path in walked {
            let below = path.strip_prefix(touch.path.as_path()).ok();
            let plain = below.is_some_and(|name| shell::is_one_word(&name.to_string_lossy()));
            if touch.worded && (!plain || facts.odd.contains(&path)) {
                lose(&mut places[0]);
            }
            match facts.walks.get(&path) {
                Some(Some(links)) => {
                    places.extend(links.iter().map(|path| Place::new(touch.how, path, facts)));
                }
                Some(None) | None => lose(&mut places[0]),
            }
        }
    }
    places
}

/// Files of the system that tell what the machine is and hold nothing of the user.
const PUBLIC: &[&str] = &[
    "/etc/os-release",
    "/usr/lib/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/etc/alpine-release",
    "/etc/redhat-release",
    "/etc/issue",
    "/etc/timezone",
    "/etc/shells",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/version",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/filesystems",
];

fn is_public(place: &Place) -> bool {
    let listed = |path: &AbsPath| PUBLIC.iter().any(|public| path.as_path() == Path::new(public));
    place.last.is_none() && listed(&place.path) && place.real.as_ref().is_some_and(listed)
}

/// It is not known where a path leads.
fn lose(place: &mut Place) {
    place.real = None;
    place.inside = false;
}

fn place(touch: &Touch, facts: &Facts) -> Place {
    let mut place = Place::new(touch.how, &touch.path, facts);
    place.last.clone_from(&touch.last);
    let plain =
        touch.hops.iter().all(|(below, above)| match (facts.real(below), facts.real(above)) {
            (Some(below_real), Some(above_real)) => below
                .strip_prefix(above.as_path())
                .is_ok_and(|rest| above_real.join(rest) == *below_real),
            _ => false,
        });
    if !plain {
        // `..` after a link leads somewhere else than the text says.
        lose(&mut place);
    }
    place
}
