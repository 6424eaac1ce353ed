//! The initial data of a program.

use b512_asm::{Claim, Image, Program, Role, Segment, Symbol};
use diagnostic::counted;
use golden::Range;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sim::functional::{AccessError, Executor};
use std::collections::BTreeMap;
use thiserror::Error;

/// Input data that does not fit the program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InputError {
    /// Data for an unknown input.
    #[error("unknown input `{name}`; the program has: {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The program's inputs.
        known: Vec<String>,
    },
    /// Data whose length differs from the symbol's.
    #[error("input `{name}` takes {}, but the data has {given}", counted(*words, "coefficient", "coefficients"))]
    Length {
        /// The input.
        name: String,
        /// Its length.
        words: usize,
        /// The number of coefficients given.
        given: usize,
    },
    /// A value that is not reduced.
    #[error(
        "coefficient {index} of input `{name}` is {value:#x}, which is not below the modulus {modulus:#x}"
    )]
    NotReduced {
        /// The input.
        name: String,
        /// The index of the first such coefficient.
        index: usize,
        /// Its value.
        value: u128,
        /// The modulus.
        modulus: u128,
    },
    /// An input that cannot be drawn at random.
    #[error(
        "input `{name}` cannot be drawn: the program has several moduli and no claim says which one is \
         its own"
    )]
    NoModulus {
        /// The input.
        name: String,
    },
    /// The simulator refuses the words.
    #[error(transparent)]
    Access(#[from] AccessError),
}

/// Draws `n` residues of `modulus`.
///
/// The source is SplitMix64 with the state `seed + operand`; `operand` counts the inputs of a program from 0,
/// in the order of their declaration. Each residue consumes two outputs, `hi` and `lo`: it is `(hi * 2^64 +
/// lo) mod modulus` for a modulus of more than 64 bits, and `lo mod modulus` otherwise.
pub fn draw(seed: u64, operand: u64, n: usize, modulus: u128) -> Vec<u128> {
    let mut source = SplitMix64::from_seed(seed.wrapping_add(operand).to_le_bytes());
    let wide = modulus > u128::from(u64::MAX);
    let mut residue = || {
        let (hi, lo) = (u128::from(source.next_u64()), u128::from(source.next_u64()));
        if wide { (hi << 64 | lo) % modulus } else { lo % modulus }
    };
    (0..n).map(|_| residue()).collect()
}

/// The modulus of an input's words: the smallest in a claim about it, or the program's only one.
pub fn modulus_of_input(program: &Program, name: &str) -> Option<u128> {
    let of_input = |claim: &&Claim| claim.inputs.iter().any(|input| input == name);
    let claims = program.claims.iter().filter(of_input);
    claims.filter_map(|claim| golden::modulus(claim).ok()).min().or_else(|| program.only_modulus())
}

/// The inputs that came from a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drawn {
    /// None.
    None,
    /// Some, not all.
    Some,
    /// All.
    All,
}

/// The inputs of a program.
fn inputs(program: &Program) -> impl Iterator<Item = &Symbol> {
    program.symbols.iter().filter(|symbol| symbol.role == Role::Input)
}

/// The inputs of a program that get random words if none are given.
pub fn drawn(program: &Program) -> impl Iterator<Item = &Symbol> {
    inputs(program).filter(|symbol| !has_words(program.image(symbol.space), symbol))
}

/// Checks the words for an input: the program has it, it has as many words, and they are in its range.
///
/// # Errors
/// Returns the first fault.
pub fn check(program: &Program, name: &str, words: &[u128]) -> Result<(), InputError> {
    let symbol = inputs(program).find(|symbol| symbol.name == name).ok_or_else(|| {
        let known = inputs(program).map(|input| input.name.clone()).collect();
        InputError::Unknown { name: name.to_owned(), known }
    })?;
    let name = || symbol.name.clone();
    if words.len() != symbol.words as usize {
        return Err(InputError::Length { name: name(), words: symbol.words as usize, given: words.len() });
    }
    let modulus = modulus_of_input(program, &symbol.name);
    let Some(modulus) = modulus.filter(|_| !may_have_any_words(program, &symbol.name)) else { return Ok(()) };
    match words.iter().position(|&word| word >= modulus) {
        Some(index) => Err(InputError::NotReduced { name: name(), index, value: words[index], modulus }),
        None => Ok(()),
    }
}

/// Writes every input of the program: the `given` words, the words of the image, or words drawn from
/// `seed`.
pub(super) fn write(
    executor: &mut Executor,
    program: &Program,
    given: &BTreeMap<String, Vec<u128>>,
    seed: u64,
) -> Result<Drawn, InputError> {
    for (name, words) in given {
        check(program, name, words)?;
    }
    let mut drawn = 0;
    for (operand, symbol) in (0..).zip(inputs(program)) {
        if let Some(words) = given.get(&symbol.name) {
            executor.write(&symbol.name, words)?;
        } else if !has_words(program.image(symbol.space), symbol) {
            let modulus = modulus_of_input(program, &symbol.name)
                .ok_or_else(|| InputError::NoModulus { name: symbol.name.clone() })?;
            executor.write(&symbol.name, &draw(seed, operand, symbol.words as usize, modulus))?;
            drawn += 1;
        }
    }
    Ok(match inputs(program).count() - drawn {
        0 => Drawn::All,
        _ if drawn > 0 => Drawn::Some,
        _ => Drawn::None,
    })
}

/// Writes random words to every input that has a modulus, even if the image has words for it.
pub(super) fn write_random(
    executor: &mut Executor,
    program: &Program,
    seed: u64,
) -> Result<Drawn, InputError> {
    for (operand, symbol) in (0..).zip(inputs(program)) {
        if let Some(modulus) = modulus_of_input(program, &symbol.name) {
            executor.write(&symbol.name, &draw(seed, operand, symbol.words as usize, modulus))?;
        }
    }
    Ok(Drawn::All)
}

/// Whether every claim about an input accepts words that are not below the modulus.
fn may_have_any_words(program: &Program, name: &str) -> bool {
    let of_claim = |claim: &Claim| {
        let operands = golden::operands(claim).unwrap_or_default();
        let own = claim.inputs.iter().zip(operands).filter(|(input, _)| *input == name);
        own.map(|(_, operand)| operand.range).collect::<Vec<_>>()
    };
    let ranges: Vec<Range> = program.claims.iter().flat_map(of_claim).collect();
    !ranges.is_empty() && ranges.iter().all(|range| *range == Range::Word)
}

/// Whether an image has words of a symbol.
fn has_words(image: &Image, symbol: &Symbol) -> bool {
    let end = symbol.start + symbol.words;
    image.segments.iter().any(|segment: &Segment| segment.start < end && segment.end() > symbol.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published values: the first outputs of SplitMix64 from state 0.
    #[test]
    fn the_source_is_split_mix_64() {
        assert_eq!(draw(0, 0, 1, u128::from(u64::MAX)), [0x6e78_9e6a_a1b9_65f4]);
        let wide = draw(0, 0, 1, u128::MAX);
        assert_eq!(wide, [0xe220_a839_7b1d_cdaf_6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn residues_are_below_the_modulus_and_operands_differ() {
        let (a, b) = (draw(7, 0, 100, 97), draw(7, 1, 100, 97));
        assert!(a.iter().chain(&b).all(|&residue| residue < 97));
        assert_ne!(a, b);
        assert_eq!(a, draw(7, 0, 100, 97));
    }
}
