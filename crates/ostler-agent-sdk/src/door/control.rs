//! Requests of the host (agent-sdk.md 2.10, 2.11). Each is answered, at once.

use ostler_host::{COMPATIBILITY_VERSION, Thinking, core::Command};
use ostler_protocol::Mode;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Door, Open, Step};
use crate::{args, wire};

/// What a request gives: the payload, or why there is none.
type Reply = Result<Value, String>;

const NO_SERVERS: &str = "this version of Ostler does not connect to MCP servers";

impl<R, W, E> Door<R, W, E>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    E: AsyncWrite + Unpin,
{
    pub(super) async fn on_request(&mut self, frame: Value) -> Step {
        let id = frame["request_id"].as_str().unwrap_or_default().to_owned();
        let request = &frame["request"];
        if request["subtype"] == "initialize" {
            return self.initialize(&id, request).await;
        }
        self.begin().await?;
        let reply = self.reply(request).await;
        let answer = match reply {
            Ok(payload) => wire::success(&id, payload),
            Err(error) => wire::failure(&id, &error),
        };
        self.send(&answer).await?;
        if request["subtype"] == "end_session" { self.on_end().await } else { Ok(()) }
    }

    async fn initialize(&mut self, id: &str, request: &Value) -> Step {
        let is_first = self.open.is_none();
        let (hooks, remarks) = match super::hooks::read(&request["hooks"]) {
            Ok(hooks) => hooks,
            Err(why) => return self.send(&wire::failure(id, &why)).await,
        };
        if let Err(refusal) = self.plan.take_initialize(request) {
            self.send(&wire::failure(id, &refusal.text)).await?;
            // A host that goes on without what it asked for would be deceived.
            return if is_first { Err(self.refuse(refusal).await) } else { Ok(()) };
        }
        self.begin().await?;
        let Some(open) = &self.open else { return Ok(()) };
        if let Some(title) = request["title"].as_str().filter(|_| is_first && self.plan.is_new()) {
            open.session.handle.tell(Command::SetTitle(title.to_owned())).await;
        }
        let carries_hooks = !hooks.is_empty();
        // A second request replaces the hooks of the first.
        let applied = open.session.register_hooks(hooks, self.calls.host());
        let pending: Vec<_> = open.pending.iter().map(|pending| &pending.frame).collect();
        let mut payload = self.initialized(open);
        if carries_hooks {
            payload["hooks_applied"] = json!(applied);
        }
        let mut answer = wire::success(id, payload);
        answer["response"]["pending_permission_requests"] = json!(pending);
        answer["response"]["pending_user_dialog_requests"] = json!([]);
        for remark in remarks {
            self.tell(&remark).await?;
        }
        if carries_hooks && !applied {
            self.tell("the policy of this machine lets no hooks run but its own (`allowManagedHooksOnly`)").await?;
        }
        self.send(&answer).await
    }

    fn initialized(&self, open: &Open) -> Value {
        let (provider, model) = open.session.model();
        let known = json!({
            "value": "default",
            "displayName": model,
            "description": format!("{model} of {provider}"),
            "resolvedModel": model,
        });
        let models: Vec<_> = open.session.is_configured().then_some(known).into_iter().collect();
        json!({
            "commands": [],
            "agents": [],
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": models,
            "account": {"apiKeySource": self.api_key_source()},
            "claude_code_version": COMPATIBILITY_VERSION,
            "hook_on_failure_supported": true,
        })
    }

