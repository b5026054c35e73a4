//! What `failure` promises, held on examples.

use super::*;

fn judge(status: u16, body: &str) -> Failure {
    let refused = Refused {
        provider: "my-vendor",
        base_url: "https://host",
        model: "m-1",
        status,
        body,
        retry_after_ms: None,
    };
    refused.failure()
}

#[test]
fn the_shapes_of_all_vendors_are_understood() {
    let bodies = [
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"too odd"},"request_id":"r"}"#,
        r#"{"error":{"message":"too odd","type":"x","code":null}}"#,
        r#"{"error":"too odd"}"#,
        r#"{"message":"too odd"}"#,
        r#"{"detail":"too odd"}"#,
        r#"[{"error":{"code":400,"message":"too odd","status":"INVALID_ARGUMENT"}}]"#,
        "too odd",
    ];
    for body in bodies {
        let failure = judge(400, body);
        assert_eq!(failure.kind, ErrorKind::BadRequest, "{body}");
        assert_eq!(failure.message, "my-vendor answered 400: too odd", "{body}");
    }
}

#[test]
fn words_decide_where_the_status_does_not() {
    let cases = [
        (400, "This model's maximum context length is 8192 tokens", ErrorKind::TooLarge),
        (
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"no"}}"#,
            ErrorKind::TooLarge,
        ),
        (400, "Your credit balance is too low", ErrorKind::Billing),
        (429, r#"{"error":{"code":"insufficient_quota","message":"no"}}"#, ErrorKind::Billing),
        (403, "billing is not set up", ErrorKind::Billing),
        (400, r#"{"error":{"code":"model_not_found","message":"no"}}"#, ErrorKind::ModelNotFound),
        (404, r#"{"error":{"message":"model 'x' not found"}}"#, ErrorKind::ModelNotFound),
        (404, "404 page not found", ErrorKind::NotFound),
        (503, "overloaded", ErrorKind::Overloaded),
        (408, "", ErrorKind::Network),
    ];
    for (status, body, want) in cases {
        assert_eq!(judge(status, body).kind, want, "{status} {body}");
    }
}

#[test]
fn hints_say_what_to_do() {
    let hint = |status| judge(status, "model").hint.unwrap();
    assert!(hint(401).contains("`MY_VENDOR_API_KEY`"));
    assert!(hint(402).contains("add credit"));
    assert!(hint(404).contains("does `my-vendor` have `m-1`?"));
    assert!(hint(413).contains("compact"));
    assert!(hint(500).contains("another model"));
}

#[test]
fn a_page_is_not_mistaken_for_words() {
    let failure = judge(200, "\n <!doctype HTML><title>Login</title>");
    assert_eq!(failure.kind, ErrorKind::BadStream);
    assert!(failure.message.contains("HTML page from `https://host`"));
    assert!(!failure.message.contains("Login"));
}

#[test]
fn errors_in_the_middle_go_by_their_class() {
    let kind = |class| mid_stream("p", "m", class, "").kind;
    assert_eq!(kind("overloaded_error"), ErrorKind::Overloaded);
    assert_eq!(kind("rate_limit_error"), ErrorKind::RateLimit);
    assert_eq!(kind("invalid_request_error"), ErrorKind::BadRequest);
    assert_eq!(kind("something_new"), ErrorKind::Server);
}

#[test]
fn spans_are_in_two_units() {
    let all = [1, 59_000, 60_000, 7_260_000, 180_000_000].map(span);
    assert_eq!(all, ["1 s", "59 s", "1 min 0 s", "2 h 1 min", "2 d 2 h"]);
}
