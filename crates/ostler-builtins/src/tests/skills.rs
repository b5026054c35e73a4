//! Skill: where skills are found, and what is shown of them.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use crate::{
    Gate,
    tests::bench::{Bench, text},
};

fn home_file(bench: &Bench, path: &str, content: &str) {
    let path = bench.root.parent().unwrap().join("home").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

#[tokio::test]
async fn the_nearest_skill_of_a_name_is_loaded() {
    let bench = Bench::new();
    home_file(&bench, ".claude/skills/pdf/SKILL.md", "from claude");
    assert!(bench.text("Skill", json!({ "skill": "pdf" })).await.contains("from claude"));
    home_file(&bench, ".ostler/skills/pdf/SKILL.md", "from home");
    assert!(bench.text("Skill", json!({ "skill": "/pdf" })).await.contains("from home"));
    bench.file(".agents/skills/pdf/SKILL.md", "---\nname: pdf\n---\nDo it to $ARGUMENTS.\n");
    bench.file(".agents/skills/pdf/scripts/run.py", "");
    bench.file(".agents/skills/pdf/forms.md", "");
    let output = bench.call("Skill", json!({ "name": "pdf", "args": "a.pdf" })).await.unwrap();
    let folder = bench.root.join(".agents/skills/pdf");
    assert_eq!(
        text(&output),
        format!(
            "Skill `pdf`; paths in it start at {folder}\n\nDo it to a.pdf.\n\nFiles beside it: forms.md, scripts/run.py"
        )
    );
    assert_eq!(output.structured["path"], folder.join("SKILL.md").to_text());
    home_file(&bench, ".claude/skills/plain/SKILL.md", "Do it.");
    let shown = bench.text("Skill", json!({ "skill": "plain", "args": "now" })).await;
    assert!(shown.ends_with("Do it.\n\nArguments: now"), "{shown}");
}

#[tokio::test]
async fn an_unknown_name_lists_those_that_are_there() {
    let bench = Bench::new();
    let said = bench.refused("Skill", json!({ "skill": "x" })).await;
    assert_eq!(said, "there is no skill `x`: there are none here");
    bench.file(".claude/skills/b/SKILL.md", "");
    home_file(&bench, ".claude/skills/a/SKILL.md", "");
    home_file(&bench, ".claude/skills/empty/other.md", "");
    for name in ["x", "../b", "a/b", ""] {
        let said = bench.refused("Skill", json!({ "skill": name })).await;
        assert!(said.ends_with("there are a, b"), "{said}");
    }
}

#[tokio::test]
async fn a_skill_of_the_person_alone_is_not_started() {
    let bench = Bench::new();
    bench.file(
        ".ostler/skills/deploy/SKILL.md",
        "---\ndisable-model-invocation: true\n---\nDeploy.",
    );
    let said = bench.refused("Skill", json!({ "skill": "deploy" })).await;
    assert!(said.starts_with("only the person starts"), "{said}");
}

#[tokio::test]
async fn a_skill_of_the_project_leads_nowhere_else() {
    let bench = Bench::new();
    let secret = bench.root.parent().unwrap().join("outside/secret");
    fs::write(&secret, "secret").unwrap();
    bench.file(".ostler/skills/leak/other.md", "");
    symlink(&secret, bench.root.join(".ostler/skills/leak/SKILL.md")).unwrap();
    let said = bench.refused("Skill", json!({ "skill": "leak" })).await;
    assert!(said.contains("leads out of the project"), "{said}");
}

#[tokio::test]
async fn what_may_not_be_read_is_not_loaded() {
    let bench = Bench::with(|hands| hands.gate = Gate::new(|_| Err("denied".to_owned())));
    bench.file(".ostler/skills/a/SKILL.md", "Do it.");
    assert_eq!(bench.refused("Skill", json!({ "skill": "a" })).await, "denied");
}
