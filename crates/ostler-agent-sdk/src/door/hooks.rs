//! `hook_callback`: hooks that the host registered with `initialize` (agent-sdk.md 2.10,
//! 2.12). Every call is a request on the wire; whoever no longer waits withdraws it. After
//! the end of the input nobody can answer, so that a call fails at once.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use ostler_host::{Callbacks, Hook, HookAction, HookEvent, HookMatcher};
use ostler_stdx::Cancel;
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{mpsc, oneshot},
};

use super::{Door, Step};
use crate::fit;

/// Calls that may wait for the door; further ones wait for room.
const WAITING: usize = 64;

const NO_INPUT: &str = "the host closed its input and can answer no more";

/// What becomes of a call.
type Reply = Result<Value, String>;

/// A word between a hook and the door.
#[derive(Debug)]
pub(super) enum Word {
    Call {
        id: String,
        callback: String,
        input: Map<String, Value>,
        tool_use_id: Option<String>,
        reply: oneshot::Sender<Reply>,
    },
    /// Nobody waits for it any more.
    Gone { id: String },
}

/// The door's end of the calls.
#[derive(Debug)]
pub(super) struct Calls {
    words: mpsc::Receiver<Word>,
    open: HashMap<String, oneshot::Sender<Reply>>,
    host: Arc<SdkHost>,
}

impl Calls {
    pub(super) fn new() -> Self {
        let (sender, words) = mpsc::channel(WAITING);
        let host = Arc::new(SdkHost { sender, numbers: AtomicU64::new(0) });
        Self { words, open: HashMap::new(), host }
    }

    pub(super) async fn next(&mut self) -> Word {
        match self.words.recv().await {
            Some(word) => word,
            // A sender is held here.
            None => std::future::pending().await,
        }
    }

    /// Whom hooks call.
    pub(super) fn host(&self) -> Arc<SdkHost> {
        Arc::clone(&self.host)
    }

    /// Nobody can answer any more.
    pub(super) fn fail_all(&mut self) {
        for (_, reply) in self.open.drain() {
            reply.send(Err(NO_INPUT.to_owned())).unwrap_or_default();
        }
    }

    /// Takes an answer, if it is one to a call that is open.
    pub(super) fn answer(&mut self, response: &Value) -> bool {
        let id = response["request_id"].as_str().unwrap_or_default();
        let Some(reply) = self.open.remove(id) else { return false };
        let answer = if response["subtype"] == "success" {
            Ok(response["response"].clone())
        } else {
            Err(response["error"].as_str().unwrap_or("the host gave no reason").to_owned())
        };
        // Whoever waited may have gone.
        reply.send(answer).unwrap_or_default();
        true
    }
}

/// The host, as hooks call it.
#[derive(Debug)]
pub(super) struct SdkHost {
    sender: mpsc::Sender<Word>,
    numbers: AtomicU64,
}

/// Withdraws a call when whoever waits for it goes away.
struct Waiting {
    id: String,
    sender: mpsc::Sender<Word>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Of one that was answered the door knows nothing any more.
        let word = Word::Gone { id: std::mem::take(&mut self.id) };
        self.sender.try_send(word).unwrap_or_default();
    }
}

impl Callbacks for SdkHost {
    fn call(
        &self,
        callback: String,
        input: Map<String, Value>,
        tool_use_id: Option<String>,
        cancel: Cancel,
    ) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
        let id = format!("hook-{}", self.numbers.fetch_add(1, Ordering::Relaxed));
        let sender = self.sender.clone();
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let word = Word::Call { id: id.clone(), callback, input, tool_use_id, reply };
            let gone = |_| "the host has gone".to_owned();
            sender.send(word).await.map_err(gone)?;
            let waiting = Waiting { id, sender };
            let answer = tokio::select! {
                answer = answer => answer.unwrap_or_else(|_| Err(NO_INPUT.to_owned())),
                () = cancel.cancelled() => Err("it was stopped".to_owned()),
            };
            drop(waiting);
            answer
        })
    }
}

impl<R, W, E> Door<R, W, E>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    E: AsyncWrite + Unpin,
{
    pub(super) async fn on_word(&mut self, word: Word) -> Step {
        match word {
            Word::Call { reply, .. } if self.input_ended => {
                reply.send(Err(NO_INPUT.to_owned())).unwrap_or_default();
                Ok(())
            }
            Word::Call { id, callback, input, tool_use_id, reply } => {
                match request(&id, &callback, &input, tool_use_id.as_deref()) {
                    Ok(line) => {
                        self.calls.open.insert(id, reply);
                        self.write(&[line]).await
                    }
                    Err(refusal) => {
                        reply.send(Ok(refusal)).unwrap_or_default();
                        Ok(())
                    }
                }
            }
            Word::Gone { id } => match self.calls.open.remove(&id) {
                Some(_) => {
                    self.send(&json!({"type": "control_cancel_request", "request_id": id})).await
                }
                None => Ok(()),
            },
        }
    }
}

