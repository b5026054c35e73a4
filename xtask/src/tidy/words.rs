//! Words that have no place in the repository: paths of somebody's machine and hosts of package
//! registries. The words are put together from parts here, so that the check does not find
//! itself.

use crate::workspace::SourceFile;

/// Lock files name where a crate came from; cargo's cannot be told not to.
const EXEMPT: &[&str] = &["Cargo.lock"];

/// Complaints about words in files.
pub(super) fn check(files: &[SourceFile]) -> Vec<String> {
    files.iter().filter(|file| !EXEMPT.contains(&file.path.as_str())).flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<String> {
    let npm_lock = file.path.ends_with("package-lock.json");
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let at = || format!("`{}` line {number}", file.path);
        for word in folders().iter().filter(|word| names_folder(line, word)) {
            complaints.push(format!(
                "{} names the folder `{word}` of one machine: use a relative path or one like `/home/user/`",
                at()
            ));
        }
        for host in registries().iter().filter(|host| names_host(line, host)) {
            complaints
                .push(format!("{} names the package registry `{host}`: leave the host out", at()));
        }
        if npm_lock && line.trim_start().starts_with("\"resolved\": \"http") {
            complaints.push(format!(
                "{} says which host a package came from: set `omit-lockfile-registry-resolved=true` in `.npmrc` and write the lock file anew",
                at()
            ));
            break;
        }
    }
    complaints
}

fn folders() -> [String; 2] {
    ["work", "root"].map(|name| format!("/{name}/"))
}

fn registries() -> [String; 6] {
    [
        ("registry.npmjs", "org"),
        ("registry.yarnpkg", "com"),
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("crates", "io"),
        ("proxy.golang", "org"),
    ]
    .map(|(name, end)| format!("{name}.{end}"))
}

/// Whether the line has the folder as the beginning of an absolute path.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~/*}>$)]{".contains(c))
    })
}

/// Whether the line has the host name, or a name below it, and not a longer name.
fn names_host(line: &str, host: &str) -> bool {
    line.match_indices(host).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + host.len()..].chars().next();
        let inside = |c: Option<char>, also: &str| {
            c.is_some_and(|c| c.is_alphanumeric() || also.contains(c))
        };
        !inside(before, "-_") && !inside(after, "-_")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> usize {
        check(&[SourceFile { path: path.to_owned(), text: text.to_owned() }]).len()
    }

    #[test]
    fn absolute_paths_of_a_machine_are_found() {
        for folder in folders() {
            assert_eq!(complaints("a.md", &format!("see {folder}x")), 1);
            assert_eq!(complaints("a.rs", &format!("\"{folder}x\"")), 1);
            assert_eq!(complaints("a.rs", &format!("file://{folder}x")), 0);
            assert_eq!(
                complaints("a.rs", &format!("~{folder}x, my{folder}x, ${{HOME}}{folder}")),
                0
            );
        }
    }

    #[test]
    fn registry_hosts_are_found_but_in_the_lock_file() {
        for host in registries() {
            let text = format!("https://{host}/x");
            assert_eq!(complaints("web/.npmrc", &text), 1);
            assert_eq!(complaints("a.md", &format!("on files.{host}, you")), 1);
            assert_eq!(complaints("Cargo.lock", &text), 0);
            assert_eq!(complaints("a.md", &format!("my{host} {host}n")), 0);
        }
    }

    #[test]
    fn npm_lock_must_not_say_where_from() {
        let text =
            "{\n  \"resolved\": \"https://example.org/a.tgz\",\n  \"resolved\": \"https://x\"\n}";
        assert_eq!(complaints("web/package-lock.json", text), 1);
        assert_eq!(complaints("web/other.json", text), 0);
    }
}
