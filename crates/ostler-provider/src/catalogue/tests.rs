//! What `catalogue` promises, held on examples.

use super::*;

fn check(text: &str, current: Option<&str>, usable: &[&str]) -> String {
    let own = ["mine".to_owned()];
    let usable = |id: &str| usable.contains(&id);
    match resolve(text, &Known { own: &own, usable: &usable, current }) {
        Ok(Choice::Model { provider, model, long_window }) => {
            format!("{provider} {model}{}", if long_window { " long" } else { "" })
        }
        Ok(Choice::Script { file }) => format!("script {file}"),
        Ok(Choice::Demo) => "demo".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_people_write_is_understood() {
    assert_eq!(check("scripted:demo", None, &[]), "demo");
    assert_eq!(check("scripted:a/b.json", None, &[]), "script a/b.json");
    assert_eq!(check("openai/gpt-9", None, &[]), "openai gpt-9");
    assert_eq!(check("mine/org/model:7b", None, &[]), "mine org/model:7b");
    assert_eq!(check("sonnet[1m]", None, &[]), "anthropic claude-sonnet-4-5 long");
    assert_eq!(check("default", Some("openai"), &[]), "openai gpt-4o");
    assert_eq!(check("default", None, &["deepseek"]), "deepseek deepseek-chat");
    assert_eq!(check("default", None, &[]), "anthropic claude-sonnet-4-5");
    assert_eq!(check("openai/default", None, &[]), "openai gpt-4o");
}

#[test]
fn a_bare_id_goes_to_who_has_it_and_a_key_else_to_the_session() {
    assert_eq!(check("gpt-4o", Some("anthropic"), &["openai"]), "openai gpt-4o");
    assert_eq!(check("gpt-4o", Some("anthropic"), &[]), "anthropic gpt-4o");
    assert_eq!(check("qwen3", Some("ollama"), &["openai"]), "ollama qwen3");
    // A slash alone makes no provider.
    assert_eq!(check("openai/gpt-4o", Some("openrouter"), &[]), "openai gpt-4o");
    assert_eq!(check("qwen/qwen3", Some("openrouter"), &[]), "openrouter qwen/qwen3");
    assert!(check("qwen3", None, &[]).contains("no provider for model `qwen3`"));
    assert!(check("default", Some("ollama"), &[]).contains("no default model"));
    assert!(check(" ", None, &[]).contains("no model is named"));
}

#[test]
fn dated_ids_are_known_and_others_have_unknown_limits() {
    assert_eq!(model_info("anthropic", "claude-sonnet-4-5-20250929").max_output, Some(64_000));
    assert_eq!(model_info("anthropic", "claude-opus-4-20250514").max_output, Some(32_000));
    assert_eq!(model_info("openai", "gpt-4o-2024-08-06").context_window, Some(128_000));
    assert_eq!(model_info("anthropic", "claude-99").context_window, None);
    assert_eq!(model_info("mine", "ü-2024-08-06").max_output, None);
}

#[test]
fn rows_agree_with_each_other() {
    for row in PROVIDERS {
        let upper = row.id.to_uppercase();
        assert_eq!(row.key_env[0], format!("{upper}_API_KEY"));
        assert_eq!(row.base_url_env, format!("{upper}_BASE_URL"));
        assert_eq!(row.base_url.ends_with("/v1"), row.wire == Wire::Chat, "{}", row.id);
        assert!(row.default_model.is_none_or(|id| model_row(row, id).is_some()));
        assert_eq!(row.needs_key, row.default_model.is_some());
    }
    for (_, id, model) in ALIASES {
        assert!(model_row(provider(id).unwrap(), model).is_some());
    }
}
