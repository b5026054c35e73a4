//! HTTP to a proxy (RFC 9110, section 9.3.6; RFC 9112, section 3.2.2): `CONNECT host:port`,
//! and requests with a whole address. One request for each connection of the second kind.

use std::io;

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional},
    time::timeout,
};

use super::{Gate, PATIENCE, Refusal};

/// Bytes of a request's head.
const HEAD: usize = 16 << 10;

/// Where a request wants to go, and what to send there first.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    host: String,
    port: u16,
    /// The request as the host itself wants it; absent for a tunnel.
    request: Option<Vec<u8>>,
}

pub(super) async fn serve<S>(mut stream: S, first: u8, gate: &Gate) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Ok((head, rest)) = timeout(PATIENCE, read_head(&mut stream, first)).await? else {
        return refuse(&mut stream, 400, &Refusal::Malformed("its head is too long")).await;
    };
    let wanted = match parse(&head) {
        Ok(wanted) => wanted,
        Err(refusal) => return refuse(&mut stream, 400, &refusal).await,
    };
    let mut host = match gate.connect(&wanted.host, wanted.port).await {
        Ok(host) => host,
        Err(refusal @ Refusal::Unreachable { .. }) => {
            return refuse(&mut stream, 502, &refusal).await;
        }
        Err(refusal) => return refuse(&mut stream, 403, &refusal).await,
    };
    match wanted.request {
        Some(request) => host.write_all(&request).await?,
        None => stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
    }
    host.write_all(&rest).await?;
    copy_bidirectional(&mut stream, &mut host).await.map(drop)
}

/// The head with its empty line, and what came behind it. `Err(())` inside: it is too long.
async fn read_head<S: AsyncRead + Unpin>(
    stream: &mut S,
    first: u8,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut bytes = vec![first];
    loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            return Ok((bytes, rest));
        }
        if bytes.len() > HEAD || stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn parse(head: &[u8]) -> Result<Wanted, Refusal> {
    let text = std::str::from_utf8(head).map_err(|_| Refusal::Malformed("it is not text"))?;
    let (line, headers) = text.split_once("\r\n").ok_or(Refusal::Malformed("it has no line"))?;
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Refusal::Malformed("its first line has not three words"));
    };
    if method.eq_ignore_ascii_case("CONNECT") {
        let (host, port) = authority(target, None)?;
        return Ok(Wanted { host, port, request: None });
    }
    let rest = strip_scheme(target).ok_or(Refusal::Malformed("it names no whole address"))?;
    let split = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(split);
    let (host, port) = authority(place, Some(80))?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut request = format!("{method} {slash}{path} {version}\r\nHost: {place}\r\n");
    for header in headers.split("\r\n").filter(|header| !header.is_empty()) {
        let name = header.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
        if !name.starts_with("proxy-")
            && !["connection", "keep-alive", "host"].contains(&name.as_str())
        {
            request.push_str(header);
            request.push_str("\r\n");
        }
    }
    // The next request of a connection could name another host.
    request.push_str("Connection: close\r\n\r\n");
    Ok(Wanted { host, port, request: Some(request.into_bytes()) })
}

fn strip_scheme(target: &str) -> Option<&str> {
    let scheme = target.get(..7)?;
    scheme.eq_ignore_ascii_case("http://").then(|| &target[7..])
}

/// Host and port; a name of a person in front is refused.
fn authority(text: &str, port: Option<u16>) -> Result<(String, u16), Refusal> {
    const BAD: Refusal = Refusal::Malformed("it names no host and port");
    if text.contains('@') {
        return Err(Refusal::Malformed("its address holds a name or password"));
    }
    let (host, given) = match text.rsplit_once(':') {
        Some((host, given)) if !given.contains(']') => (host, Some(given)),
        _ => (text, None),
    };
    let port = match given {
        Some(given) => given.parse().map_err(|_| BAD)?,
        None => port.ok_or(BAD)?,
    };
    let is_bare = !host.contains(':') || (host.starts_with('[') && host.ends_with(']'));
    if host.is_empty() || !is_bare || host.contains(['/', '\\', '%', ' ']) {
        return Err(BAD);
    }
    Ok((host.to_owned(), port))
}

async fn refuse<S>(stream: &mut S, status: u16, refusal: &Refusal) -> io::Result<()>
where
    S: AsyncWrite + Unpin,
{
    let body = format!("ostler: {refusal}\n");
    let reason = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        _ => "Bad Gateway",
    };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_taken_apart() {
        let request = b"GET http://a.b/x?y=1 HTTP/1.1\r\nHost: other\r\nProxy-Authorization: z\r\nConnection: keep-alive\r\nA: b\r\n\r\n";
        let wanted = parse(request).unwrap();
        assert_eq!((wanted.host.as_str(), wanted.port), ("a.b", 80));
        assert_eq!(
            String::from_utf8(wanted.request.unwrap()).unwrap(),
            "GET /x?y=1 HTTP/1.1\r\nHost: a.b\r\nA: b\r\nConnection: close\r\n\r\n"
        );
        let tunnel = parse(b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!((tunnel.host.as_str(), tunnel.port, tunnel.request), ("[::1]", 443, None));
    }

    #[test]
    fn what_could_mean_two_things_is_refused() {
        for head in [
            "GET /x HTTP/1.1",
            "CONNECT a.b HTTP/1.1",
            "CONNECT a.b:x HTTP/1.1",
            "CONNECT :1 HTTP/1.1",
            "CONNECT a:b:1 HTTP/1.1",
            "GET http://u@a.b/ HTTP/1.1",
            "GET http://a.b\\c/ HTTP/1.1",
            "GET  http://a.b/ HTTP/1.1",
            "GET https://a.b/ HTTP/1.1",
            "x",
        ] {
            assert!(parse(format!("{head}\r\n\r\n").as_bytes()).is_err(), "{head}");
        }
    }
}
