//! Server-sent events: replay, gaps, windows, and ends.

use serde_json::{Value, json};

use crate::{
    http::{Request, Sent, call, request, token},
    support::TestHost,
};
use ostler_server::Web;

fn words(count: u32) -> Value {
    json!([{"repeat": true, "steps": [{"repeatText": {"text": "word ", "count": count}}]}])
}

async fn start(web: &Web) -> String {
    let started = call(web, "w", "session.start", json!({})).await;
    started["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
}

async fn send(web: &Web, session: &str) -> Value {
    call(web, "w", "session.send", json!({"sessionId": session, "message": "go"})).await
}

fn of_session(web: &Web, session: &str) -> Request {
    request(web, "GET", &format!("/events?sessionId={session}")).bearer(&token(web))
}

async fn after(web: &Web, session: &str, id: u64) -> Vec<Sent> {
    of_session(web, session)
        .header("Last-Event-ID", &id.to_string())
        .stream()
        .await
        .until("done")
        .await
}

#[tokio::test]
async fn whoever_comes_back_anywhere_sees_the_same_events() {
    let host = TestHost::new();
    let web = host.web().await;
    host.replies(words(12));
    let session = start(&web).await;
    let mut live = of_session(&web, &session).stream().await;
    assert_eq!(send(&web, &session).await["result"]["success"], true);
    let all = live.until("done").await;
    let ids: Vec<_> = all.iter().map(|sent| sent.id.unwrap()).collect();
    assert_eq!(ids, (1..=all.len() as u64).collect::<Vec<_>>());
    assert!(all.iter().all(|sent| sent.data["seq"] == sent.id.unwrap()));
    for cut in 0..all.len() - 1 {
        assert_eq!(after(&web, &session, cut as u64).await, all[cut..], "after {cut}");
    }
    drop(live);
    assert_eq!(after(&web, &session, 0).await, all, "events outlive their last reader");
    web.stop().await;
}

#[tokio::test]
async fn evicted_events_show_as_a_gap_and_the_rest_follows() {
    let host = TestHost::new();
    let web = host.web().await;
    host.replies(words(2500));
    let session = start(&web).await;
    send(&web, &session).await;
    let rest = after(&web, &session, 3).await;
    let gap = &rest[0];
    let last = rest.last().unwrap().id.unwrap();
    assert_eq!(
        (gap.data["type"].clone(), gap.data["from"].clone()),
        (json!("stream_gap"), json!(4))
    );
    let to = gap.data["to"].as_u64().unwrap();
    assert_eq!(gap.id, Some(to), "who drops after the marker misses nothing");
    assert_eq!(to, last - 1000, "the newest 1000 are kept");
    let ids: Vec<_> = rest[1..].iter().map(|sent| sent.id.unwrap()).collect();
    assert_eq!(ids, (to + 1..=last).collect::<Vec<_>>());
    assert_eq!(after(&web, &session, to).await, rest[1..]);
    web.stop().await;
}

#[tokio::test]
async fn a_window_hears_what_it_subscribed_to_and_the_host() {
    let host = TestHost::new();
    let web = host.web().await;
    host.replies(words(3));
    let (one, two) = (start(&web).await, start(&web).await);
    let refused = call(&web, "w", "events.subscribe", json!({"sessionId": one})).await;
    assert_eq!(refused["error"]["code"], -32602, "a window without a stream cannot subscribe");
    let window = request(&web, "GET", "/events?client=w").bearer(&token(&web));
    let mut stream = window.stream().await;
    let subscribed = call(&web, "w", "events.subscribe", json!({"sessionId": one})).await;
    assert_eq!(subscribed["result"]["gap"], false, "{subscribed}");
    send(&web, &two).await;
    send(&web, &one).await;
    let sent = stream.until("done").await;
    assert!(sent.iter().all(|sent| sent.id.is_none()), "a window's stream has no ids");
    let of = |session: &str| {
        let is_of = |sent: &&Sent| sent.data["sessionId"] == session && sent.data["seq"].is_u64();
        sent.iter().filter(is_of).count()
    };
    assert_eq!((of(&two), of(&one) > 5), (0, true));
    let changed = |sent: &Sent| {
        sent.data["type"] == "session.changed" && sent.data["sessionId"] == two.as_str()
    };
    assert!(sent.iter().any(changed), "rows of all sessions reach every window");
    // The same window again: the newer stream counts, the older one ends.
    let mut newer = window.stream().await;
    while stream.next().await.is_some() {}
    let again = json!({"sessionId": one, "after": 2});
    assert_eq!(call(&web, "w", "events.subscribe", again).await["result"]["gap"], false);
    assert_eq!(newer.until("done").await[0].data["seq"], 3);
    web.stop().await;
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_stop_its_run() {
    let host = TestHost::new();
    let web = host.web().await;
    let replies = json!([{"steps": [{"text": "slowly now", "chunk": 1, "delayMs": 5}]}]);
    host.replies(replies);
    let session = start(&web).await;
    let mut live = of_session(&web, &session).stream().await;
    let body = json!({"id": 1, "method": "session.send", "params": {"sessionId": session, "message": "go"}});
    let connection =
        request(&web, "POST", "/api").bearer(&token(&web)).body(body.to_string()).begin().await;
    live.until("text_delta").await;
    drop(connection);
    let rest = live.until("done").await;
    assert_eq!(rest.last().unwrap().data["reason"], "end");
    let text = rest.iter().find(|sent| sent.data["type"] == "text").unwrap();
    assert_eq!(text.data["content"], "slowly now");
    web.stop().await;
}

#[tokio::test]
async fn streams_name_one_thing_that_is_there() {
    let host = TestHost::new();
    let web = host.web().await;
    for (path, status) in [
        ("/events", 400),
        ("/events?sessionId=a&client=b", 400),
        ("/events?client=", 400),
        ("/events?client=a%20b", 400),
        ("/events?sessionId=none", 404),
    ] {
        let answer = request(&web, "GET", path).bearer(&token(&web)).send().await;
        assert_eq!(answer.status, status, "{path}");
    }
    web.stop().await;
}

#[tokio::test]
async fn closing_the_door_ends_streams_and_answers_runs() {
    let host = TestHost::new();
    let web = host.web().await;
    let replies = json!([{"steps": [{"text": "I begin"}, {"stall": true}]}]);
    host.replies(replies);
    let session = start(&web).await;
    let mut live = of_session(&web, &session).stream().await;
    let body = json!({"id": 1, "method": "session.send", "params": {"sessionId": session, "message": "go"}});
    let sending = request(&web, "POST", "/api").bearer(&token(&web)).body(body.to_string());
    let sending = tokio::spawn(async move { sending.send().await });
    live.until("text_delta").await;
    let address = web.address();
    web.stop().await;
    while live.next().await.is_some() {}
    assert_eq!(sending.await.unwrap().json()["result"]["message"], "Interrupted");
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
