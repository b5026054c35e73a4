//! Which `Host` and which `Origin` a request may name (ipc.md R-20).
//!
//! A page of another site must reach nothing here, neither by its own requests (Origin) nor
//! by pointing its own name at this machine (Host). Never trusts an address that it cannot read.

use http::{HeaderMap, HeaderName, Uri, header};

/// The names that mean this machine on a loopback bind.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What a door answers to.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The authorities, lower case, with port; none on a wildcard bind, which takes any.
    authorities: Option<Vec<String>>,
}

impl Guard {
    pub(crate) fn new(bind: &str, port: u16) -> Self {
        let address = bind.parse::<std::net::IpAddr>();
        if address.as_ref().is_ok_and(|address| address.is_unspecified()) {
            return Self { authorities: None };
        }
        let own = if bind.contains(':') { format!("[{bind}]") } else { bind.to_ascii_lowercase() };
        let loopback = address.map_or(own == "localhost", |address| address.is_loopback());
        let others: &[&str] = if loopback { &LOOPBACK } else { &[] };
        let names = std::iter::once(own.as_str()).chain(others.iter().copied());
        Self { authorities: Some(names.map(|name| format!("{name}:{port}")).collect()) }
    }

    /// Whether the request may go on.
    pub(crate) fn allows(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let Ok(Some(host)) = only(headers, &header::HOST) else { return false };
        // A target with an authority of its own would otherwise slip by.
        let target = uri.authority().map(|authority| authority.as_str());
        if !self.is_ours(host) || target.is_some_and(|target| !self.is_ours(target)) {
            return false;
        }
        match only(headers, &header::ORIGIN) {
            Ok(None) => true,
            Ok(Some(origin)) => self.is_own_origin(origin, host),
            Err(Unreadable) => false,
        }
    }

    fn is_ours(&self, authority: &str) -> bool {
        let Some(authorities) = &self.authorities else { return !authority.is_empty() };
        let authority = with_port(authority, "80");
        authorities.contains(&authority)
    }

    fn is_own_origin(&self, origin: &str, host: &str) -> bool {
        match (&self.authorities, origin.split_once("://")) {
            (Some(_), Some(("http", authority))) => self.is_ours(authority),
            // Behind a proxy the scheme may be another one.
            (None, Some(("http" | "https", authority))) => authority.eq_ignore_ascii_case(host),
            _ => false,
        }
    }
}

/// A header that is there more than once, or is no text.
struct Unreadable;

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Unreadable> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Unreadable),
        (Some(_), Some(_)) => Err(Unreadable),
    }
}

/// The authority in lower case, with the scheme's own port if it names none.
fn with_port(authority: &str, port: &str) -> String {
    let authority = authority.to_ascii_lowercase();
    let after_name = authority.rfind(']').unwrap_or(0);
    if authority[after_name..].contains(':') { authority } else { format!("{authority}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bind: &str, port: u16, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        Guard::new(bind, port).allows(&"/api".parse().unwrap(), &headers)
    }

    #[test]
    fn a_loopback_bind_answers_to_the_names_of_this_machine_with_the_port() {
        for host in ["127.0.0.1:4096", "localhost:4096", "LOCALHOST:4096", "[::1]:4096"] {
            assert!(check("127.0.0.1", 4096, host, None), "{host}");
        }
        for host in [
            "127.0.0.1",
            "127.0.0.1:4097",
            "evil.example:4096",
            "localhost.:4096",
            "",
            "[::1]",
            "127.0.0.1:4096:1",
            "localhost.evil.example:4096",
            "user@localhost:4096",
        ] {
            assert!(!check("127.0.0.1", 4096, host, None), "{host}");
        }
        assert!(check("127.0.0.1", 80, "localhost", None), "port 80 need not be named");
        assert!(check("::1", 4096, "[::1]:4096", None));
        assert!(check("127.0.0.9", 4096, "127.0.0.9:4096", None));
    }

    #[test]
    fn a_bind_to_one_address_answers_to_it_alone() {
        assert!(check("192.0.2.7", 4096, "192.0.2.7:4096", None));
        assert!(!check("192.0.2.7", 4096, "localhost:4096", None));
        assert!(!check("192.0.2.7", 4096, "127.0.0.1:4096", None));
    }

    #[test]
    fn only_the_own_origin_may_ask() {
        let own = "127.0.0.1:4096";
        for origin in ["http://127.0.0.1:4096", "http://localhost:4096", "http://[::1]:4096"] {
            assert!(check("127.0.0.1", 4096, own, Some(origin)), "{origin}");
        }
        for origin in [
            "null",
            "",
            "http://evil.example",
            "http://127.0.0.1:5173",
            "https://127.0.0.1:4096",
            "http://127.0.0.1:4096.evil.example",
            "file://",
            "http://127.0.0.1",
        ] {
            assert!(!check("127.0.0.1", 4096, own, Some(origin)), "{origin}");
        }
    }

    #[test]
    fn a_wildcard_bind_takes_any_host_and_its_own_origin() {
        assert!(check("0.0.0.0", 4096, "box.lan:4096", None));
        assert!(check("::", 4096, "box.lan:4096", Some("http://box.lan:4096")));
        assert!(check("0.0.0.0", 4096, "box.lan", Some("https://box.lan")));
        assert!(!check("0.0.0.0", 4096, "box.lan:4096", Some("http://evil.example")));
        assert!(!check("0.0.0.0", 4096, "box.lan:4096", Some("null")));
    }

    #[test]
    fn a_second_host_or_another_target_is_refused() {
        let guard = Guard::new("127.0.0.1", 4096);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "127.0.0.1:4096".parse().unwrap());
        assert!(!guard.allows(&"http://evil.example/".parse().unwrap(), &headers));
        headers.append(header::HOST, "127.0.0.1:4096".parse().unwrap());
        assert!(!guard.allows(&"/".parse().unwrap(), &headers));
        assert!(!guard.allows(&"/".parse().unwrap(), &HeaderMap::new()));
    }
}
