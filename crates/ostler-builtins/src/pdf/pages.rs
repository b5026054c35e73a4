//! Which pages: `3`, `1-5,8`.

use std::{collections::BTreeSet, fmt, str::FromStr};

/// Pages that one call may name.
pub(super) const MOST: usize = 20;

/// Numbers of pages, from 1; at least one, at most [`MOST`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pages(BTreeSet<u32>);

/// Why a text names no pages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPages {
    #[error("`{0}` in pages is no page or range: write them as in `1-5,8`")]
    Part(String),
    #[error("pages names more than {MOST} pages: read them in several calls")]
    Many,
}

impl FromStr for Pages {
    type Err = BadPages;

    fn from_str(text: &str) -> Result<Self, BadPages> {
        let mut pages = BTreeSet::new();
        for part in text.split(',').map(str::trim) {
            let bad = || BadPages::Part(part.chars().take(40).collect());
            let number = |text: &str| match text.trim().parse() {
                Ok(0) | Err(_) => Err(bad()),
                Ok(number) => Ok::<u32, BadPages>(number),
            };
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(bad());
            }
            if (last - first) as usize >= MOST {
                return Err(BadPages::Many);
            }
            pages.extend(first..=last);
            if pages.len() > MOST {
                return Err(BadPages::Many);
            }
        }
        Ok(Self(pages))
    }
}

impl Pages {
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&numbers.join(","))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pages_and_ranges_are_read() {
        let read = |text: &str| text.parse::<Pages>().map(|pages| pages.to_string());
        assert_eq!(read("3").as_deref(), Ok("3"));
        assert_eq!(read("8, 1-3,2").as_deref(), Ok("1,2,3,8"));
        assert_eq!(read("1-21"), Err(BadPages::Many));
        assert_eq!(read("1-20,30"), Err(BadPages::Many));
        assert_eq!(read("1-4294967295"), Err(BadPages::Many));
        for bad in ["", "0", "3-1", "a", "1-", "-1", "1,,2", "99999999999"] {
            assert!(matches!(read(bad), Err(BadPages::Part(_))), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(text in "[0-9,\\- ]{0,12}") {
            if let Ok(pages) = text.parse::<Pages>() {
                prop_assert!((1..=MOST).contains(&pages.iter().count()));
                prop_assert_eq!(pages.to_string().parse::<Pages>().unwrap(), pages);
            }
        }
    }
}