    async fn reply(&mut self, request: &Value) -> Reply {
        let subtype = request["subtype"].as_str().unwrap_or_default();
        let Some(open) = &self.open else { return Err("there is no session".to_owned()) };
        let text = |key: &str| request[key].as_str();
        match subtype {
            "interrupt" => Ok(interrupt(open, request["cancel_queued"] == true).await),
            "set_permission_mode" => self.set_mode(open, text("mode").unwrap_or_default()).await,
            "set_model" => {
                if !matches!(request["model"], Value::Null | Value::String(_)) {
                    return Err("`model` must be a string, or left out for the default".to_owned());
                }
                let model = text("model").filter(|model| !model.is_empty() && *model != "default");
                let done = open.session.change_model(&self.host, model).await;
                done.map(|()| json!({})).map_err(|error| error.message)
            }
            "apply_flag_settings" => {
                let keys = request["settings"].as_object().ok_or("`settings` must be an object")?;
                let done = open.session.apply_settings(&self.host, keys).await;
                done.map(|()| json!({})).map_err(|error| error.message)
            }
            "set_max_thinking_tokens" => set_thinking(open, request).await,
            "mcp_status" => Ok(json!({"mcpServers": self.server_states()})),
            "mcp_set_servers" => {
                let asked = request["servers"].as_object().into_iter().flatten();
                let errors: serde_json::Map<_, _> =
                    asked.map(|(name, _)| (name.clone(), json!(NO_SERVERS))).collect();
                Ok(json!({"added": [], "removed": [], "errors": errors}))
            }
            "rename_session" => {
                let other = text("session_id").is_some_and(|id| id != open.session.id.0);
                let title = text("title").filter(|title| !title.trim().is_empty() && !other);
                let title = title.ok_or("give this session a title that is not empty")?;
                open.session.handle.tell(Command::SetTitle(title.to_owned())).await;
                Ok(json!({}))
            }
            "cancel_async_message" => {
                let id = text("message_uuid").unwrap_or_default().to_owned();
                Ok(json!({"cancelled": open.session.handle.dequeue(id).await}))
            }
            "get_binary_version" => Ok(json!({"version": COMPATIBILITY_VERSION})),
            "stop_task" => {
                // The reference says yes to any id (agent-sdk.md 9).
                let (tasks, id) =
                    (open.session.tasks(), text("task_id").unwrap_or_default().to_owned());
                tokio::spawn(async move { tasks.stop(&id).await });
                Ok(json!({}))
            }
            "get_task_output" => task_output(open, text("task_id").unwrap_or_default()).await,
            "end_session" => Ok(json!({})),
            _ => Err(format!("this version of Ostler does not know the request `{subtype}`")),
        }
    }

    async fn set_mode(&self, open: &Open, name: &str) -> Reply {
        let mode =
            Mode::parse(name).ok_or_else(|| format!("there is no permission mode `{name}`"))?;
        self.check_mode(mode)?;
        open.session.set_mode(mode).await.map_err(|error| error.message)?;
        Ok(json!({"mode": mode.sdk_name()}))
    }

    fn server_states(&self) -> Vec<Value> {
        let servers = self.plan.failed_servers().into_iter();
        servers
            .map(|(name, status)| json!({"name": name, "status": status, "error": NO_SERVERS}))
            .collect()
    }
}

/// The newest 8 KiB that a task wrote (agent-sdk.md 2.11).
async fn task_output(open: &Open, id: &str) -> Reply {
    const NEWEST: u64 = 8 * 1024;
    let task = open.session.tasks().list().into_iter().find(|task| task.id == id);
    let task = task.ok_or_else(|| format!("there is no background task `{id}`"))?;
    let page = ostler_host::task_output(task, NEWEST, None).await.map_err(|error| error.message)?;
    Ok(json!({
        "output": page.text,
        "total_bytes": page.total,
        "truncated": page.offset > 0,
    }))
}

/// Stops the turn; with `cancel_queued` what waits is dropped too.
async fn interrupt(open: &Open, cancel_queued: bool) -> Value {
    if !cancel_queued {
        return json!({"still_queued": open.session.handle.interrupt(false).await});
    }
    let waiting = open.session.snapshot().await.map(|(_, snapshot)| snapshot.queue);
    let cancelled: Vec<_> = waiting.unwrap_or_default().into_iter().map(|item| item.id).collect();
    let still = open.session.handle.interrupt(true).await;
    json!({"still_queued": still, "cancelled": cancelled})
}

async fn set_thinking(open: &Open, request: &Value) -> Reply {
    let Some(tokens) = request.get("max_thinking_tokens") else { return Ok(json!({})) };
    let thinking: Option<Thinking> = match tokens {
        Value::Null => None,
        tokens => Some(
            args::budget(&tokens.to_string())
                .ok_or_else(|| format!("`max_thinking_tokens` must be a number, not {tokens}"))?,
        ),
    };
    open.session.set_thinking(thinking).await;
    Ok(json!({}))
}
