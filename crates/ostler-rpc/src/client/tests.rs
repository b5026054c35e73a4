//! What `client` promises, held on examples.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, split};

use super::*;

/// A client, and the other end of its connection.
fn pair() -> (Client, EventStream, BufReader<DuplexStream>) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (input, output) = split(near);
    let (client, events) = Client::connect(input, output);
    (client, events, BufReader::new(far))
}

async fn request(far: &mut BufReader<DuplexStream>) -> Value {
    let mut line = String::new();
    far.read_line(&mut line).await.unwrap();
    serde_json::from_str(&line).unwrap()
}

#[tokio::test]
async fn answers_reach_their_calls_in_any_order() {
    let (client, _events, mut far) = pair();
    let server = async {
        let (one, two) = (request(&mut far).await, request(&mut far).await);
        assert_eq!(one["params"], json!({"n": 1}));
        for asked in [two, one] {
            let line = json!({"jsonrpc": "2.0", "id": asked["id"], "result": asked["method"]});
            far.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }
    };
    let params = json!({"n": 1});
    let (one, two, ()) = tokio::join!(
        client.call::<_, String>("one", &params),
        client.call::<_, String>("two", &params),
        server
    );
    assert_eq!((one.unwrap(), two.unwrap()), ("one".to_owned(), "two".to_owned()));
}

#[tokio::test]
async fn events_come_in_order_between_prose_and_unknown_ones() {
    let (_client, mut events, mut far) = pair();
    let text = "booting\n{\"type\":\"message_dequeued\",\"id\":\"a\"}\n{\"type\":\"of_tomorrow\"}\r\n{\"type\":\"message_dequeued\",\"id\":\"b\"}";
    far.write_all(text.as_bytes()).await.unwrap();
    drop(far);
    for want in ["a", "b"] {
        let Some(Heard::Event(event)) = events.next().await else { panic!("no event") };
        let kind = ostler_protocol::EventKind::MessageDequeued { id: want.to_owned() };
        assert_eq!(event.kind, kind);
    }
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn errors_and_closed_connections_are_told() {
    let (client, _events, mut far) = pair();
    let params = json!({});
    let server = async {
        let asked = request(&mut far).await;
        let error = json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32004, "message": "no"}});
        far.write_all(format!("{error}\n").as_bytes()).await.unwrap();
    };
    let (answer, ()) = tokio::join!(client.call::<_, Value>("m", &params), server);
    let Err(CallError::Rpc(error)) = answer else { panic!("{answer:?}") };
    assert_eq!(error.code, -32004);
    let server = async {
        request(&mut far).await;
        drop(far);
    };
    let (answer, ()) = tokio::join!(client.call::<_, Value>("m", &params), server);
    assert!(matches!(answer, Err(CallError::Closed)), "{answer:?}");
    let again = client.call::<_, Value>("m", &params).await;
    assert!(matches!(again, Err(CallError::Closed)), "{again:?}");
}

#[tokio::test]
async fn a_call_that_cannot_be_written_ends_though_the_server_still_talks() {
    let (still_open, input) = tokio::io::duplex(64);
    let (output, gone) = tokio::io::duplex(64);
    drop(gone);
    let (client, mut events) = Client::connect(input, output);
    let answer = client.call::<_, Value>("m", &json!({})).await;
    assert!(matches!(answer, Err(CallError::Closed)), "{answer:?}");
    assert_eq!(events.next().await, None);
    drop(still_open);
}

#[tokio::test]
async fn events_that_nobody_reads_are_bounded_and_counted() {
    let shared = Arc::new(Shared::default());
    let event = |n: usize| {
        decode_reply(
            json!({"type": "message_dequeued", "id": n.to_string()}).to_string().as_bytes(),
        )
    };
    for n in 0..EVENT_QUEUE + 3 {
        shared.take(event(n));
    }
    let mut events = EventStream(shared);
    assert_eq!(events.next().await, Some(Heard::Lost(3)));
    let Reply::Event(third) = event(3) else { panic!("not an event") };
    assert_eq!(events.next().await, Some(Heard::Event(third)));
}
