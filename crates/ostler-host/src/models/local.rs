//! Looks whether a local model server is there. Only loopback is asked, and only where
//! nothing else is set up.

use std::{
    io::{Read as _, Write as _},
    net::{TcpStream, ToSocketAddrs as _},
    time::Duration,
};

use serde_json::Value;

/// A local server answers at once or is not there.
const CONNECT: Duration = Duration::from_millis(100);
const READ: Duration = Duration::from_secs(2);

/// Most bytes of a list of models.
const LIST_CAP: u64 = 1 << 20;

/// The first model that the server at this address has.
pub(super) fn first_model(base_url: &str) -> Option<String> {
    let rest = base_url.strip_prefix("http://")?;
    let (authority, path) =
        rest.split_once('/').map_or((rest, String::new()), |(a, p)| (a, format!("/{p}")));
    let address = authority.to_socket_addrs().ok()?.find(|address| address.ip().is_loopback())?;
    let mut stream = TcpStream::connect_timeout(&address, CONNECT).ok()?;
    stream.set_read_timeout(Some(READ)).ok()?;
    stream.set_write_timeout(Some(READ)).ok()?;
    // HTTP/1.0: the answer ends with the connection, and is never in chunks.
    let request = format!(
        "GET {path}/models HTTP/1.0\r\nHost: {authority}\r\nAccept: application/json\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.take(LIST_CAP).read_to_end(&mut answer).ok()?;
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text.split_once("\r\n\r\n")?;
    if !head.lines().next()?.contains(" 200") {
        return None;
    }
    let list: Value = serde_json::from_str(body.trim()).ok()?;
    list.get("data")?
        .as_array()?
        .iter()
        .find_map(|model| model.get("id")?.as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn served(answer: &'static str) -> Option<String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                let mut piece = [0; 512];
                let count = stream.read(&mut piece).unwrap();
                assert_ne!(count, 0);
                asked.extend_from_slice(&piece[..count]);
            }
            assert!(asked.starts_with(b"GET /v1/models "));
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let found = first_model(&url);
        server.join().unwrap();
        found
    }

    #[test]
    fn a_server_that_lists_models_is_found_and_anything_else_is_not() {
        let found = served("HTTP/1.1 200 OK\r\n\r\n{\"data\":[{\"id\":\"llama\"}]}");
        assert_eq!(found.as_deref(), Some("llama"));
        assert_eq!(served("HTTP/1.1 200 OK\r\n\r\n<html>"), None);
        assert_eq!(served("HTTP/1.1 404 Not Found\r\n\r\n{}"), None);
        assert_eq!(first_model("https://127.0.0.1:1/v1"), None);
    }
}
