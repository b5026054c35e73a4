//! The page's files over HTTP, and methods that no path has.

use crate::{
    http::{request, token},
    support::TestHost,
};

#[tokio::test]
async fn the_page_needs_no_secret_and_brings_its_policy() {
    let host = TestHost::new();
    let web = host.web().await;
    for path in ["/", "/index.html", "/s/some-session"] {
        let page = request(&web, "GET", path).send().await;
        assert_eq!(page.status, 200);
        assert_eq!(page.header("Content-Type"), "text/html; charset=utf-8");
        assert_eq!(page.header("Cache-Control"), "no-store");
        assert_eq!(page.header("X-Content-Type-Options"), "nosniff");
        assert_eq!(page.header("Referrer-Policy"), "no-referrer");
        assert_eq!(page.header("Cross-Origin-Opener-Policy"), "same-origin");
        let policy = page.header("Content-Security-Policy");
        let nonce = policy.split_once("'nonce-").unwrap().1.split_once('\'').unwrap().0.to_owned();
        let want = format!(
            "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        assert_eq!(policy, want);
        assert!(page.text().contains(&format!("nonce=\"{nonce}\"")));
        assert!(!page.text().contains("__OSTLER_NONCE__"));
        assert!(!page.text().contains(&token(&web)), "the page holds no secret");
    }
    web.stop().await;
}

#[tokio::test]
async fn head_gives_the_length_and_no_body() {
    let host = TestHost::new();
    let web = host.web().await;
    let whole = request(&web, "GET", "/").send().await;
    let head = request(&web, "HEAD", "/").send().await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("Content-Length"), whole.body.len().to_string());
    web.stop().await;
}

#[tokio::test]
async fn no_path_leads_out_of_the_bundle() {
    let host = TestHost::new();
    let web = host.web().await;
    for path in [
        "/../../../../etc/passwd.d",
        "/..%2f..%2fetc%2fpasswd",
        "/assets/../../Cargo.toml",
        "/assets/..\\..\\Cargo.toml",
        "//etc/passwd.x",
        "/Cargo.toml",
        "/index.html/..",
        "/index.html%00",
    ] {
        let answer = request(&web, "GET", path).send().await;
        assert_eq!(answer.status, 404, "{path}");
    }
    let page = request(&web, "GET", "/").send().await.body.len();
    for path in ["/etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"] {
        let answer = request(&web, "GET", path).send().await;
        assert_eq!((answer.status, answer.body.len()), (200, page), "the page, not the file");
    }
    web.stop().await;
}

#[tokio::test]
async fn other_methods_are_not_allowed() {
    let host = TestHost::new();
    let web = host.web().await;
    for (method, path, allow) in [
        ("GET", "/api", "POST, OPTIONS"),
        ("PUT", "/api", "POST, OPTIONS"),
        ("POST", "/events", "GET, OPTIONS"),
        ("DELETE", "/", "GET, HEAD, OPTIONS"),
        ("POST", "/open", "GET, HEAD, OPTIONS"),
    ] {
        let answer = request(&web, method, path).bearer(&token(&web)).send().await;
        assert_eq!((answer.status, answer.header("Allow")), (405, allow), "{method} {path}");
    }
    let options = request(&web, "OPTIONS", "/api").send().await;
    assert_eq!(options.status, 204);
    assert!(options.header("Access-Control-Allow-Headers").contains("Last-Event-ID"));
    web.stop().await;
}
