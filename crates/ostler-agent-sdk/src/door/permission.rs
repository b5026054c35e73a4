//! `can_use_tool`: the host decides about a call (agent-sdk.md 2.12).

use ostler_host::{Answer, AnswerSource, PermissionUpdate, core::event::AskedEvent};
use ostler_protocol::{Mode, RequestId};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Door, Step};
use crate::fit::MAX_LINE;

/// A request that waits for the host.
pub(super) struct Pending {
    pub(super) request_id: RequestId,
    args: Map<String, Value>,
    /// As it was sent, for a host that connects again.
    pub(super) frame: Value,
}

impl<R, W, E> Door<R, W, E>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    E: AsyncWrite + Unpin,
{
    /// Asks the host, unless it cannot answer any more.
    pub(super) async fn ask(&mut self, asked: &AskedEvent) -> Step {
        let frame = request(asked);
        let Some(open) = &mut self.open else { return Ok(()) };
        if self.input_ended {
            open.session.handle.answer(asked.request_id.clone(), gone()).await;
            return Ok(());
        }
        let line = frame.to_string();
        if line.len() > MAX_LINE {
            // The host gives the arguments back, so they cannot be cut.
            let message = format!(
                "The arguments of this call are too large to be shown for permission ({} bytes). Do it in smaller steps.",
                line.len()
            );
            open.session.handle.answer(asked.request_id.clone(), deny(message, false)).await;
            return Ok(());
        }
        open.pending.push(Pending {
            request_id: asked.request_id.clone(),
            args: asked.args.clone(),
            frame,
        });
        self.write(&[line]).await
    }

    /// Nobody can answer what is open any more.
    pub(super) async fn refuse_pending(&mut self) -> Step {
        let Some(open) = &self.open else { return Ok(()) };
        // Each is taken out of the list when its withdrawal comes.
        for pending in &open.pending {
            open.session.handle.answer(pending.request_id.clone(), gone()).await;
        }
        Ok(())
    }

    /// The host answers. Answers to what is no longer open are dropped.
    pub(super) async fn on_response(&mut self, response: &Value) -> Step {
        let Some(open) = &mut self.open else { return Ok(()) };
        let id = response["request_id"].as_str().unwrap_or_default();
        let Some(at) = open.pending.iter().position(|pending| pending.request_id.0 == id) else {
            return Ok(());
        };
        let pending = open.pending.remove(at);
        let session = std::sync::Arc::clone(&open.session);
        let decision = decision(response, &pending.args);
        let mut updates = Vec::new();
        let mut problems = Vec::new();
        for update in decision.updates {
            match self.update(update) {
                Ok(update) => updates.push(update),
                Err(problem) => problems.push(problem),
            }
        }
        // One that was withdrawn meanwhile changes nothing, and needs no word.
        let answered = session.answer_with(&pending.request_id, &updates, decision.answer).await;
        problems.extend(answered.unwrap_or_default());
        for problem in problems {
            self.tell(&format!("permission update left out: {problem}")).await?;
        }
        Ok(())
    }

    fn update(&self, update: Value) -> Result<PermissionUpdate, String> {
        let update: PermissionUpdate =
            serde_json::from_value(update).map_err(|error| error.to_string())?;
        if let PermissionUpdate::SetMode { mode, .. } = &update {
            self.check_mode(
                Mode::parse(mode).ok_or_else(|| format!("there is no mode `{mode}`"))?,
            )?;
        }
        Ok(update)
    }

    /// Whether the host may choose a mode: bypass only if the launch allowed it.
    pub(super) fn check_mode(&self, mode: Mode) -> Result<(), String> {
        if mode == Mode::BypassPermissions && !self.plan.may_bypass {
            return Err("Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions or --allow-dangerously-skip-permissions".to_owned());
        }
        Ok(())
    }
}

