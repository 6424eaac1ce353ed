//! Damaged copies of real inputs.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A sequence of damaged inputs, which depends on the seeds and a number only.
#[derive(Debug)]
pub struct Damage<'s> {
    seeds: &'s [Vec<u8>],
    rng: Xoshiro256PlusPlus,
}

impl<'s> Damage<'s> {
    /// The sequence with a number.
    ///
    /// # Panics
    /// Panics if there are no seeds.
    pub fn new(seeds: &'s [Vec<u8>], number: u64) -> Self {
        assert!(!seeds.is_empty(), "nothing to start from");
        Self { seeds, rng: Xoshiro256PlusPlus::seed_from_u64(number) }
    }

    /// The next input: a seed with one to five changes.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut data = self.seeds[self.rng.random_range(..self.seeds.len())].clone();
        for _ in 0..self.rng.random_range(1..6) {
            self.change(&mut data);
        }
        data
    }

    /// Changes, cuts or repeats a part, or copies one from another seed.
    fn change(&mut self, data: &mut Vec<u8>) {
        let Self { seeds, rng } = self;
        let part = |of: &[u8], rng: &mut dyn Rng| {
            let from = rng.random_range(..=of.len());
            from..of.len().min(from + rng.random_range(..32usize))
        };
        let at = part(data, rng);
        match rng.random_range(..4u8) {
            0 => data[at].iter_mut().for_each(|byte| *byte ^= 1 << rng.random_range(..8u32)),
            1 => drop(data.drain(at)),
            2 => {
                let copy = data[at.clone()].to_vec();
                data.splice(at.start..at.start, copy);
            }
            _ => {
                let other = &seeds[rng.random_range(..seeds.len())];
                data.splice(at, other[part(other, rng)].to_vec());
            }
        }
    }
}
