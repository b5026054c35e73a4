//! The folder name of a project (agent-sdk.md 4.1), the same that the Agent SDKs compute.
//! It need not be unique: the project path in the records decides.

use std::path::Path;

/// Longest name before the rest is replaced by a hash, in UTF-16 units.
pub(crate) const LIMIT: usize = 200;

/// The folder name for a path: every UTF-16 unit that is not an ASCII letter or digit
/// becomes `-`; a name over 200 units is cut there and gets a base-36 hash of the path.
#[must_use]
pub fn slug(path: &Path) -> String {
    let text = path.to_string_lossy();
    let mut hash: i32 = 0;
    let mut units = 0;
    let mut name = String::with_capacity(text.len());
    for unit in text.encode_utf16() {
        hash = hash.wrapping_shl(5).wrapping_sub(hash).wrapping_add(i32::from(unit));
        let plain = u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
        units += 1;
        if units <= LIMIT {
            name.push(plain.map_or('-', char::from));
        }
    }
    if units > LIMIT {
        name.push('-');
        push_base36(&mut name, hash.unsigned_abs());
    }
    name
}

fn push_base36(out: &mut String, mut number: u32) {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    out.extend(digits.iter().rev());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_paths_give_the_names_that_both_sdks_give() {
        assert_eq!(slug(Path::new("/tmp/p/ünï_x.y")), "-tmp-p--n--x-y");
        let long = format!("/tmp/fake/{}", "a".repeat(220));
        let name = slug(Path::new(&long));
        assert_eq!(name, format!("-tmp-fake-{}-a66pal", "a".repeat(190)));
        // Outside the BMP: two units, two hyphens.
        assert_eq!(slug(Path::new("/x/\u{1F600}")), "-x---");
    }

    proptest! {
        #[test]
        fn a_name_is_plain_and_bounded(path in "/[\\PC]{0,260}") {
            let name = slug(Path::new(&path));
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
            let units = path.encode_utf16().count();
            if units <= LIMIT {
                prop_assert_eq!(name.len(), units);
            } else {
                prop_assert!(name.len() > LIMIT + 1 && name.len() <= LIMIT + 7);
                let plain = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
                let head: String = path
                    .encode_utf16()
                    .take(LIMIT)
                    .map(|unit| plain(unit).map_or('-', char::from))
                    .collect();
                prop_assert!(name.starts_with(&head));
            }
        }
    }
}
