//! Random numbers that are the same everywhere: script `index` of seed `seed` is always the
//! same text, on every machine, so a miss is replayed by two numbers.

/// A generator of the SplitMix64 family.
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The generator of one script.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut rng = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ index);
        rng.next();
        rng.0 ^= index.rotate_left(32);
        rng
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    /// One of the items; there is at least one.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// True once in `of` times.
    pub(crate) fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_always_give_the_same_row() {
        let row = |seed, index| {
            let mut rng = Rng::new(seed, index);
            [rng.below(1000), rng.below(1000), rng.below(1000)]
        };
        assert_eq!(row(1, 7), row(1, 7));
        assert_ne!(row(1, 7), row(1, 8));
        assert_ne!(row(1, 7), row(2, 7));
    }
}
