//! The static files of the page, from inside the program (R-17b).
//!
//! Serves names of the table that the build script wrote, and nothing else: no path of a
//! request is ever opened.

use axum::{body::Body, response::Response};
use http::{HeaderValue, Method, StatusCode, header};

use super::{
    auth::{base64url, random},
    door::{no_store, text},
};

include!(concat!(env!("OUT_DIR"), "/bundle.rs"));

/// The page itself, which every place of the page's own router leads to.
const INDEX: &str = "index.html";

/// What the index page has where its nonce belongs.
const NONCE: &str = "__OSTLER_NONCE__";

/// A file of the page: its name, and what is in it.
type File = (&'static str, &'static [u8]);

/// Answers GET and HEAD.
pub(crate) fn page(method: &Method, path: &str) -> Response {
    let response = of_bundle(FILES, path);
    if *method == Method::HEAD { without_body(response) } else { response }
}

fn of_bundle(files: &[File], path: &str) -> Response {
    let name = path.strip_prefix('/').unwrap_or(path);
    let find = |name: &str| files.iter().find(|(found, _)| *found == name).copied();
    match find(name) {
        Some((INDEX, bytes)) => index(bytes),
        Some((name, bytes)) => asset(name, bytes),
        None if name.contains('.') => text(StatusCode::NOT_FOUND, "there is no such file\n"),
        None => match find(INDEX) {
            Some((_, bytes)) => index(bytes),
            None => text(StatusCode::NOT_FOUND, "there is no page in this program\n"),
        },
    }
}

/// The page, with a nonce for the styles that its libraries make.
fn index(bytes: &[u8]) -> Response {
    let Ok(nonce) = random::<16>() else {
        return text(StatusCode::INTERNAL_SERVER_ERROR, "the system gives no random numbers\n");
    };
    let nonce = base64url(&nonce);
    let html = String::from_utf8_lossy(bytes).replace(NONCE, &nonce);
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; \
         style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = sized(html.into_bytes().into(), "text/html; charset=utf-8");
    if let Ok(policy) = HeaderValue::try_from(policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    no_store(response)
}

fn asset(name: &str, bytes: &'static [u8]) -> Response {
    let mut response = sized(axum::body::Bytes::from_static(bytes), mime(name));
    // Names below `assets` change with their content.
    let hashed = name.starts_with("assets/");
    let caching = if hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response
}

fn sized(bytes: axum::body::Bytes, mime: &'static str) -> Response {
    let length = bytes.len();
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(mime));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    response
}

fn without_body(response: Response) -> Response {
    response.map(|_| Body::empty())
}

fn mime(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/vnd.microsoft.icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &[File] = &[
        ("assets/index-abc.js", b"js"),
        ("icon.svg", b"<svg/>"),
        ("index.html", b"<meta nonce=\"__OSTLER_NONCE__\">"),
    ];

    fn header(response: &Response, name: header::HeaderName) -> &str {
        response.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[test]
    fn only_names_of_the_table_are_served() {
        for path in [
            "/../Cargo.toml",
            "/etc/passwd.txt",
            "/assets/../icon.svg",
            "//icon.svg",
            "/icon.svg/",
            "/%2e%2e/icon.svg",
            "/.git",
        ] {
            assert_eq!(of_bundle(SOME, path).status(), StatusCode::NOT_FOUND, "{path}");
        }
        assert_eq!(of_bundle(SOME, "/icon.svg").status(), StatusCode::OK);
        assert_eq!(of_bundle(&[], "/").status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn places_of_the_page_are_the_page_itself() {
        for path in ["/", "/index.html", "/s/1b2c", "/etc/passwd"] {
            let response = of_bundle(SOME, path);
            assert_eq!(
                header(&response, header::CONTENT_TYPE),
                "text/html; charset=utf-8",
                "{path}"
            );
            assert_eq!(header(&response, header::CACHE_CONTROL), "no-store");
        }
    }

    #[test]
    fn hashed_files_are_kept_and_others_asked_for_again() {
        let hashed = of_bundle(SOME, "/assets/index-abc.js");
        assert!(header(&hashed, header::CACHE_CONTROL).contains("immutable"));
        assert_eq!(header(&hashed, header::CONTENT_TYPE), "text/javascript; charset=utf-8");
        assert_eq!(header(&of_bundle(SOME, "/icon.svg"), header::CACHE_CONTROL), "no-cache");
    }

    #[tokio::test]
    async fn each_page_has_a_nonce_of_its_own_that_its_policy_names() {
        let mut seen = Vec::new();
        for _ in 0..2 {
            let response = of_bundle(SOME, "/");
            let policy = header(&response, header::CONTENT_SECURITY_POLICY).to_owned();
            let body = axum::body::to_bytes(response.into_body(), 1000).await.unwrap();
            let html = String::from_utf8(body.to_vec()).unwrap();
            let nonce = html.split('"').nth(1).unwrap().to_owned();
            assert_eq!(nonce.len(), 22);
            assert!(policy.contains(&format!("style-src 'self' 'nonce-{nonce}';")), "{policy}");
            assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
            seen.push(nonce);
        }
        assert_ne!(seen[0], seen[1]);
    }

    #[test]
    fn the_bundle_has_a_page() {
        let (_, index) = FILES.iter().find(|(name, _)| *name == INDEX).unwrap();
        let html = String::from_utf8(index.to_vec()).unwrap();
        assert!(html.contains(NONCE), "the page has no place for its nonce");
        assert_eq!(html.contains("cargo xtask web"), !IS_BUILT);
    }
}
