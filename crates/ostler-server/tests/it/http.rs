//! As much of an HTTP client as the tests need: it sends what it is told, right or wrong.

use std::net::SocketAddr;

use ostler_server::Web;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

/// A request in the making.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    address: SocketAddr,
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// A request to a door, with the right `Host` and no secret.
pub(crate) fn request(web: &Web, method: &str, path: &str) -> Request {
    let host = ("Host".to_owned(), web.address().to_string());
    let line = format!("{method} {path} HTTP/1.1");
    Request { address: web.address(), line, headers: vec![host], body: Vec::new() }
}

/// The token of a door.
pub(crate) fn token(web: &Web) -> String {
    web.opening_link().split_once("token=").unwrap().1.to_owned()
}

/// A call with the token.
pub(crate) async fn call(web: &Web, client: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = request(web, "POST", "/api").bearer(&token(web)).header("Ostler-Client", client);
    let response = request.body(body.to_string()).send().await;
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

impl Request {
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(found, _)| !found.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn bearer(self, secret: &str) -> Self {
        self.header("Authorization", &format!("Bearer {secret}"))
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        let length = self.body.len().to_string();
        self.header("Content-Length", &length)
    }

    /// Sends it and gives the connection, before anything came back.
    pub(crate) async fn begin(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{}\r\n", self.line);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("Connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&self.body).await.unwrap();
        stream
    }

    /// Sends it and reads the whole answer.
    pub(crate) async fn send(&self) -> Response {
        let mut reader = BufReader::new(self.begin().await);
        let (status, headers) = head(&mut reader).await;
        let mut body = Vec::new();
        reader.read_to_end(&mut body).await.unwrap();
        Response { status, headers, body }
    }

    /// Opens a stream of events.
    pub(crate) async fn stream(&self) -> Stream {
        let mut reader = BufReader::new(self.begin().await);
        let (status, headers) = head(&mut reader).await;
        assert_eq!(status, 200, "{headers:?}");
        let mut stream = Stream { reader, rest: String::new() };
        assert_eq!(stream.frame().await.as_deref(), Some(": connected"));
        stream
    }
}

async fn head(reader: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await.unwrap();
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines[1..].iter().map(|line| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_owned(), value.trim().to_owned())
    });
    (status, headers.collect())
}

/// A stream of server-sent events over a chunked body.
pub(crate) struct Stream {
    reader: BufReader<TcpStream>,
    rest: String,
}

/// One event: its id, if it has one, and its data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sent {
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
}

impl Stream {
    /// The next frame without its blank line; none at the end.
    async fn frame(&mut self) -> Option<String> {
        loop {
            if let Some((frame, rest)) = self.rest.split_once("\n\n") {
                let (frame, rest) = (frame.to_owned(), rest.to_owned());
                self.rest = rest;
                return Some(frame);
            }
            let mut size = String::new();
            self.reader.read_line(&mut size).await.unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
            if size == 0 {
                return None;
            }
            let mut chunk = vec![0; size + 2];
            self.reader.read_exact(&mut chunk).await.unwrap();
            chunk.truncate(size);
            self.rest.push_str(&String::from_utf8(chunk).unwrap());
        }
    }

    /// The next event; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Sent> {
        loop {
            let frame = self.frame().await?;
            let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
            if let Some(data) = field("data: ") {
                let id = field("id: ").map(|id| id.parse().unwrap());
                return Some(Sent { id, data: serde_json::from_str(data).unwrap() });
            }
        }
    }

    /// Events up to and with one of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Sent> {
        let mut sent: Vec<Sent> = Vec::new();
        while sent.last().is_none_or(|last| last.data["type"] != kind) {
            let next = self.next().await;
            sent.push(next.unwrap_or_else(|| panic!("the stream ended before `{kind}`")));
        }
        sent
    }
}
