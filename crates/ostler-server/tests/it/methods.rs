//! What holds for methods whatever the door: the table, params, and who answers first.

use serde_json::{Value, json};

use crate::{
    http::{self, call},
    support::TestHost,
};

#[tokio::test]
async fn discovery_names_every_method() {
    let host = TestHost::new();
    let answer = host.stdio().call("rpc.discover", json!({})).await;
    let found = answer["result"]["methods"].as_array().unwrap();
    let found: Vec<_> = found.iter().map(|method| method["name"].as_str().unwrap()).collect();
    let table: Vec<_> =
        ostler_protocol::methods::METHODS.iter().map(|method| method.name).collect();
    assert_eq!(found, table);
    assert!(found.contains(&"session.send"));
}

#[tokio::test]
async fn wrong_params_name_the_field_at_both_doors() {
    let host = TestHost::new();
    let web = host.web().await;
    let mut lines = host.stdio();
    let params =
        json!({"sessionId": "s", "message": "x", "images": [{"data": "", "mediaType": 4}]});
    let of_lines = lines.call("session.send", params.clone()).await;
    let of_web = call(&web, "w", "session.send", params).await;
    for answer in [&of_lines, &of_web] {
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["data"]["field"], "images[0].mediaType");
        assert_eq!(answer["error"]["data"]["method"], "session.send");
    }
    assert_eq!(of_lines["error"], of_web["error"]);
    let missing = call(&web, "w", "session.send", json!({"message": "x"})).await;
    assert_eq!(missing["error"]["data"]["field"], "sessionId");
    web.stop().await;
}

fn edit() -> Value {
    json!([
        {"when": {"toolResultFor": "Read"}, "steps": [{"toolUse": {"name": "Edit", "input":
            {"file_path": "${cwd}/greet.sh", "old_string": "Helo", "new_string": "Hello"}}}]},
        {"when": {"toolResultFor": "Edit"}, "steps": [{"text": "Done."}]},
        {"steps": [{"toolUse": {"name": "Read", "input": {"file_path": "${cwd}/greet.sh"}}}]}
    ])
}

#[tokio::test]
async fn of_two_who_answer_a_request_one_is_told_that_it_was_late() {
    let host = TestHost::new();
    let web = host.web().await;
    let mut lines = host.stdio();
    host.replies(edit());
    let session = lines.start().await;
    let id =
        lines.send("session.send", json!({"sessionId": session, "message": "correct it"})).await;
    let asked = lines.until_event("permission_asked").await.pop().unwrap();
    let answer = json!({"requestId": asked["requestId"], "decision": "allow-once"});
    let one = call(&web, "one", "permission.answer", answer.clone());
    let two = call(&web, "two", "permission.answer", answer);
    let (one, two) = tokio::join!(one, two);
    let (won, lost) = if one["error"].is_null() { (one, two) } else { (two, one) };
    assert_eq!(won.get("result"), Some(&Value::Null), "{won}");
    assert_eq!(lost["error"]["code"], -32002, "{lost}");
    assert_eq!(lost["error"]["data"]["reason"], "resolved");
    let sent = lines.until_answer(id).await.pop().unwrap();
    assert_eq!(sent["result"]["content"], "Done.");
    let file = std::fs::read_to_string(host.home.project().join("greet.sh")).unwrap();
    assert_eq!(file, "echo Hello\n");
    web.stop().await;
}

#[tokio::test]
async fn what_is_no_call_has_its_status_over_http() {
    let host = TestHost::new();
    let web = host.web().await;
    let post = http::request(&web, "POST", "/api").bearer(&http::token(&web));
    let bad = post.clone().body("{").send().await;
    assert_eq!((bad.status, bad.json()["error"]["code"].clone()), (400, json!(-32700)));
    let batch = post.clone().body("[]").send().await;
    assert_eq!((batch.status, batch.json()["error"]["code"].clone()), (200, json!(-32600)));
    let unknown = post.clone().body(r#"{"id":"x","method":"no.such"}"#).send().await;
    assert_eq!((unknown.status, unknown.json()["error"]["code"].clone()), (200, json!(-32601)));
    assert_eq!(unknown.json()["id"], "x");
    let silent = post.clone().body(r#"{"method":"host.info"}"#).send().await;
    assert_eq!((silent.status, silent.body.len()), (204, 0));
    let large = post.clone().header("Content-Length", &(33 << 20).to_string()).send().await;
    assert_eq!(large.status, 413);
    web.stop().await;
}

#[tokio::test]
async fn a_chunked_request_is_bounded_too() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let host = TestHost::new();
    let web = host.web().await;
    let post = http::request(&web, "POST", "/api").bearer(&http::token(&web));
    let mut stream = post.header("Transfer-Encoding", "chunked").begin().await;
    let chunk = [b"100000\r\n", &*vec![b' '; 1 << 20], b"\r\n"].concat();
    let mut status = [0; 12];
    let (mut input, mut output) = stream.split();
    let writing = async {
        // The server stops reading in between, so the last writes may fail.
        while output.write_all(&chunk).await.is_ok() {}
    };
    tokio::select! {
        () = writing => { input.read_exact(&mut status).await.unwrap(); }
        read = input.read_exact(&mut status) => { read.unwrap(); }
    }
    assert_eq!(&status, b"HTTP/1.1 413");
    web.stop().await;
}
