//! Tools that change only the session: to-dos, planned tasks, questions, modes.

use std::sync::Arc;

use ostler_protocol::{Mode, PlannedTask, TodoStatus};
use ostler_tool::{Change, PlanList, TodoList, ToolError};
use serde_json::{Value, json};

use crate::tests::bench::{Bench, object, text};

/// What is said about a call whose arguments are refused before anyone is asked.
fn unfit(bench: &Bench, tool: &str, args: Value) -> String {
    let tool = Arc::clone(bench.registry.get(tool).unwrap());
    tool.access(&object(args), &bench.root).unwrap_err().to_string()
}

#[tokio::test]
async fn a_new_list_replaces_the_old_one() {
    let bench = Bench::new();
    let first = json!([{ "content": "A", "status": "in_progress", "activeForm": "Doing A" }]);
    let output = bench.call("TodoWrite", json!({ "todos": first })).await.unwrap();
    assert_eq!(output.structured, json!({ "oldTodos": [], "newTodos": first }));
    // As other hosts and some models write it.
    let second = json!([{ "content": "A", "status": "completed", "id": "7" }]).to_string();
    let output = bench.call("TodoWrite", json!({ "todos": second })).await.unwrap();
    assert_eq!(output.structured["oldTodos"], first);
    assert_eq!(text(&output), "the list is noted: all is done");
    let list = bench.cx.state.get::<TodoList>().get();
    assert_eq!(list[0].status, TodoStatus::Completed);
    assert_eq!(list[0].id.as_deref(), Some("7"));
    assert_eq!(output.changes, [Change::Todos(list)]);
}

#[test]
fn a_list_that_makes_no_sense_is_refused() {
    let bench = Bench::new();
    let said = |todos: Value| unfit(&bench, "TodoWrite", json!({ "todos": todos }));
    assert!(
        said(json!([{ "content": " ", "status": "pending" }]))
            .contains("todos[0].content is empty")
    );
    assert!(said(json!([{ "content": "a", "status": "done" }])).contains("unknown variant `done`"));
    assert!(said(json!("[{")).contains("EOF"));
    assert!(
        said(json!(vec![json!({ "content": "a", "status": "pending" }); 101]))
            .contains("101 items")
    );
}

async fn plan(bench: &Bench, subjects: &[&str]) {
    for subject in subjects {
        bench.text("TaskCreate", json!({ "subject": subject, "description": "d" })).await;
    }
}

fn tasks(bench: &Bench) -> Vec<PlannedTask> {
    bench.cx.state.get::<PlanList>().get()
}

#[tokio::test]
async fn tasks_are_planned_done_and_deleted() {
    let bench = Bench::new();
    let args = json!({ "subject": "A", "description": "d", "activeForm": "Doing A", "metadata": { "k": 1 } });
    let output = bench.call("TaskCreate", args).await.unwrap();
    assert_eq!(output.structured, json!({ "task": { "id": "1", "subject": "A" } }));
    assert_eq!(output.changes, [Change::Plan(tasks(&bench))]);
    plan(&bench, &["B", "C"]).await;

    let args = json!({ "taskId": "1", "status": "in_progress", "owner": "me", "addBlocks": ["2"], "metadata": { "k": null, "l": 2 } });
    let output = bench.call("TaskUpdate", args).await.unwrap();
    let expected = json!({
        "success": true,
        "taskId": "1",
        "updatedFields": ["owner", "metadata", "status", "blocks"],
        "statusChange": { "from": "pending", "to": "in_progress" },
    });
    assert_eq!(output.structured, expected);
    assert_eq!(output.changes, [Change::Plan(tasks(&bench))]);
    assert_eq!(Value::Object(tasks(&bench)[0].metadata.clone()), json!({ "l": 2 }));

    let output = bench.call("TaskList", json!({})).await.unwrap();
    assert_eq!(text(&output), "1 [in_progress, me] A\n2 [pending, waits for 1] B\n3 [pending] C");
    assert_eq!(
        output.structured["tasks"][0],
        json!({ "id": "1", "subject": "A", "status": "in_progress", "blockedBy": [], "owner": "me" })
    );
    assert_eq!(output.structured["tasks"][1]["blockedBy"], json!(["1"]));
    let output = bench.call("TaskGet", json!({ "taskId": "1" })).await.unwrap();
    let expected = json!({ "task": {
        "id": "1", "subject": "A", "description": "d", "status": "in_progress", "blocks": ["2"], "blockedBy": [],
    } });
    assert_eq!(output.structured, expected);
    let output = bench.call("TaskGet", json!({ "taskId": "9" })).await.unwrap();
    assert_eq!(output.structured, json!({ "task": null }));

    bench.text("TaskUpdate", json!({ "taskId": "1", "status": "completed" })).await;
    let shown = bench.text("TaskList", json!({})).await;
    assert!(shown.contains("2 [pending] B"), "{shown}");
    let output =
        bench.call("TaskUpdate", json!({ "taskId": "3", "status": "deleted" })).await.unwrap();
    assert_eq!(output.structured["statusChange"], json!({ "from": "pending", "to": "deleted" }));
    // Its number is not used again.
    plan(&bench, &["D"]).await;
    assert_eq!(
        tasks(&bench).iter().map(|task| task.id.as_str()).collect::<Vec<_>>(),
        ["1", "2", "4"]
    );
}

