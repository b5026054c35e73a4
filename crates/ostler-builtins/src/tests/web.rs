//! WebFetch and WebSearch against a site on the loopback interface.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use ostler_protocol::{Access, Block};
use ostler_stdx::ManualClock;
use ostler_tool::ToolError;
use serde_json::json;

use crate::{
    Proxies, SearchEngine, WebSettings,
    tests::{
        bench::{Bench, object, text},
        site::Site,
    },
};

fn bench(site: &Site) -> Bench {
    Bench::with(|hands| hands.web = site.settings())
}

async fn fetch(bench: &Bench, url: &str) -> String {
    bench.text("WebFetch", json!({ "url": url })).await
}

async fn refused(bench: &Bench, url: &str) -> String {
    bench.refused("WebFetch", json!({ "url": url })).await
}

#[tokio::test]
async fn a_page_is_shown_with_what_is_asked_of_it() {
    let site = Site::new().await;
    site.page(
        "/a/page",
        "text/html; charset=iso-8859-1",
        b"<title>T</title><h1>H</h1><p>caf\xe9 <a href=../x>l</a>",
    );
    let bench = bench(&site);
    let url = site.url("/a/page");
    let output =
        bench.call("WebFetch", json!({ "url": url, "prompt": "the drinks" })).await.unwrap();
    let shown = text(&output);
    assert!(shown.starts_with(&format!("`{url}`, titled \"T\"")), "{shown}");
    assert!(shown.contains(&format!("# H\n\ncaf\u{e9} [l]({})", site.url("/x"))), "{shown}");
    assert!(shown.ends_with("Look in this for: the drinks"), "{shown}");
    let structured = output.structured;
    assert_eq!(structured["code"], 200);
    assert_eq!(structured["codeText"], "OK");
    assert_eq!(structured["bytes"], 52);
    assert_eq!(structured["url"], url);
    assert!(structured["result"].as_str().unwrap().starts_with("# H"));
    assert!(structured["durationMs"].is_u64());
    let asked = site.asked().concat().to_ascii_lowercase();
    assert!(
        !asked.contains("cookie") && !asked.contains("authorization") && !asked.contains("referer"),
        "{asked}"
    );
}

#[tokio::test]
async fn each_format_and_type_has_its_form() {
    let site = Site::new().await;
    site.page("/h", "text/html", "<h1>A_</h1><p>b <em>c</em>");
    site.page("/j", "application/json", "{\"a\": \"<b>\"}");
    site.page("/u", "", "<!DOCTYPE html><p>x");
    let bench = bench(&site);
    let shown = |path: &str, format: &str| {
        let args = json!({ "url": site.url(path), "format": format });
        let bench = &bench;
        async move {
            let output = bench.call("WebFetch", args).await.unwrap();
            output.structured["result"].as_str().unwrap().to_owned()
        }
    };
    assert_eq!(shown("/h", "markdown").await, "# A\\_\n\nb *c*");
    assert_eq!(shown("/h", "text").await, "A_\nb c");
    assert_eq!(shown("/h", "html").await, "<h1>A_</h1><p>b <em>c</em>");
    assert_eq!(shown("/j", "markdown").await, "{\"a\": \"<b>\"}");
    assert_eq!(shown("/u", "markdown").await, "x");
}

#[tokio::test]
async fn pictures_are_pictures_and_other_files_are_named() {
    let site = Site::new().await;
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\x92\0\0\x09\xe4\x08\x06";
    site.page("/png", "application/octet-stream", png);
    site.page(
        "/huge.png",
        "image/png",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\x92\0\0\x09\xe4\x08\x06",
    );
    site.page("/pdf", "application/pdf", "%PDF-1.7");
    site.page("/zip", "application/zip", "PK\x03\x04");
    site.page("/binary", "text/plain", "a\0b");
    let bench = bench(&site);
    let output = bench.call("WebFetch", json!({ "url": site.url("/png") })).await.unwrap();
    assert!(matches!(&output.content[..], [Block::Image { .. }]));
    assert_eq!(output.structured["result"], "image/png, 26 bytes");
    assert!(refused(&bench, &site.url("/huge.png")).await.contains("65426 x 2532 pixels"));
    let said = refused(&bench, &site.url("/pdf")).await;
    assert!(said.contains("`application/pdf`, 8 bytes") && said.contains("Read"), "{said}");
    let said = refused(&bench, &site.url("/zip")).await;
    assert!(said.contains("`application/zip`, 4 bytes"), "{said}");
    assert!(refused(&bench, &site.url("/binary")).await.contains("3 bytes"));
}

