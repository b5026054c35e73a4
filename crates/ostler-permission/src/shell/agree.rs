//! The first reader: tree-sitter's list of commands, to compare with the second's.
//!
//! It knows nothing of meaning; it only says which words stand together. A script with an
//! error node has no list.

use std::cell::RefCell;

use tree_sitter::{Node, Parser};

use super::limits;

/// A command or redirection as the texts of its words.
pub(super) type Heard = Vec<String>;

thread_local! {
    // Making a parser costs more than a typical script; one per thread is kept.
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// Reads a script; the error says what is wrong with it.
pub(super) fn commands(script: &str) -> Result<Vec<Heard>, &'static str> {
    PARSER.with_borrow_mut(|slot| {
        let mut parser = match slot.take() {
            Some(parser) => parser,
            None => new_parser()?,
        };
        let tree = parser.parse(script, None);
        *slot = Some(parser);
        let tree = tree.ok_or("the script could not be read")?;
        let root = tree.root_node();
        if root.descendant_count() > limits::MAX_NODES {
            return Err("the script has too many parts");
        }
        if root.has_error() {
            return Err("the script is not well-formed for the shell grammar");
        }
        let mut heard = Vec::new();
        visit(root, script, 0, &mut heard)?;
        Ok(heard)
    })
}

fn new_parser() -> Result<Parser, &'static str> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .map_err(|_| "the shell grammar is of another version")?;
    Ok(parser)
}

fn visit(
    node: Node<'_>,
    script: &str,
    depth: usize,
    heard: &mut Vec<Heard>,
) -> Result<(), &'static str> {
    if depth > limits::MAX_DEPTH {
        return Err("the script is nested too deeply");
    }
    match node.kind() {
        "command" => heard.extend(command(node, script)),
        "test_command" if text(node, script).starts_with("[[") => heard.push(vec!["[[".into()]),
        "test_command" => heard.push(squeezed(text(node, script))),
        "declaration_command" | "unset_command" => heard.push(squeezed(text(node, script))),
        "variable_assignment" if is_counted(node) => {}
        "variable_assignment" if !is_declared(node) => {
            heard.push(vec!["=".into(), plain(text(node, script))]);
        }
        "file_redirect" => {
            let to = children(node, "destination").first().map(|to| plain(text(*to, script)));
            heard.push(vec![">".into(), to.unwrap_or_default()]);
        }
        "herestring_redirect" => {
            let word = node.child(node.child_count().saturating_sub(1));
            let word = word.map(|word| plain(text(word, script)));
            heard.push(vec!["<<<".into(), word.unwrap_or_default()]);
        }
        // The other reader hears what it stands for.
        "|&" => heard.push(vec![">".into(), "1".into()]),
        "heredoc_start" => heard.push(vec!["<<".into(), plain(text(node, script))]),
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        visit(child, script, depth + 1, heard)?;
    }
    Ok(())
}

/// The words of a simple command. The grammar counts words after a redirection to the
/// redirection; they are arguments.
fn command(node: Node<'_>, script: &str) -> Option<Heard> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut push = |node: Node<'_>| words.push((node.start_byte(), plain(text(node, script))));
    if let Some(name) = node.child_by_field_name("name") {
        push(name);
    }
    children(node, "argument").into_iter().for_each(&mut push);
    let mut redirects = children(node, "redirect");
    if let Some(parent) = node.parent().filter(|parent| parent.kind() == "redirected_statement") {
        redirects.extend(children(parent, "redirect"));
    }
    for redirect in redirects {
        match redirect.kind() {
            "file_redirect" => {
                children(redirect, "destination").into_iter().skip(1).for_each(&mut push);
            }
            _ => children(redirect, "argument").into_iter().for_each(&mut push),
        }
    }
    words.sort();
    let mut words: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
    // The other reader knows `time` as a word of the shell, not as a program.
    if words.first().is_some_and(|word| word == "time") {
        words.remove(0);
        if words.first().is_some_and(|word| word == "-p") {
            words.remove(0);
        }
    }
    (!words.is_empty()).then_some(words)
}

fn children<'tree>(node: Node<'tree>, field: &str) -> Vec<Node<'tree>> {
    let mut cursor = node.walk();
    node.children_by_field_name(field, &mut cursor).collect()
}

fn is_declared(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| parent.kind() == "declaration_command")
}

/// Whether it is arithmetic of `for ((i = 0; ...))`, which the other reader takes as a whole.
fn is_counted(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| parent.kind() == "c_style_for_statement")
}

fn text<'s>(node: Node<'_>, script: &'s str) -> &'s str {
    script.get(node.byte_range()).unwrap_or("")
}

/// A word as both readers can give it: continued lines joined, substitutions of processes
/// reduced to a mark (their commands are compared on their own).
pub(super) fn plain(word: &str) -> String {
    if word.starts_with("<(") || word.starts_with(">(") {
        return word[..2].to_owned();
    }
    word.replace("\\\n", "")
}

/// For constructs whose words one reader takes apart and the other does not.
pub(super) fn squeezed(text: &str) -> Heard {
    vec![plain(text).chars().filter(|c| !c.is_whitespace()).collect()]
}
