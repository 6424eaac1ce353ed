//! Damaged copies of real inputs.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

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

    /// Changes, cuts or repeats a part, copies one from another seed, or replaces a value by another of its
    /// type.
    fn change(&mut self, data: &mut Vec<u8>) {
        let Self { seeds, rng } = self;
        match rng.random_range(..4u8) {
            0 => return replace_typed(data, rng),
            1 | 2 => return replace_value(data, rng),
            _ => {}
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

/// Replaces one value of a TOML document, or of a JSON document, by another of its type or its range. The
/// document stays valid TOML or JSON. Any other text stays as it is.
fn replace_typed(data: &mut Vec<u8>, rng: &mut impl Rng) {
    let Ok(text) = str::from_utf8(data) else { return };
    // A line of records is a document of its own.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = if lines.len() > 1 { rng.random_range(..lines.len()) } else { 0 };
    if let Some(Ok(mut value)) = lines.get(at).map(|line| serde_json::from_str::<Value>(line)) {
        replace_part(&mut value, rng);
        let changed = format!("{value}{}", if lines.len() > 1 { "\n" } else { "" });
        *data = [lines[..at].concat(), changed, lines[at + 1..].concat()].concat().into_bytes();
    } else if let Ok(mut value) = serde_json::from_str::<Value>(text) {
        replace_part(&mut value, rng);
        *data = value.to_string().into_bytes();
    } else if let Ok(table) = text.parse::<toml::Table>()
        && let Ok(mut value) = serde_json::to_value(table)
    {
        replace_part(&mut value, rng);
        if let Ok(changed) = toml::to_string(&value) {
            *data = changed.into_bytes();
        }
    }
}

/// Replaces a part of a value, or the whole.
fn replace_part(value: &mut Value, rng: &mut impl Rng) {
    match value {
        Value::Object(fields) if !fields.is_empty() && rng.random_range(..16u8) > 0 => {
            let chosen = rng.random_range(..fields.len());
            let field = fields.iter_mut().nth(chosen).map(|(_, field)| field);
            replace_part(field.expect("one of them"), rng);
        }
        Value::Array(items) if !items.is_empty() && rng.random_range(..8u8) > 0 => {
            let chosen = rng.random_range(..items.len());
            replace_part(&mut items[chosen], rng);
        }
        Value::Object(fields) => {
            let chosen = rng.random_range(..fields.len().max(1));
            if let Some(key) = fields.keys().nth(chosen).cloned() {
                fields.remove(&key);
            }
        }
        Value::Array(items) => match items.first().cloned() {
            Some(first) if rng.random() => items.push(first),
            _ => items.clear(),
        },
        Value::Bool(truth) => *truth = !*truth,
        Value::String(text) => {
            *text = ["", "x", "\u{1b}[31m\n", "0x0", "../x.toml"][rng.random_range(..5usize)].into()
        }
        Value::Null => *value = Value::from(0),
        Value::Number(number) => {
            let float = number.is_f64() || rng.random_range(..4u8) == 0;
            let near = number.as_i64().unwrap_or(1);
            *value = match (float, rng.random_range(..10u8)) {
                (false, 0) => near.wrapping_add(1).into(),
                (false, 1) => near.wrapping_sub(1).into(),
                (false, 2) => near.wrapping_mul(2).into(),
                (false, other) => {
                    [0, 1, -1, i64::MAX, i64::MIN, 1 << 53, 1 << 20][usize::from(other) - 3].into()
                }
                (true, other) => [0.0, -0.0, 0.5, -1.0, 1e-300, 1e300, f64::MAX, f64::MIN_POSITIVE, 1e9, 3.0]
                    [usize::from(other)]
                .into(),
            };
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
