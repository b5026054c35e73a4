//! What `retry` promises, held on examples.

use futures::stream;

use super::*;

fn failure(kind: ErrorKind, retry_after_ms: Option<u64>) -> Failure {
    Failure { retry_after_ms, ..failure::plain(kind, "no", "") }
}

/// The pauses of a request that always fails.
fn pauses(policy: RetryPolicy, kind: ErrorKind, asked: Option<u64>) -> Vec<u64> {
    let mut all = Vec::new();
    let mut attempt = 1;
    while let Some((delay, _)) = policy.next(attempt, &failure(kind, asked)) {
        all.push(u64::try_from(delay.as_millis()).unwrap());
        attempt += 1;
    }
    all
}

#[test]
fn pauses_double_up_to_a_cap() {
    let policy = RetryPolicy::default();
    assert_eq!(pauses(policy, ErrorKind::RateLimit, None), [5000, 10_000, 20_000, 30_000]);
    assert_eq!(pauses(policy, ErrorKind::Overloaded, None), [1000, 2000]);
    assert_eq!(pauses(policy, ErrorKind::Stalled, Some(50)), [50, 50]);
    assert!(pauses(policy, ErrorKind::RateLimit, Some(60_001)).is_empty());
    assert!(pauses(policy, ErrorKind::Auth, None).is_empty());
    assert!(pauses(policy.with_max_retries(0), ErrorKind::Server, None).is_empty());
    assert_eq!(pauses(policy.with_max_retries(10), ErrorKind::Server, None).len(), 10);
    let endless = pauses(policy.with_max_retries(100), ErrorKind::Server, None);
    assert_eq!(endless.last(), Some(&30_000));
}

fn failing(kind: ErrorKind) -> Attempt {
    Box::new(move || Box::pin(stream::iter([ModelEvent::Failed(failure(kind, None))])))
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_says_how_often_it_was_tried() {
    let start = tokio::time::Instant::now();
    let events = drive(RetryPolicy::default(), Cancel::new(), failing(ErrorKind::Server));
    let events = events.collect::<Vec<_>>().await;
    assert_eq!(start.elapsed().as_secs(), 3);
    let [.., ModelEvent::Failed(failure)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(failure.message, "no (attempt 3)");
    assert_eq!(events.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn cancel_ends_a_pause() {
    let cancel = Cancel::new();
    let policy = RetryPolicy::default();
    let mut events = drive(policy, cancel.clone(), failing(ErrorKind::RateLimit));
    assert!(matches!(events.next().await, Some(ModelEvent::Retrying { delay_ms: 5000, .. })));
    let start = tokio::time::Instant::now();
    cancel.cancel();
    assert_eq!(events.next().await, None);
    assert_eq!(events.next().await, None);
    assert_eq!(start.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_an_end_is_a_bad_stream() {
    let start: Attempt = Box::new(|| Box::pin(stream::iter([])));
    let events = drive(RetryPolicy::immediate(), Cancel::new(), start);
    let events = events.collect::<Vec<_>>().await;
    let Some(ModelEvent::Failed(failure)) = events.last() else { panic!("{events:?}") };
    assert_eq!(failure.kind, ErrorKind::BadStream);
}
