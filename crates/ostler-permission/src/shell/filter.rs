//! Filters of `jq` and `yq`: a language without effects, but for what loads further files or
//! runs a filter that is put together while it runs.

use super::word::Word;

/// Names that load, and beginnings of names that do.
const LOADS: &[&str] = &["import", "include", "modulemeta", "load*", "strload*", "system", "eval"];

/// Whether a filter may read files of its own; as the name of a field (`.include`) any word is
/// harmless.
pub(super) fn loads(filter: &Word) -> bool {
    let text = filter.text.as_deref().unwrap_or_default();
    let part = |c: char| c.is_alphanumeric() || c == '_';
    LOADS.iter().any(|name| {
        let (start, all) = match name.strip_suffix('*') {
            Some(start) => (start, false),
            None => (*name, true),
        };
        text.match_indices(start).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + start.len()..]);
            let begins = !before.ends_with(|c: char| part(c) || c == '.');
            let ends = !all || !after.starts_with(part);
            begins && ends
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_filters_that_name_no_further_file_are_read() {
        for (filter, want) in [
            (".", false),
            (".scripts | keys[]", false),
            ("{name, version: .include}", false),
            ("map(select(.loaded)) | .load", false),
            ("import \"c\" as $c; 1", true),
            ("\"c\" | modulemeta", true),
            ("load(\"/etc/passwd\")", true),
            ("load_str(\"x\")", true),
            ("1|strload(\"x\")", true),
            ("eval(.x)", true),
        ] {
            assert_eq!(loads(&Word::fixed(filter, filter)), want, "{filter}");
        }
    }
}