#[tokio::test]
async fn an_update_is_done_whole_or_not_at_all() {
    let bench = Bench::new();
    plan(&bench, &["A", "B"]).await;
    bench.text("TaskUpdate", json!({ "taskId": "2", "addBlockedBy": ["1"] })).await;
    let before = tasks(&bench);
    let args = json!({ "taskId": "2", "status": "completed", "addBlocks": ["1"] });
    let error = bench.call("TaskUpdate", args).await.unwrap_err();
    let ToolError::Failed { text, structured } = error else { panic!("{error}") };
    assert!(text.contains("would wait for itself"), "{text}");
    assert_eq!(structured["success"], false);
    assert_eq!(tasks(&bench), before);
    for args in [
        json!({ "taskId": "9", "status": "completed" }),
        json!({ "taskId": "1", "addBlocks": ["9"] }),
        json!({ "taskId": "1", "subject": "two\nlines" }),
        json!({ "taskId": "1", "metadata": { "k": "x".repeat(5000) } }),
    ] {
        bench.refused("TaskUpdate", args).await;
        assert_eq!(tasks(&bench), before);
    }
}

#[tokio::test]
async fn numbers_go_on_after_a_resume() {
    let bench = Bench::new();
    let task = PlannedTask { id: "7".to_owned(), ..PlannedTask::default() };
    bench.cx.state.get::<PlanList>().change(|tasks| tasks.push(task));
    plan(&bench, &["next"]).await;
    assert_eq!(tasks(&bench)[1].id, "8");
}

fn question(options: usize) -> Value {
    let options: Vec<_> =
        (0..options).map(|at| json!({ "label": format!("o{at}"), "description": "d" })).collect();
    json!({ "question": format!("Q{}?", options.len()), "header": "h", "options": options, "multiSelect": false })
}

#[tokio::test]
async fn answers_are_given_to_the_model() {
    let bench = Bench::new();
    let questions = json!([question(2), question(3)]);
    let args =
        json!({ "questions": questions, "answers": { "Q2?": "o0, o1" }, "response": "be quick" });
    let output = bench.call("AskUserQuestion", args).await.unwrap();
    assert_eq!(
        text(&output),
        "The person answered:\n- Q2?: o0, o1\n- Q3?: (no answer)\nThey said besides: be quick"
    );
    let expected =
        json!({ "questions": questions, "answers": { "Q2?": "o0, o1" }, "response": "be quick" });
    assert_eq!(output.structured, expected);
    let said = bench.refused("AskUserQuestion", json!({ "questions": [question(2)] })).await;
    assert!(said.starts_with("nobody answered"), "{said}");
}

#[test]
fn questions_that_nobody_could_answer_are_refused_before_anyone_is_asked() {
    let bench = Bench::new();
    let said =
        |questions: Value| unfit(&bench, "AskUserQuestion", json!({ "questions": questions }));
    assert!(said(json!([])).contains("ask 1 to 4"));
    assert!(said(json!([question(2), question(2)])).contains("asks what another one asks"));
    assert!(said(json!([question(1)])).contains("has 1 options"));
    assert!(said(json!([question(5)])).contains("has 5 options"));
    let changed = |key: &str, value: Value| {
        let mut question = question(2);
        question[key] = value;
        json!([question])
    };
    assert!(said(changed("header", json!(""))).contains("header is empty"));
    assert!(said(changed("header", json!("h".repeat(31)))).contains("more than 30"));
    let twice = json!([{ "label": "a" }, { "label": "a" }]);
    assert!(said(changed("options", twice)).contains("that of another option"));
}

#[tokio::test]
async fn modes_change_by_what_the_call_says() {
    let bench = Bench::new();
    let output = bench.call("EnterPlanMode", json!({})).await.unwrap();
    assert_eq!(output.changes, [Change::Mode(Mode::Plan)]);
    assert!(output.structured["message"].is_string());
    let args =
        json!({ "plan": "# P", "allowedPrompts": [{ "tool": "Bash", "prompt": "run tests" }] });
    let output = bench.call("ExitPlanMode", args).await.unwrap();
    assert_eq!(output.changes, [Change::LeavePlan]);
    assert!(text(&output).ends_with("# P"));
    assert_eq!(output.structured["plan"], "# P");
    assert_eq!(output.structured["isAgent"], false);
    let output = bench.call("ExitPlanMode", json!({ "mode": "acceptEdits" })).await.unwrap();
    assert_eq!(output.changes, [Change::Mode(Mode::AcceptEdits)]);
    assert_eq!(output.structured["plan"], Value::Null);
    assert!(
        unfit(&bench, "ExitPlanMode", json!({ "mode": "bypassPermissions" }))
            .contains("unknown variant")
    );
}
