//! The corpus: script `index` of seed `seed`. Four kinds take turns: the product of harmful
//! commands, connectors, prefixes and spellings; everyday lines that were tampered with;
//! options put into harmless commands; and nests of everything.

mod nest;
mod options;
mod product;
mod tamper;

use crate::everyday::Everyday;
use crate::rng::Rng;

/// How a script came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A harmful command where the shell runs it: always a question.
    Product,
    /// An everyday line with something put into it.
    Tampered,
    /// A harmless command with options that somebody chose at random.
    Options,
    /// Commands within commands.
    Nest,
}

impl Kind {
    /// Its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Product => "harmful commands",
            Self::Tampered => "tampered everyday lines",
            Self::Options => "random options",
            Self::Nest => "nested commands",
        }
    }
}

/// One script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) text: String,
    pub(crate) kind: Kind,
}

/// The script of two numbers.
pub(crate) fn script(everyday: &Everyday, seed: u64, index: u64) -> Script {
    let mut rng = Rng::new(seed, index);
    let (kind, text) = match index % 4 {
        0 => (Kind::Product, product::script(seed.wrapping_add(index / 4))),
        1 => (Kind::Tampered, tamper::script(everyday, &mut rng)),
        2 => (Kind::Options, options::script(&mut rng)),
        _ => (Kind::Nest, nest::script(everyday, &mut rng)),
    };
    Script { text, kind }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_scripts() {
        let everyday = Everyday::read();
        for index in 0..400 {
            assert_eq!(script(&everyday, 3, index), script(&everyday, 3, index));
        }
    }

    #[test]
    fn scripts_differ_from_each_other() {
        let everyday = Everyday::read();
        let all: HashSet<String> =
            (0..4000).map(|index| script(&everyday, 1, index).text).collect();
        assert!(all.len() > 3700, "{} of 4000 are different", all.len());
    }
}
