//! Who is let in: every combination of secrets, and every Host and Origin.

use crate::{
    http::{Request, request, token},
    support::TestHost,
};
use ostler_server::{Web, WebOptions, serve_web};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"host.info"}"#;

/// What the opening link gives a browser: the cookie's header and the page's key.
async fn open(web: &Web, path: &str) -> (String, String) {
    let opened = request(web, "GET", &format!("{path}?token={}", token(web))).send().await;
    assert_eq!(opened.status, 303, "{opened:?}");
    assert_eq!(opened.header("Cache-Control"), "no-store");
    let key = opened.header("Location").strip_prefix("/#k=").unwrap().to_owned();
    let set = opened.header("Set-Cookie");
    for part in ["; Path=/", "; HttpOnly", "; SameSite=Strict"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(set.starts_with(&format!("ostler_{}=", web.address().port())), "{set}");
    (set.split(';').next().unwrap().to_owned(), key)
}

#[tokio::test]
async fn only_the_token_or_cookie_and_key_let_in() {
    let host = TestHost::new();
    let web = host.web().await;
    let (cookie, key) = open(&web, "/open").await;
    assert_eq!((cookie.clone(), key.clone()), open(&web, "/").await, "both links give the same");
    let token = token(&web);
    let cookie_value = cookie.split_once('=').unwrap().1.to_owned();
    let others_port = format!("ostler_1={cookie_value}");
    let wrong = "x".repeat(43);
    let cases: [(Option<&str>, Option<&str>, bool); 14] = [
        (None, None, false),
        (Some(&token), None, true),
        (Some(&token[..42]), None, false),
        (Some(&wrong), None, false),
        (Some(""), None, false),
        (None, Some(&cookie), false),
        (Some(&key), None, false),
        (Some(&key), Some(&cookie), true),
        (Some(&wrong), Some(&cookie), false),
        (Some(&cookie_value), Some(&cookie), false),
        (Some(&cookie_value), None, false),
        (Some(&key), Some(&others_port), false),
        (Some(&key), Some("ostler_=; a"), false),
        (Some(&token), Some("a=b"), true),
    ];
    let mut refusals = Vec::new();
    for (bearer, cookie, allowed) in cases {
        for (method, path) in [("POST", "/api"), ("GET", "/events?client=w")] {
            let mut asked = request(&web, method, path);
            if let Some(bearer) = bearer {
                asked = asked.bearer(bearer);
            }
            if let Some(cookie) = cookie {
                asked = asked.header("Cookie", cookie);
            }
            if allowed && method == "GET" {
                asked.stream().await;
                continue;
            }
            let answer = if method == "POST" { asked.body(CALL) } else { asked }.send().await;
            assert_eq!(answer.status, if allowed { 200 } else { 401 }, "{bearer:?} {cookie:?}");
            if !allowed {
                assert_eq!(answer.json()["error"]["code"], -32001);
                refusals.push(answer.text());
            }
        }
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "all refusals read the same");
    web.stop().await;
}

#[tokio::test]
async fn a_token_in_the_address_is_for_events_and_the_opening_link_only() {
    let host = TestHost::new();
    let web = host.web().await;
    let token = token(&web);
    request(&web, "GET", &format!("/events?client=w&token={token}")).stream().await;
    let call = request(&web, "POST", &format!("/api?token={token}")).body(CALL).send().await;
    assert_eq!(call.status, 401);
    for path in ["/open?token=wrong", "/?token=wrong", "/events?client=w&token=wrong"] {
        let answer = request(&web, "GET", path).send().await;
        assert_eq!((answer.status, answer.header("Set-Cookie")), (401, ""), "{path}");
    }
    web.stop().await;
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_before_anything_else() {
    let host = TestHost::new();
    let web = host.web().await;
    let port = web.address().port();
    let all = || -> Vec<Request> {
        let token = token(&web);
        vec![
            request(&web, "POST", "/api").bearer(&token).body(CALL),
            request(&web, "GET", "/"),
            request(&web, "GET", &format!("/open?token={token}")),
            request(&web, "OPTIONS", "/api"),
            request(&web, "PUT", "/api"),
        ]
    };
    for asked in all() {
        for (name, value) in [
            ("Host", "evil.example".to_owned()),
            ("Host", format!("evil.example:{port}")),
            ("Host", "127.0.0.1".to_owned()),
            ("Origin", "null".to_owned()),
            ("Origin", "http://evil.example".to_owned()),
            ("Origin", format!("http://127.0.0.1:{}", port ^ 1)),
        ] {
            let answer = asked.clone().header(name, &value).send().await;
            assert_eq!(answer.status, 403, "{name}: {value}: {asked:?}");
            assert_eq!(answer.header("Access-Control-Allow-Origin"), "");
            assert_eq!(answer.header("Set-Cookie"), "");
        }
    }
    let own = format!("http://localhost:{port}");
    let allowed =
        all().remove(0).header("Host", &format!("localhost:{port}")).header("Origin", &own);
    let answer = allowed.send().await;
    assert_eq!((answer.status, answer.header("Access-Control-Allow-Origin")), (200, own.as_str()));
    assert_eq!(answer.header("Vary"), "Origin");
    assert_eq!(answer.header("Access-Control-Allow-Credentials"), "");
    web.stop().await;
}

#[tokio::test]
async fn the_secret_outlives_the_server_and_a_damaged_one_is_replaced() {
    let host = TestHost::new();
    let web = host.web().await;
    let first = token(&web);
    web.stop().await;
    let web = host.web().await;
    assert_eq!(token(&web), first);
    web.stop().await;
    let file = host.home.ostler_home().join("web-token");
    std::fs::write(&file, &first[..39]).unwrap();
    let web = host.web().await;
    assert_ne!(token(&web), first);
    assert_eq!(std::fs::read_to_string(file).unwrap(), token(&web));
    web.stop().await;
}

#[tokio::test]
async fn a_port_that_was_asked_for_and_is_taken_is_an_error_with_a_way_out() {
    let host = TestHost::new();
    let web = host.web().await;
    let options = WebOptions { port: Some(web.address().port()), ..WebOptions::default() };
    let error = serve_web(host.host.clone(), options).await.unwrap_err();
    assert_eq!(error.to_string(), format!("port {} is in use", web.address().port()));
    assert!(error.hint().unwrap().contains("--port"));
    web.stop().await;
}
