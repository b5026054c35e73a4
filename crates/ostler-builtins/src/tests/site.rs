//! A web site on the loopback interface that answers from a list and notes who asked.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex},
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinHandle,
};

use crate::{Reach, SearchEngine, WebSettings};

/// Answers by path, as they go over the wire.
type Answers = HashMap<String, Vec<u8>>;

pub(crate) struct Site {
    port: u16,
    answers: Arc<Mutex<Answers>>,
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Site {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers: Arc<Mutex<Answers>> = Arc::default();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (own_answers, own_asked) = (Arc::clone(&answers), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (answers, asked) = (Arc::clone(&own_answers), Arc::clone(&own_asked));
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        match stream.read_u8().await {
                            Ok(byte) => head.push(byte),
                            Err(_) => return,
                        }
                    }
                    let head = String::from_utf8(head).unwrap();
                    let path =
                        head.split(' ').nth(1).unwrap().split('?').next().unwrap().to_owned();
                    asked.lock().unwrap().push(head);
                    let answer = answers.lock().unwrap().get(&path).cloned();
                    match answer {
                        Some(answer) => {
                            // A client that has enough hangs up.
                            stream.write_all(&answer).await.unwrap_or_default();
                        }
                        // Never answers.
                        None => std::future::pending().await,
                    }
                });
            }
        });
        Self { port, answers, asked, task }
    }

    /// A site whose every answer is more than anyone wants.
    pub(crate) async fn hostile() -> Self {
        let site = Self::new().await;
        site.page("/page", "text/html", "<p>w\u{1b}[31m\u{200b} <b>w</b>".repeat(4000));
        let hit = |at: usize| {
            json!({
                "title": "w".repeat(5000),
                "url": format!("https://{at}.test/{}", "w".repeat(5000)),
                "content": "w\u{1b}[31m ".repeat(2000),
            })
        };
        let results: Vec<_> = (0..100).map(hit).collect();
        site.page("/search", "application/json", json!({ "results": results }).to_string());
        site
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The same by a name.
    pub(crate) fn named(&self, name: &str, path: &str) -> String {
        format!("http://{name}:{}{path}", self.port)
    }

    /// Settings that reach this site: 127.0.0.1, and 127.0.0.2 under no circumstances.
    pub(crate) fn settings(&self) -> WebSettings {
        let reach = Reach::new(|ip| {
            if ip == IpAddr::V4(Ipv4Addr::LOCALHOST) { Ok(()) } else { Reach::public(ip) }
        });
        let search = Some(SearchEngine::Searxng { base_url: self.url("/") });
        WebSettings { reach, search, ..WebSettings::default() }
    }

    pub(crate) fn answer(&self, path: &str, answer: impl Into<Vec<u8>>) {
        self.answers.lock().unwrap().insert(path.to_owned(), answer.into());
    }

    pub(crate) fn page(&self, path: &str, content_type: &str, body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        self.answer(path, [head.as_bytes(), body].concat());
    }

    pub(crate) fn redirect(&self, path: &str, status: &str, to: &str) {
        self.answer(
            path,
            format!("HTTP/1.1 {status}\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
        );
    }

    /// The heads of all requests.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}
