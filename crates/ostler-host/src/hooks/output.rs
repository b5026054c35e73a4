//! Another output in the place of a tool's (`updatedToolOutput`): a text, or an object of
//! the tool's own shape. What does not fit is left out; front ends rely on the shape.

use ostler_protocol::Block;
use ostler_tool::ToolOutput;
use serde_json::{Map, Value};

/// Puts the output of a hook in the place of the tool's.
///
/// # Errors
/// Why it does not fit; the output is as it was then.
pub(super) fn replace(output: &mut ToolOutput, new: Value) -> Result<(), String> {
    match (new, &output.structured) {
        (Value::String(text), _) => {
            output.content = vec![Block::text(text.clone())];
            if let Some(fields) = output.structured.as_object_mut() {
                // What front ends show of it is no other than what the model reads.
                retell(fields, &text);
            } else {
                output.structured = Value::String(text);
            }
            Ok(())
        }
        (Value::Object(new), Value::Object(old)) => {
            if let Some(key) = new.keys().find(|key| !old.contains_key(*key)) {
                return Err(format!("the tool's output has no `{key}`"));
            }
            let mut all = old.clone();
            all.extend(new);
            output.content = vec![Block::text(words(&all))];
            output.structured = Value::Object(all);
            Ok(())
        }
        (Value::Object(_), _) => Err("the tool's output is no object".to_owned()),
        _ => Err("it must be a text or an object of the tool's output".to_owned()),
    }
}

/// Texts that tools' outputs have, the main one first.
const TEXTS: &[&str] = &["stdout", "content", "text", "result", "output"];

fn retell(fields: &mut Map<String, Value>, text: &str) {
    for (name, value) in fields.iter_mut() {
        if name == "stderr" && value.is_string() {
            *value = Value::String(String::new());
        }
    }
    let main = TEXTS.iter().find(|name| fields.get(**name).is_some_and(Value::is_string));
    if let Some(name) = main {
        fields.insert((*name).to_owned(), Value::String(text.to_owned()));
    }
}

/// What the model reads of an output object.
fn words(fields: &Map<String, Value>) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let main = TEXTS.iter().find(|name| fields.get(**name).is_some_and(Value::is_string));
    match main {
        Some(name) => {
            let parts = [text(name), text("stderr")];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
        }
        None => Value::Object(fields.clone()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(new: Value) -> (Result<(), String>, String, Value) {
        let old = json!({"stdout": "secret", "stderr": "warning", "interrupted": false});
        let mut output = ToolOutput::text("secret\nwarning", old);
        let done = replace(&mut output, new);
        let text = output.content.iter().map(|block| match block {
            Block::Text { text } => text.clone(),
            other => format!("{other:?}"),
        });
        (done, text.collect(), output.structured)
    }

    #[test]
    fn a_text_or_an_object_of_the_same_shape_takes_its_place() {
        let (done, text, structured) = shown(json!("[hidden]"));
        assert_eq!((done, text.as_str()), (Ok(()), "[hidden]"));
        assert_eq!(structured, json!({"stdout": "[hidden]", "stderr": "", "interrupted": false}));
        let (done, text, structured) = shown(json!({"stdout": "x"}));
        assert_eq!((done, text.as_str()), (Ok(()), "x\nwarning"));
        assert_eq!(structured["interrupted"], false);
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        for new in [json!({"files": []}), json!(1), json!([1])] {
            let (done, text, structured) = shown(new);
            assert!(done.is_err());
            assert_eq!(
                (text.as_str(), &structured["stdout"]),
                ("secret\nwarning", &json!("secret"))
            );
        }
    }
}
