//! TodoWrite: replaces the session's to-do list. Has no effect outside the session.

use ostler_protocol::{Access, Todo, TodoStatus};
use ostler_stdx::AbsPath;
use ostler_tool::{Change, Concurrency, TodoList, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::json;

use crate::args::list;

/// Items of a list.
const ITEMS: usize = 100;
/// Characters of an item's text.
const TEXT: usize = 500;

/// Replaces the to-do list.
#[derive(Debug)]
pub(crate) struct TodoWrite;

/// Arguments of TodoWrite.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The whole list, in the order of work; it replaces the one before.
    #[serde(deserialize_with = "todos")]
    todos: Vec<Item>,
}

/// One item.
#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    /// What is to be done, such as `Run the tests`.
    content: String,
    status: Status,
    /// The same while it is being done, such as `Running the tests`.
    #[serde(default, rename = "activeForm", alias = "active_form")]
    active_form: String,
    #[schemars(skip)]
    #[serde(default)]
    id: Option<String>,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    #[serde(alias = "in-progress")]
    InProgress,
    Completed,
}

/// The items; a list that makes no sense is refused before anyone is asked or told.
fn todos<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Item>, D::Error> {
    let items: Vec<Item> = list(from)?;
    if items.len() > ITEMS {
        let text = format!("todos has {} items, more than {ITEMS}: sum some up", items.len());
        return Err(D::Error::custom(text));
    }
    for (at, item) in items.iter().enumerate() {
        if item.content.trim().is_empty() {
            return Err(D::Error::custom(format!("todos[{at}].content is empty")));
        }
        if item.content.chars().count().max(item.active_form.chars().count()) > TEXT {
            return Err(D::Error::custom(format!(
                "todos[{at}] has a text of more than {TEXT} characters"
            )));
        }
    }
    Ok(items)
}

impl Tool for TodoWrite {
    const NAME: &'static str = "TodoWrite";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("todo_write.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, args: &Args) -> String {
        let done =
            args.todos.iter().filter(|item| matches!(item.status, Status::Completed)).count();
        format!("To-do list, {done} of {} done", args.todos.len())
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let new: Vec<Todo> = args.todos.into_iter().map(Todo::from).collect();
        let old = cx.state.get::<TodoList>().replace(new.clone());
        let open = new.iter().filter(|todo| todo.status != TodoStatus::Completed).count();
        let text = match (new.len(), open) {
            (0, _) => "the list is empty".to_owned(),
            (_, 0) => "the list is noted: all is done".to_owned(),
            (all, open) => format!("the list is noted: {open} of {all} are open"),
        };
        let structured = json!({ "oldTodos": old, "newTodos": new });
        Ok(ToolOutput::text(text, structured).with_change(Change::Todos(new)))
    }
}

impl From<Item> for Todo {
    fn from(item: Item) -> Self {
        let status = match item.status {
            Status::Pending => TodoStatus::Pending,
            Status::InProgress => TodoStatus::InProgress,
            Status::Completed => TodoStatus::Completed,
        };
        Self { content: item.content, status, active_form: item.active_form, id: item.id }
    }
}
