//! Version-4 UUIDs from a seed, so that pure code can name things and a test can repeat it.

/// Makes version-4 UUIDs from a 128-bit state (SplitMix64, twice a step).
///
/// Seeded from the operating system the ids are unique in practice; seeded by a
/// number they are the same on every run. They are names, never secrets.
#[derive(Debug, Clone)]
pub struct IdGen {
    state: [u64; 2],
}

impl IdGen {
    /// A generator seeded by the operating system.
    #[must_use]
    pub fn random() -> Self {
        let mut seed = [0u8; 16];
        if getrandom::fill(&mut seed).is_err() {
            // No entropy source: fall back to an address, which differs per process with ASLR.
            let here = std::ptr::from_ref(&seed).addr() as u64;
            return Self::seeded(here);
        }
        let (low, high) = seed.split_at(8);
        let word = |bytes: &[u8]| bytes.iter().fold(0u64, |acc, &b| acc << 8 | u64::from(b));
        Self { state: [word(low), word(high)] }
    }

    /// A generator whose ids depend on `seed` alone.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { state: [seed, seed ^ 0x9e37_79b9_7f4a_7c15] }
    }

    /// The next version-4 UUID in its usual text form.
    pub fn uuid(&mut self) -> String {
        let high = self.next(0) & 0xffff_ffff_ffff_0fff | 0x4000;
        let low = self.next(1) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    fn next(&mut self, half: usize) -> u64 {
        self.state[half] = self.state[half].wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state[half];
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_4_and_repeat_with_the_seed() {
        let mut ids = IdGen::seeded(7);
        let first = ids.uuid();
        assert_eq!(first.len(), 36);
        assert_eq!(first.as_bytes()[14], b'4');
        assert!(matches!(first.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
        assert_ne!(first, ids.uuid());
        assert_eq!(first, IdGen::seeded(7).uuid());
        assert_ne!(IdGen::random().uuid(), IdGen::random().uuid());
    }
}