#[tokio::test]
async fn what_is_too_large_is_refused_whether_it_says_so_or_not() {
    let site = Site::new().await;
    let long = "x".repeat((5 << 20) + 1);
    site.page("/said", "text/plain", &long);
    site.answer("/unsaid", format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n{long}"));
    site.answer(
        "/zipped",
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx",
    );
    let bench = bench(&site);
    for path in ["/said", "/unsaid"] {
        assert!(refused(&bench, &site.url(path)).await.contains("larger than 5 MB"), "{path}");
    }
    assert!(refused(&bench, &site.url("/zipped")).await.contains("`gzip`"));
}

#[tokio::test]
async fn a_long_page_is_read_in_parts_from_one_fetch() {
    let site = Site::new().await;
    let lines: Vec<_> = (0..10_000).map(|line| format!("line {line}")).collect();
    site.page("/long", "text/plain", lines.join("\n"));
    let mut bench = bench(&site);
    let clock = ManualClock::at(1);
    bench.cx.clock = Arc::new(clock.clone());
    let (mut all, mut offset) = (String::new(), 0);
    loop {
        let args = json!({ "url": site.url("/long"), "offset": offset });
        let output = bench.call("WebFetch", args).await.unwrap();
        all.push_str(output.structured["result"].as_str().unwrap());
        let text = text(&output);
        let Some((_, next)) = text.rsplit_once("call again with offset ") else { break };
        offset = next.split(' ').next().unwrap().parse::<u64>().unwrap();
    }
    assert_eq!(all, lines.join("\n"));
    assert_eq!(site.asked().len(), 1);
    let said =
        bench.refused("WebFetch", json!({ "url": site.url("/long"), "offset": 999_999 })).await;
    assert!(said.contains("behind the end"), "{said}");
    clock.advance(15 * 60 * 1000);
    fetch(&bench, &site.url("/long")).await;
    assert_eq!(site.asked().len(), 2);
}

#[tokio::test]
async fn a_page_that_is_not_there_says_so() {
    let site = Site::new().await;
    site.answer("/gone", "HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\ncontent-length: 11\r\n\r\n<p>No such.");
    let bench = bench(&site);
    let error = bench.call("WebFetch", json!({ "url": site.url("/gone") })).await.unwrap_err();
    let ToolError::Failed { text, structured } = error else { panic!("{error}") };
    assert!(text.ends_with("answered 404 Not Found:\nNo such."), "{text}");
    assert_eq!(structured["code"], 404);
    for kind in ["image/png", "application/zip"] {
        let answer =
            format!("HTTP/1.1 410 Gone\r\ncontent-type: {kind}\r\ncontent-length: 2\r\n\r\n\0\0");
        site.answer("/file", answer);
        let said = refused(&bench, &site.url("/file")).await;
        assert!(said.ends_with("answered 410 Gone"), "{kind}: {said}");
    }
}

#[tokio::test]
async fn only_redirects_within_the_site_are_followed() {
    let site = Site::new().await;
    site.redirect("/1", "302 Found", "/2");
    site.redirect("/2", "301 Moved Permanently", &site.url("/3"));
    site.page("/3", "text/plain", "here");
    site.redirect("/away", "302 Found", "http://other.test/x");
    site.redirect("/port", "302 Found", "http://127.0.0.1:1/");
    site.redirect("/file", "302 Found", "file:///etc/passwd");
    site.redirect("/user", "302 Found", "http://a:b@other.test/");
    site.redirect("/round", "302 Found", "/round");
    let bench = bench(&site);
    assert!(fetch(&bench, &site.url("/1")).await.ends_with("here"));
    for (path, to) in [("/away", "http://other.test/x"), ("/port", "http://127.0.0.1:1/")] {
        let args = json!({ "url": site.url(path) });
        let output = bench.call("WebFetch", args).await.unwrap();
        assert!(text(&output).contains(&format!("not followed: {to}\n")), "{path}");
        assert_eq!(output.structured["code"], 302);
    }
    assert!(refused(&bench, &site.url("/file")).await.contains("only http and https"));
    assert!(refused(&bench, &site.url("/user")).await.contains("user name"));
    assert!(refused(&bench, &site.url("/round")).await.contains("more than 10 times"));
}

#[tokio::test]
async fn private_machines_are_not_reached_however_they_are_called() {
    let site = Site::new().await;
    site.page("/", "text/plain", "secret");
    site.redirect("/private", "302 Found", "http://10.0.0.1/");
    site.redirect("/metadata", "302 Found", "http://metadata.google.internal/");
    let usual = Bench::new();
    for host in [
        "127.0.0.1",
        "localhost",
        "127.1",
        "0x7f.1",
        "2130706433",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:7f00:1]",
    ] {
        let said = refused(&usual, &site.named(host, "/")).await;
        assert!(said.contains("only public addresses are reached"), "{host}: {said}");
    }
    assert!(site.asked().is_empty());
    let bench = bench(&site);
    for path in ["/private", "/metadata"] {
        let said = refused(&bench, &site.url(path)).await;
        assert!(said.contains("only public addresses are reached"), "{path}: {said}");
    }
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_refused() {
    let site = Site::new().await;
    site.redirect("/", "302 Found", "/next");
    site.page("/next", "text/plain", "secret");
    let turned = Arc::new(AtomicBool::new(false));
    let bench = Bench::with(|hands| {
        hands.web = site.settings();
        hands.web.reach = hands.web.reach.clone().with_names(move |_| {
            let last = if turned.swap(true, Ordering::SeqCst) { 2 } else { 1 };
            Box::pin(async move { Ok(vec![IpAddr::from([127, 0, 0, last])]) })
        });
    });
    let said = refused(&bench, &site.named("turning.test", "/")).await;
    assert!(said.contains("`turning.test` is a loopback address"), "{said}");
    assert_eq!(site.asked().len(), 1);
    assert!(site.asked()[0].contains("host: turning.test"), "{:?}", site.asked());
}

#[tokio::test]
async fn a_proxy_gets_what_it_may_and_nothing_refused() {
    let site = Site::new().await;
    // A proxy is asked with the whole address.
    site.page("http://far.test/", "text/plain", "by proxy");
    let bench = Bench::with(|hands| {
        let http = Some(site.url(""));
        let proxies = Proxies { http, https: None, no_proxy: "near.test".to_owned() };
        hands.web = WebSettings { proxies, ..WebSettings::default() };
        hands.web.reach = hands.web.reach.clone().with_names(|name| {
            Box::pin(async move {
                match name.as_str() {
                    "inner.test" | "near.test" => Ok(vec![IpAddr::from([10, 0, 0, 1])]),
                    _ => Err(std::io::Error::other("not known here")),
                }
            })
        });
    });
    assert!(fetch(&bench, "http://far.test/").await.ends_with("by proxy"));
    for host in ["inner.test", "near.test", "10.0.0.1", "metadata"] {
        let said = refused(&bench, &format!("http://{host}/")).await;
        assert!(said.contains("only public addresses"), "{host}: {said}");
    }
    assert_eq!(site.asked().len(), 1);
}

#[tokio::test]
async fn what_is_judged_is_what_is_fetched() {
    let bench = Bench::new();
    let access = |tool: &str, args| {
        bench.registry.get(tool).unwrap().access(&object(args), &bench.root).unwrap()
    };
    let network = |url: &str, host: &str| {
        vec![Access::Network { url: url.to_owned(), host: host.to_owned() }]
    };
    assert_eq!(
        access("WebFetch", json!({ "url": "HTTPS://Docs.RS.:443/x#y" })),
        network("https://docs.rs/x", "docs.rs")
    );
    assert_eq!(
        access("WebFetch", json!({ "url": "http://0x7f.1/" })),
        network("http://127.0.0.1/", "127.0.0.1")
    );
    assert_eq!(access("WebFetch", json!({ "url": "docs.rs" })), network("docs.rs", ""));
    assert_eq!(access("WebSearch", json!({ "query": "a b" })), network("a b", ""));
}

#[tokio::test]
async fn a_fetch_that_is_stopped_or_late_ends() {
    let site = Site::new().await;
    let bench = bench(&site);
    let begin = Instant::now();
    let said = bench.refused("WebFetch", json!({ "url": site.url("/silent"), "timeout": 1 })).await;
    assert!(said.contains("within 1 s"), "{said}");
    let (_, error) = tokio::join!(
        async {
            while site.asked().len() < 2 {
                tokio::task::yield_now().await;
            }
            bench.cx.cancel.cancel();
        },
        bench.call("WebFetch", json!({ "url": site.url("/silent") })),
    );
    assert!(matches!(error, Err(ToolError::Cancelled)));
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_search_lists_what_the_engine_found() {
    let site = Site::new().await;
    let results = json!([
        { "title": "A <b>", "url": "https://a.test/1", "content": "about\n a" },
        { "title": "B", "url": "https://b.test/2" },
        { "title": "C", "url": "javascript:x()" },
    ]);
    site.page("/search", "application/json", json!({ "results": results }).to_string());
    let bench = bench(&site);
    let args = json!({ "query": "two words", "blocked_domains": ["b.test"] });
    let output = bench.call("WebSearch", args).await.unwrap();
    assert!(
        text(&output).starts_with("1. A <b>\n   https://a.test/1\n   about a\n"),
        "{}",
        text(&output)
    );
    assert_eq!(output.structured["query"], "two words");
    assert_eq!(
        output.structured["results"],
        json!([{ "tool_use_id": "call", "content": [{ "title": "A <b>", "url": "https://a.test/1" }] }])
    );
    assert!(output.structured["durationSeconds"].is_number());
    assert!(
        site.asked()[0].starts_with("GET /search?q=two+words&format=json HTTP"),
        "{:?}",
        site.asked()
    );
    let none =
        bench.text("WebSearch", json!({ "query": "x", "allowed_domains": ["c.test"] })).await;
    assert!(none.starts_with("nothing was found"), "{none}");
}

#[tokio::test]
async fn brave_gets_its_key_and_nobody_else_does() {
    let site = Site::new().await;
    let answer = json!({ "web": { "results": [
        { "title": "A", "url": "https://a.test/", "description": "about a" },
    ] } });
    site.page("/res/v1/web/search", "application/json", answer.to_string());
    let other = Site::new().await;
    let bench = Bench::with(|hands| {
        let base_url = Some(site.url("/"));
        hands.web.search = Some(SearchEngine::Brave { key: "hush".to_owned().into(), base_url });
        assert!(!format!("{:?}", hands.web).contains("hush"));
    });
    let shown = bench.text("WebSearch", json!({ "query": "x", "count": "3" })).await;
    assert!(shown.contains("about a"), "{shown}");
    let asked = site.asked().concat();
    assert!(
        asked.contains("q=x&count=3&") && asked.contains("x-subscription-token: hush\r\n"),
        "{asked}"
    );
    site.redirect("/res/v1/web/search", "302 Found", &other.url("/"));
    assert!(bench.refused("WebSearch", json!({ "query": "x" })).await.contains("302"));
    assert!(other.asked().is_empty());
    site.page("/res/v1/web/search", "application/json", "{}");
    assert!(
        bench.text("WebSearch", json!({ "query": "x" })).await.starts_with("nothing was found")
    );
    site.answer(
        "/res/v1/web/search",
        "HTTP/1.1 429 Too Many\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    );
    assert!(
        bench.refused("WebSearch", json!({ "query": "x" })).await.contains("too many searches")
    );
}

#[tokio::test]
async fn without_an_engine_a_search_says_how_to_set_one_up() {
    let bench = Bench::new();
    let said = bench.refused("WebSearch", json!({ "query": "x" })).await;
    assert!(said.contains("BRAVE_API_KEY") && said.contains("SearXNG"), "{said}");
    assert!(bench.refused("WebSearch", json!({ "query": " " })).await.contains("empty"));
}
