//! Lists of hosts: exact names, and `*.name` for everything below. Never a prefix or a
//! part of a name.

/// Which hosts are reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Domains {
    /// Hosts that may be reached.
    pub allowed: Vec<String>,
    /// Hosts that may not; beats the others.
    pub denied: Vec<String>,
}

impl Domains {
    /// Whether a host is reached: `None` if no list speaks of it.
    #[must_use]
    pub fn judge(&self, host: &str) -> Option<bool> {
        if self.denied.iter().any(|pattern| matches(pattern, host)) {
            return Some(false);
        }
        self.allowed.iter().any(|pattern| matches(pattern, host)).then_some(true)
    }
}

fn matches(pattern: &str, host: &str) -> bool {
    let pattern = pattern.trim().to_ascii_lowercase();
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if pattern == "*" {
        return true;
    }
    match pattern.strip_prefix("*.").map(|below| below.trim_end_matches('.')) {
        Some(below) => {
            let rest = host.strip_suffix(below).filter(|_| !below.is_empty());
            rest.is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        }
        None => !pattern.is_empty() && pattern.trim_end_matches('.') == host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_whole() {
        let table = [
            ("a.b", "a.b", true),
            ("a.b", "A.B.", true),
            ("a.b", "x.a.b", false),
            ("a.b", "a.b.evil.tld", false),
            ("a.b", "evila.b", false),
            ("*.a.b", "x.a.b", true),
            ("*.a.b", "y.x.a.b", true),
            ("*.a.b", "a.b", false),
            ("*.a.b", ".a.b", false),
            ("*.a.b", "xa.b", false),
            ("*", "anything", true),
            ("", "x", false),
            ("*.", "x", false),
        ];
        for (pattern, host, expected) in table {
            assert_eq!(matches(pattern, host), expected, "{pattern} {host}");
        }
    }

    #[test]
    fn denied_beats_allowed_and_what_is_not_listed_is_open() {
        let domains =
            Domains { allowed: vec!["*.a.b".to_owned()], denied: vec!["no.a.b".to_owned()] };
        assert_eq!(domains.judge("x.a.b"), Some(true));
        assert_eq!(domains.judge("no.a.b"), Some(false));
        assert_eq!(domains.judge("c.d"), None);
    }
}