fn request(asked: &AskedEvent) -> Value {
    let question = &asked.question;
    let mut request = json!({
        "subtype": "can_use_tool",
        "tool_name": asked.tool_name,
        "display_name": asked.tool_name,
        "input": asked.args,
        "permission_suggestions": question.suggestions,
        "tool_use_id": asked.tool_call_id,
    });
    let mut put = |key: &str, value: Option<&String>| {
        if let Some(value) = value {
            request[key] = json!(value);
        }
    };
    put("title", Some(&question.title).filter(|title| !title.is_empty()));
    put("description", asked.args.get("description").and_then(as_string));
    put("decision_reason", question.reason.as_ref());
    put("decision_reason_type", question.reason_kind.as_ref());
    put("blocked_path", question.blocked_path.as_ref());
    let interaction = question.why.by == "interaction";
    let lasting = question.suggestions.iter().any(|update| update["type"] == "addRules");
    let safety = question.why.by == "safety";
    for (key, set, value) in [
        // The person answers on the tool's own card.
        ("requires_user_interaction", interaction, true),
        // No rule would answer the next call like this one.
        ("suppress_always_allow_rule", !interaction && !lasting, true),
        ("default_to_no", safety, true),
        ("classifier_approvable", safety, false),
    ] {
        if set {
            request[key] = json!(value);
        }
    }
    json!({"type": "control_request", "request_id": asked.request_id, "request": request})
}

fn as_string(value: &Value) -> Option<&String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// What the host's answer means.
struct Decision {
    answer: Answer,
    updates: Vec<Value>,
}

fn decision(response: &Value, args: &Map<String, Value>) -> Decision {
    let only = |answer| Decision { answer, updates: Vec::new() };
    let failed = |text: &str| only(deny(format!("Tool permission request failed: {text}"), false));
    if response["subtype"] != "success" {
        return failed(response["error"].as_str().unwrap_or("the host gave no reason"));
    }
    let body = &response["response"];
    match body["behavior"].as_str() {
        Some("allow") => {
            let updated_input = match &body["updatedInput"] {
                Value::Null => None,
                Value::Object(input) => (input != args).then(|| input.clone()),
                _ => return failed("`updatedInput` is not an object"),
            };
            let updates = body["updatedPermissions"].as_array().cloned().unwrap_or_default();
            let answer = Answer::Allow {
                updated_input,
                decision: "allow-once".to_owned(),
                edited_rule: None,
            };
            Decision { answer, updates }
        }
        Some("deny") => {
            let message = body["message"].as_str().unwrap_or_default().to_owned();
            only(deny(message, body["interrupt"] == true))
        }
        _ => failed("`behavior` is neither `allow` nor `deny`"),
    }
}

/// A denial; the model reads exactly the message, or the usual words if it is empty.
fn deny(message: String, interrupt: bool) -> Answer {
    Answer::Deny {
        message: Some(message).filter(|message| !message.is_empty()),
        reason: None,
        interrupt,
        source: AnswerSource::Person,
    }
}

fn gone() -> Answer {
    Answer::Deny { message: None, reason: None, interrupt: false, source: AnswerSource::Gone }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: Value) -> Decision {
        let args = Map::from_iter([("command".to_owned(), json!("ls"))]);
        decision(&json!({"subtype": "success", "request_id": "r", "response": body}), &args)
    }

    fn message(decision: Decision) -> Option<String> {
        match decision.answer {
            Answer::Deny { message, .. } => message,
            Answer::Allow { .. } => panic!("allowed"),
        }
    }

    #[test]
    fn input_that_is_absent_or_the_same_is_kept() {
        for body in [
            json!({"behavior": "allow"}),
            json!({"behavior": "allow", "updatedInput": {"command": "ls"}}),
        ] {
            let Answer::Allow { updated_input, .. } = answer(body).answer else { panic!("denied") };
            assert_eq!(updated_input, None);
        }
        let body = json!({"behavior": "allow", "updatedInput": {"command": "pwd"}});
        let Answer::Allow { updated_input, .. } = answer(body).answer else { panic!("denied") };
        assert_eq!(updated_input.unwrap()["command"], "pwd");
    }

    #[test]
    fn whatever_is_not_a_clear_yes_is_a_no() {
        assert_eq!(message(answer(json!({"behavior": "deny", "message": "no!"}))).unwrap(), "no!");
        assert_eq!(message(answer(json!({"behavior": "deny"}))), None);
        for body in [
            json!({}),
            json!(null),
            json!({"behavior": "maybe"}),
            json!({"behavior": "allow", "updatedInput": 1}),
        ] {
            assert!(message(answer(body)).unwrap().starts_with("Tool permission request failed: "));
        }
        let error = json!({"subtype": "error", "request_id": "r", "error": "boom"});
        assert_eq!(
            message(decision(&error, &Map::new())).unwrap(),
            "Tool permission request failed: boom"
        );
    }
}
