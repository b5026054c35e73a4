use ostler_protocol::ErrorKind;
use ostler_provider::Failure;

use super::*;

async fn events(wire: Wire, replies: &str) -> Vec<ModelEvent> {
    let server = server(replies);
    run(&open(config(&server, wire)), ask("x")).await
}

fn failure(events: &[ModelEvent]) -> &Failure {
    let Some(ModelEvent::Failed(failure)) = events.last() else { panic!("{events:?}") };
    failure
}

fn retries(events: &[ModelEvent]) -> Vec<ErrorKind> {
    let kinds = events.iter().filter_map(|event| match event {
        ModelEvent::Retrying { failure, .. } => Some(failure.kind),
        _ => None,
    });
    kinds.collect()
}

fn refusal(status: u16, body: &str) -> String {
    format!(r#"[{{"repeat":true,"steps":[{{"error":{{"status":{status},"body":{body}}}}}]}}]"#)
}

#[tokio::test]
async fn refusals_are_typed_and_only_some_are_retried() {
    let message = |text: &str| format!(r#"{{"error":{{"type":"x","message":"{text}"}}}}"#);
    let cases = [
        (401, message("bad key"), ErrorKind::Auth, 0),
        (403, message("not yours"), ErrorKind::Auth, 0),
        (402, message("pay"), ErrorKind::Billing, 0),
        (404, message("model: claude-99"), ErrorKind::ModelNotFound, 0),
        (404, message("no route"), ErrorKind::NotFound, 0),
        (413, message("large"), ErrorKind::TooLarge, 0),
        (400, message("RequestSize 34 MB is over the Limit"), ErrorKind::TooLarge, 0),
        (400, message("prompt is too long: 200001 tokens > 200000"), ErrorKind::TooLarge, 0),
        (400, message("roles must alternate"), ErrorKind::BadRequest, 0),
        (307, "\"moved\"".to_owned(), ErrorKind::NotFound, 0),
        (429, message("slow down"), ErrorKind::RateLimit, 2),
        (429, message("You exceeded your current quota"), ErrorKind::Billing, 0),
        (529, message("overloaded"), ErrorKind::Overloaded, 1),
        (500, message("oops"), ErrorKind::Server, 1),
        (502, "\"<html>bad gateway</html>\"".to_owned(), ErrorKind::Server, 1),
        (400, "\"<!DOCTYPE html><p>proxy\"".to_owned(), ErrorKind::BadRequest, 0),
    ];
    for wire in WIRES {
        for (status, body, kind, retried) in &cases {
            let events = events(wire, &refusal(*status, body)).await;
            let failure = failure(&events);
            assert_eq!(failure.kind, *kind, "{wire:?} {status} {body}: {failure:?}");
            assert_eq!(failure.status, Some(*status));
            assert_eq!(retries(&events).len(), *retried, "{status} {body}");
            if body.contains("html") {
                assert!(
                    failure.message.contains("HTML page from `http://127.0.0.1"),
                    "{failure:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn no_failure_shows_the_key_or_more_than_its_cap() {
    let long = format!(r#"{{"error":"{KEY} {}"}}"#, "ü".repeat(3000));
    for wire in WIRES {
        let events = events(wire, &refusal(401, &long)).await;
        let failure = failure(&events);
        assert!(!format!("{failure:?}").contains(KEY), "{failure:?}");
        assert!(failure.message.contains("[key]"));
        assert!(failure.message.len() <= 2000);
    }
    let server = server("[]");
    assert!(!format!("{:?}", config(&server, Wire::Chat)).contains(KEY));
}

#[tokio::test]
async fn a_wait_of_two_hours_is_given_up_at_once() {
    let replies = r#"[{"steps":[{"error":{"status":429,"body":"later","retryAfter":7200}}]}]"#;
    for wire in WIRES {
        let events = events(wire, replies).await;
        assert_eq!(failure(&events).retry_after_ms, Some(7_200_000));
        assert!(failure(&events).hint.as_ref().unwrap().contains("2 h 0 min"));
        assert!(retries(&events).is_empty());
    }
}

#[tokio::test]
async fn a_short_wait_is_honoured() {
    let replies = r#"[{"steps":[{"error":{"status":529,"body":"busy","retryAfter":0.02}}]},
        {"steps":[{"text":"ok"}]}]"#;
    for wire in WIRES {
        let events = events(wire, replies).await;
        let [ModelEvent::Retrying { attempt: 2, max: 2, delay_ms: 20, .. }, ..] = events.as_slice()
        else {
            panic!("{events:?}")
        };
        assert_eq!(blocks(&events), [Block::text("ok")]);
    }
}

#[tokio::test]
async fn what_breaks_in_the_middle_is_made_again() {
    let cases = [
        (r#"{"text":"half"},{"cut":true}"#, ErrorKind::Network),
        (r#"{"text":"half"},{"cut":{"bytes":120}}"#, ErrorKind::Network),
        (r#"{"text":"half"},{"stall":true}"#, ErrorKind::Stalled),
        (r#"{"stall":true}"#, ErrorKind::Stalled),
        (
            r#"{"text":"half"},{"error":{"status":529,"body":{"error":{"type":"overloaded_error","message":"busy"}}}}"#,
            ErrorKind::Overloaded,
        ),
    ];
    for wire in WIRES {
        for (steps, kind) in cases {
            let replies = format!(r#"[{{"steps":[{steps}]}},{{"steps":[{{"text":"whole"}}]}}]"#);
            let events = events(wire, &replies).await;
            assert_eq!(retries(&events), [kind], "{wire:?} {steps}: {events:?}");
            assert!(matches!(events.last(), Some(ModelEvent::Done { .. })), "{events:?}");
        }
    }
}

#[tokio::test]
async fn a_cut_at_any_byte_never_passes_for_a_whole_answer() {
    for wire in WIRES {
        for bytes in (0..700).step_by(23) {
            let replies = format!(
                r#"[{{"repeat":true,"steps":[{{"text":"{}"}},{{"cut":{{"bytes":{bytes}}}}}]}}]"#,
                "long ".repeat(200)
            );
            let events = events(wire, &replies).await;
            assert_eq!(failure(&events).kind, ErrorKind::Network, "{wire:?} {bytes}");
        }
    }
}

#[tokio::test]
async fn nobody_there_is_a_network_failure_that_names_the_place() {
    for wire in WIRES {
        let config = {
            let server = server("[]");
            config(&server, wire)
        };
        let events = run(&open(config.clone()), ask("x")).await;
        let failure = failure(&events);
        assert_eq!(failure.kind, ErrorKind::Network);
        assert!(failure.hint.as_ref().unwrap().contains(&config.base_url), "{failure:?}");
        assert_eq!(retries(&events).len(), 1);
    }
}

#[tokio::test]
async fn a_base_url_that_is_none_is_a_setting_to_mend() {
    for wire in WIRES {
        let config = ProviderConfig::new("test", wire, "localhost:1");
        let events = run(&open(config), ask("x")).await;
        assert_eq!(failure(&events).kind, ErrorKind::Settings);
    }
}

#[tokio::test]
async fn cancel_closes_a_silent_request_at_once() {
    for wire in WIRES {
        for steps in [r#"{"stall":true}"#, r#"{"text":"a"},{"stall":true}"#] {
            let server = server(&format!(r#"[{{"steps":[{steps}]}}]"#));
            let mut config = config(&server, wire);
            config.timeouts.header = Duration::ZERO;
            config.timeouts.idle = Duration::ZERO;
            let provider = open(config);
            let cancel = Cancel::new();
            let mut stream = provider.stream(ask("x"), cancel.clone());
            if steps.contains("text") {
                while !matches!(stream.next().await, Some(ModelEvent::TextDelta { .. })) {}
            }
            cancel.cancel();
            let rest = stream.collect::<Vec<_>>().await;
            let last = |event: &ModelEvent| {
                matches!(event, ModelEvent::Done { .. } | ModelEvent::Failed(_))
            };
            assert!(!rest.iter().any(last), "{rest:?}");
        }
    }
}

#[tokio::test]
async fn a_scenario_without_a_reply_says_so_and_is_not_clean() {
    for wire in WIRES {
        let server = server("[]");
        let events = run(&open(config(&server, wire)), ask("hello")).await;
        assert!(failure(&events).message.contains("no reply"), "{events:?}");
        assert!(server.violations()[0].contains("`hello`"));
    }
}

#[tokio::test]
async fn tls_is_set_up_without_the_program_doing_it() {
    // Nobody listens there; what counts is that the client can be built.
    let mut config = {
        let server = server("[]");
        config(&server, Wire::Messages)
    };
    config.base_url = config.base_url.replace("http://", "https://");
    let events = run(&open(config), ask("x")).await;
    assert_eq!(failure(&events).kind, ErrorKind::Network, "{events:?}");
}