/// The request as a line; or, where the host would judge what it does not see whole, a no.
fn request(
    id: &str,
    callback: &str,
    input: &Map<String, Value>,
    tool_use_id: Option<&str>,
) -> Result<String, Value> {
    let mut request = json!({"subtype": "hook_callback", "callback_id": callback, "input": input});
    if let Some(id) = tool_use_id {
        request["tool_use_id"] = json!(id);
    }
    let frame = json!({"type": "control_request", "request_id": id, "request": request});
    let whole = frame.to_string();
    if whole.len() <= fit::MAX_LINE {
        return Ok(whole);
    }
    let event = &input["hook_event_name"];
    if *event != "PreToolUse" {
        return Ok(fit::line(frame));
    }
    Err(json!({"hookSpecificOutput": {
        "hookEventName": event,
        "permissionDecision": "deny",
        "permissionDecisionReason":
            "the arguments are too large to be shown to the host; do it in smaller steps",
    }}))
}

/// The hooks of an `initialize` request, and lines on those that will never run.
///
/// # Errors
/// What makes no sense; nothing is taken then.
pub(super) fn read(hooks: &Value) -> Result<(Vec<Hook>, Vec<String>), String> {
    let mut all = Vec::new();
    let mut remarks = Vec::new();
    let events = match hooks {
        Value::Null => return Ok((all, remarks)),
        Value::Object(events) => events,
        _ => return Err("`hooks` must be an object of event names".to_owned()),
    };
    for (name, groups) in events {
        let groups = groups.as_array().ok_or_else(|| format!("`hooks.{name}` must be a list"))?;
        let before = all.len();
        let event = HookEvent::parse(name);
        for group in groups {
            all.extend(group_hooks(event, group).map_err(|why| format!("`hooks.{name}`: {why}"))?);
        }
        let is_new = groups.iter().any(|group| !group["hookCallbackIds"].is_null());
        match event {
            Some(event) if event.is_raised() || all.len() == before => {}
            None if !is_new => {}
            _ => remarks.push(format!(
                "`hooks.{name}`: this version of Ostler never raises this event, so its hooks do not run"
            )),
        }
    }
    Ok((all, remarks))
}

fn group_hooks(event: Option<HookEvent>, group: &Value) -> Result<Vec<Hook>, String> {
    let matcher = match &group["matcher"] {
        Value::Null => HookMatcher::All,
        Value::String(text) => HookMatcher::parse(text).map_err(|why| {
            format!("`matcher` `{text}` is no list of names or expression: {why}")
        })?,
        _ => return Err("`matcher` must be a string".to_owned()),
    };
    let timeout = match &group["timeout"] {
        Value::Null => None,
        value => {
            let seconds = value.as_f64().filter(|seconds| *seconds > 0.0);
            let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            Some(time.ok_or("`timeout` must be a number of seconds")?)
        }
    };
    let ids = match &group["hookCallbackIds"] {
        Value::Null => Vec::new(),
        Value::Array(ids) => ids.iter().filter_map(Value::as_str).collect(),
        _ => return Err("`hookCallbackIds` must be a list".to_owned()),
    };
    let Some(event) = event else { return Ok(Vec::new()) };
    let hook = |id: &str| Hook {
        event,
        name: id.to_owned(),
        matcher: matcher.clone(),
        action: HookAction::Callback { id: id.to_owned() },
        filter: None,
        timeout,
        once: false,
        in_background: false,
        wakes: false,
        blocks_on_failure: group["onFailure"] == "block",
        status: None,
        from: "initialize".to_owned(),
    };
    Ok(ids.into_iter().map(hook).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_read_as_both_sdks_write_them() {
        let (hooks, remarks) = read(&json!({
            "PreToolUse": [
                {"matcher": null, "hookCallbackIds": ["hook_0", "hook_1"], "timeout": 1.5},
                {"matcher": "Bash|Edit", "hookCallbackIds": ["hook_2"], "onFailure": "block"},
            ],
            "Stop": [{"hookCallbackIds": ["hook_3"]}],
            "PreCompact": [{"hookCallbackIds": ["hook_4"]}],
            "Later": [{"hookCallbackIds": ["hook_5"]}],
            "Setup": [],
        }))
        .unwrap();
        let names: Vec<_> = hooks.iter().map(|hook| hook.name.as_str()).collect();
        assert_eq!(names, ["hook_0", "hook_1", "hook_2", "hook_3", "hook_4"]);
        assert_eq!(hooks[0].timeout, Some(Duration::from_millis(1500)));
        assert!(hooks[2].blocks_on_failure && hooks[2].matcher.matches(Some("Edit")));
        assert_eq!(remarks.len(), 2, "{remarks:?}");
        assert_eq!(read(&Value::Null).unwrap().0.len(), 0);
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for bad in [
            json!([]),
            json!({"Stop": {}}),
            json!({"Stop": [{"matcher": "(", "hookCallbackIds": []}]}),
            json!({"Stop": [{"matcher": 1}]}),
            json!({"Stop": [{"timeout": -1}]}),
            json!({"Stop": [{"hookCallbackIds": "hook_0"}]}),
        ] {
            assert!(read(&bad).is_err(), "{bad}");
        }
    }
}
