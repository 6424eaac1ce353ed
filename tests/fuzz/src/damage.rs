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

    /// Changes, cuts or repeats a part, copies one from another seed, or replaces a value by another of its type.
    fn change(&mut self, data: &mut Vec<u8>) {
        let Self { seeds, rng } = self;
        if rng.random() {
            return replace_value(data, rng);
        }
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

/// Numbers at the edges of types, and beyond.
const NUMBERS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "2",
    "3",
    "1e308",
    "-1e-320",
    "nan",
    "0.5",
    "4294967296",
    "2147483647",
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551615",
    "0x0",
    "340282366920938463463374607431768211455",
];

/// Replaces a number or a name of a text by one of its kind: another one of the text, or a number at an edge.
fn replace_value(data: &mut Vec<u8>, rng: &mut impl Rng) {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-+".contains(&byte);
    let word_at = |data: &[u8], at: usize| {
        let begin = data[..at].iter().rposition(|&byte| !is_word(byte)).map_or(0, |before| before + 1);
        let end = data[at..].iter().position(|&byte| !is_word(byte)).map_or(data.len(), |after| at + after);
        begin..end
    };
    if data.is_empty() {
        return;
    }
    let word = word_at(data, rng.random_range(..data.len()));
    let is_number = |word: &[u8]| word.first().is_some_and(|first| !first.is_ascii_alphabetic());
    let numeric = is_number(&data[word.clone()]);
    let other = data[word_at(data, rng.random_range(..data.len()))].to_vec();
    let new = match numeric && rng.random() {
        true => NUMBERS[rng.random_range(..NUMBERS.len())].as_bytes().to_vec(),
        false if is_number(&other) == numeric => other,
        false => return,
    };
    data.splice(word, new);
}
