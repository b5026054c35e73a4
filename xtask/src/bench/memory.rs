//! Memory of a running process, as Linux tells it. Elsewhere nobody is asked, and the benches
//! that need it say so.

use anyhow::{Context as _, Result, ensure};

/// Whether this system tells.
pub(super) fn is_told() -> bool {
    cfg!(target_os = "linux")
}

/// What the process has now, its part of what it shares counted: KiB.
pub(super) fn proportional_kib(pid: u32) -> Result<u64> {
    field(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

/// The most that it had at once: KiB.
pub(super) fn peak_kib(pid: u32) -> Result<u64> {
    field(&format!("/proc/{pid}/status"), "VmHWM:")
}

fn field(path: &str, name: &str) -> Result<u64> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{path}`"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let words: Vec<_> = line.unwrap_or_default().split_whitespace().collect();
    ensure!(words.len() == 2 && words[1] == "kB", "`{path}` has no `{name}` in kB");
    words[0].parse().with_context(|| format!("`{}` is not a number", words[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_told() {
        if is_told() {
            let pid = std::process::id();
            let now = proportional_kib(pid).unwrap();
            assert!(now > 100 && peak_kib(pid).unwrap() > 100, "{now}");
        }
        assert!(field("/proc/self/no-such-file", "Pss:").is_err());
    }
}
