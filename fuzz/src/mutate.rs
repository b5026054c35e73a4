//! Random inputs: changed, joined and made up from those of the corpus. The same seed gives the
//! same inputs on every machine, so a crash can be found again from what was printed.

/// Bytes at which parsers change their mind.
const TELLING: &[u8] = b"\0\n\r\t \"'\\{}[]()<>:;,.$`|&#=-+*/~\x7f\x80\xbf\xc3\xe2\xf0\xff";

/// The longest input.
const LONGEST: usize = 4096;

/// A source of inputs.
#[derive(Debug, Clone)]
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// A source that starts at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next random number (the `splitmix64` sequence).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or zero if there is none.
    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        if end == 0 {
            return 0;
        }
        usize::try_from(self.next() % end).unwrap_or_default()
    }

    fn byte(&mut self) -> u8 {
        if self.below(2) == 0 {
            return TELLING[self.below(TELLING.len())];
        }
        self.next().to_le_bytes()[0]
    }

    /// A new input, from those of the corpus.
    pub fn input(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus.get(self.below(corpus.len())).cloned().unwrap_or_default();
        for _ in 0..=self.below(6) {
            self.change(&mut input, corpus);
        }
        input.truncate(LONGEST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = at + self.below((input.len() - at).min(16) + 1);
        match self.below(7) {
            0 => input.insert(at, self.byte()),
            1 if at < input.len() => input[at] = self.byte(),
            2 if at < input.len() => input[at] ^= 1 << self.below(8),
            3 => drop(input.drain(at..end)),
            4 => {
                let again = input[at..end].repeat(1 + self.below(8));
                drop(input.splice(at..at, again));
            }
            5 => input.truncate(at),
            _ => {
                let other = corpus.get(self.below(corpus.len())).map_or(&[][..], Vec::as_slice);
                let from = self.below(other.len() + 1);
                drop(input.splice(at..end, other[from..].iter().copied()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_gives_the_same_inputs_and_another_seed_others() {
        let corpus = [b"some text".to_vec(), b"more".to_vec()];
        let take = |seed| {
            let mut mutator = Mutator::new(seed);
            (0..50).map(|_| mutator.input(&corpus)).collect::<Vec<_>>()
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
    }

    #[test]
    fn inputs_differ_and_stay_short_even_without_a_corpus() {
        let mut mutator = Mutator::new(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..500 {
            let input = mutator.input(&[]);
            assert!(input.len() <= LONGEST);
            seen.insert(input);
        }
        assert!(seen.len() > 100, "{}", seen.len());
    }
}
