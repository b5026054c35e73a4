//! Properties: denying never loosens, and spelling never hides a denied program.

use ostler_protocol::Mode;
use proptest::{prelude::*, sample::select};

use super::{Case, expect_all};
use crate::{Behavior, RuleSource, Verdict};

const RULES: &[&str] = &[
    "Bash",
    "Bash(ls:*)",
    "Bash(git *)",
    "Bash(rm:*)",
    "Bash(npm run test)",
    "Read",
    "Read(.env)",
    "Read(./src/**)",
    "Read(//etc/**)",
    "Edit",
    "Edit(./src/**)",
    "Edit(~/x)",
    "WebFetch",
    "WebFetch(domain:a.b)",
    "mcp__s",
    "Agent(x)",
    "Write(*.md)",
    "Grep",
];

const COMMANDS: &[&str] = &[
    "ls",
    "ls -la src",
    "cat .env",
    "git status",
    "rm -rf x",
    "npm run test",
    "echo x > src/a",
    "cd src && ls",
    "$X",
    "ls | xargs rm",
    "grep -r a .",
    "cat *",
    "bash -c 'rm x'",
    "make",
];

fn case(index: usize, command: &str, mode: Mode) -> Case {
    let case = match index % 5 {
        0 => Case::bash(command),
        1 => Case::read("/p/src/a"),
        2 => Case::edit("/p/src/a.md"),
        3 => Case::grep("/p"),
        _ => Case::fetch("https://a.b/", "a.b"),
    };
    case.mode(mode)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn adding_a_deny_or_ask_rule_never_loosens(
        index in 0_usize..5,
        command in select(COMMANDS),
        mode in select(&Mode::ALL[..]),
        given in prop::collection::vec((select(RULES), 0_u8..3), 0..5),
        more in select(RULES),
        harder in any::<bool>(),
        alone in any::<bool>(),
    ) {
        let mut case = case(index, command, mode);
        if alone {
            case = case.alone();
        }
        for (rule, behavior) in given {
            let behavior = [Behavior::Allow, Behavior::Ask, Behavior::Deny][usize::from(behavior)];
            case.rules().add(behavior, rule, RuleSource::User).unwrap();
        }
        let before = case.verdict();
        let behavior = if harder { Behavior::Deny } else { Behavior::Ask };
        case.rules().add(behavior, more, RuleSource::Project).unwrap();
        prop_assert!(case.verdict() >= before, "{before:?} became {:?}", case.verdict());
    }

    #[test]
    fn adding_an_allow_rule_never_tightens(
        index in 0_usize..5,
        command in select(COMMANDS),
        mode in select(&Mode::ALL[..]),
        more in select(RULES),
    ) {
        let mut case = case(index, command, mode);
        let before = case.verdict();
        case.rules().add(Behavior::Allow, more, RuleSource::User).unwrap();
        prop_assert!(case.verdict() <= before);
    }

    #[test]
    fn any_text_is_judged_without_a_panic(text in "[ -~\n]{0,120}") {
        let judgement = Case::bash(&text).judge();
        for span in judgement.spans {
            prop_assert!(text.get(span.start as usize..span.end as usize).is_some());
        }
    }

    #[test]
    fn shell_like_text_is_judged_without_a_panic(
        parts in prop::collection::vec(select(&[
            "ls", "rm", " ", "$(", ")", "`", "\"", "'", "|", "&&", ";", "\n", "<<EOF\n", "EOF", "{", "}",
            "((", "))", "[[", "]]", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "$x",
            "${", "<(", ">", "<", "\\", "*", "é", "=", "a", "function", "!", "#", "&", "2>&1", "$'",
        ][..]), 0..24),
    ) {
        crate::fuzz_shell(parts.concat().as_bytes());
        crate::fuzz_rules(parts.concat().as_bytes());
    }
}

/// Ways to write one command; `@` is the command.
const WRAPPED: &[&str] = &[
    "@",
    "env @",
    "A=1 @",
    "timeout 9 @",
    "nohup @",
    "nice -n 1 @",
    "command @",
    "sudo @",
    "bash -c '@'",
    "xargs @",
    "frobnicate @",
    "eval '@'",
    "find . -exec @ ;",
    "time @",
];

/// Ways to put one command beside another; `@` is the command.
const JOINED: &[&str] = &[
    "@",
    "ls; @",
    "ls && @",
    "ls || @",
    "ls | @",
    "ls |& @",
    "ls & @",
    "ls\n@",
    "(@)",
    "{ @; }",
    "if ls; then @; fi",
    "if @; then ls; fi",
    "for i in 1; do @; done",
    "while @; do ls; done",
    "case a in a) @;; esac",
    "f() { @; }",
    "echo $(@)",
    "echo \"$(@)\"",
    "echo `@`",
    "cat <(@)",
    "! @",
    "ls # x\n@",
    "cat <<X\n$(@)\nX",
    "@ > /dev/null",
    "@ &",
    "echo ${x:-$(@)}",
    "[ -n \"$(@)\" ]",
    "x=$(@)",
    "ls > $(@)",
    "echo $(echo $(@))",
    "a=(1 $(@))",
    "ls \\\n; @",
];

/// Ways to spell a word.
fn spellings(word: &str) -> Vec<String> {
    let (head, tail) = word.split_at(1);
    vec![
        word.to_owned(),
        format!("\\{word}"),
        format!("\"{word}\""),
        format!("{head}\"{tail}\""),
        format!("{head}\\\n{tail}"),
        format!("/bin/{word}"),
        format!("./{word}"),
        format!("//usr//bin/{word}"),
        format!("$'{word}'"),
        format!("{head}${{x}}{tail}"),
    ]
}

#[test]
fn a_denied_command_runs_in_no_spelling() {
    let mut cases = Vec::new();
    let mut count = 0;
    for (rule, program, rest) in [
        ("Bash(rm:*)", "rm", "-rf x"),
        ("Bash(git push:*)", "git", "push -f"),
        ("Bash(curl *)", "curl", "x"),
    ] {
        for spelled in spellings(program) {
            for wrapped in WRAPPED {
                // An argument of a program that nobody knows, and not known itself, may be
                // anything; a rule on programs cannot speak of it.
                if wrapped.starts_with("frobnicate") && spelled.contains("${x}") {
                    continue;
                }
                let command = wrapped.replace('@', &format!("{spelled} {rest}"));
                for joined in JOINED {
                    let script = joined.replace('@', &command);
                    count += 1;
                    let judgement = Case::bash(&script)
                        .allow("Bash")
                        .deny(rule)
                        .mode(Mode::BypassPermissions)
                        .judge();
                    if judgement.verdict == Verdict::Allow {
                        cases.push((script, judgement, Verdict::Ask));
                    }
                }
            }
        }
    }
    assert!(count > 10_000);
    expect_all(cases);
}
