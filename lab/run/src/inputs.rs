//! The initial data of a program.

use b512_asm::{Image, Instr, Program, Role, Segment, Symbol};
use diagnostic::counted;
use golden::Range;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sim::functional::{AccessError, Executor};
use std::collections::{BTreeMap, BTreeSet};
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

/// A claim's range of an input, and its modulus.
type Claimed = (Range, u128);

/// What the claims of a program say of an input, each with its index.
fn claimed<'p>(program: &'p Program, name: &'p str) -> impl Iterator<Item = (usize, Claimed)> + 'p {
    let about = program
        .claims
        .iter()
        .enumerate()
        .filter(move |(_, claim)| claim.inputs.iter().any(|input| input == name));
    about.flat_map(move |(index, claim)| {
        let ranges = golden::ranges(claim).unwrap_or_default();
        let own = claim.inputs.iter().zip(ranges).filter(move |(input, _)| *input == name);
        own.filter_map(move |(_, range)| Some((index, (range, golden::modulus(claim).ok()?))))
    })
}

/// The modulus below which all claims allow the words of an input; `None` if they allow any words, or no
/// claim names the input and the program has several moduli.
fn bound(program: &Program, name: &str) -> Option<u128> {
    let mut all = claimed(program, name).map(|(_, claimed)| claimed).peekable();
    if all.peek().is_none() {
        return program.only_modulus();
    }
    all.filter(|(range, _)| *range == Range::Residue).map(|(_, modulus)| modulus).min()
}

/// The modulus of the words that a seed gives an input: its [`bound`], else the smallest in a claim about it,
/// else the smallest of the program; `None` without any.
fn modulus_of_input(program: &Program, name: &str) -> Option<u128> {
    let claimed = || claimed(program, name).map(|(_, (_, modulus))| modulus).min();
    bound(program, name).or_else(claimed).or_else(|| moduli(program).min())
}

/// The moduli of a program: at launch, and loaded from its image.
pub(crate) fn moduli(program: &Program) -> impl Iterator<Item = u128> + '_ {
    let loaded = program.instructions.iter().filter_map(|instr| {
        let Instr::Mload { offset, .. } = instr else { return None };
        Some(program.sdm.word(offset.words()))
    });
    program.moduli.iter().map(|&(_, modulus)| modulus).chain(loaded).filter(|&modulus| modulus > 0)
}

/// The data of a random run: whose domain they cover.
///
/// All claims of a program may name one input. What all of them allow is the domain of the first run. A claim
/// that allows more has a run of its own, as no claim narrows the data of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// What all claims allow; of inputs that no claim names, words below all moduli.
    All,
    /// What one claim allows for its operands.
    Claim(usize),
    /// Any words for inputs that no claim names.
    Unclaimed,
}

/// The largest word of an input in a domain; in that of all claims if the domain says nothing of it.
pub(crate) fn largest(program: &Program, symbol: &Symbol, any_word: bool, domain: Domain) -> u128 {
    let max = program.isa.max_word();
    let of = |(_, (range, modulus)): (usize, Claimed)| match range {
        Range::Word if any_word => max,
        Range::Word | Range::Residue => modulus - 1,
    };
    let all = claimed(program, &symbol.name);
    let own = match domain {
        Domain::Claim(number) => all.filter(|(claim, _)| *claim == number).map(of).min(),
        Domain::Unclaimed if claimed(program, &symbol.name).next().is_none() => Some(max),
        Domain::Unclaimed | Domain::All => None,
    };
    own.or_else(|| claimed(program, &symbol.name).map(of).min())
        .or_else(|| moduli(program).min().map(|modulus| modulus - 1))
        .unwrap_or(max)
        .min(max)
}

/// The domains that random runs of a program cover: that of all claims, and each that goes beyond it.
/// `any_word` says whether the machine takes any word where a claim does.
pub(crate) fn domains(program: &Program, any_word: bool) -> Vec<Domain> {
    let is_wider = |symbol: &Symbol, domain| {
        largest(program, symbol, any_word, domain) > largest(program, symbol, any_word, Domain::All)
    };
    let mut domains = vec![Domain::All];
    for (number, claim) in program.claims.iter().enumerate() {
        let mut own = claim.inputs.iter().filter_map(|name| program.symbol(name));
        if own.any(|symbol| is_wider(symbol, Domain::Claim(number))) {
            domains.push(Domain::Claim(number));
        }
    }
    if inputs(program).any(|symbol| is_wider(symbol, Domain::Unclaimed)) {
        domains.push(Domain::Unclaimed);
    }
    domains
}

/// Draws words up to `largest`, of which half are at an edge: 0, 1, the largest ones, and those around
/// multiples of `moduli`.
fn draw_with_edges(seed: u64, operand: u64, n: usize, largest: u128, moduli: &[u128]) -> Vec<u128> {
    let around = moduli.iter().flat_map(|&modulus| {
        let twice = modulus.saturating_mul(2);
        [modulus / 2, modulus / 2 + 1, modulus - 1, modulus, modulus.saturating_add(1), twice - 1, twice]
    });
    let mut edges: Vec<u128> =
        [0, 1, largest / 2, largest.saturating_sub(1), largest].into_iter().chain(around).collect();
    edges.retain(|&edge| edge <= largest);
    edges.sort_unstable();
    edges.dedup();
    let mut source = SplitMix64::from_seed(seed.wrapping_add(operand).to_le_bytes());
    let mut word = || {
        let (choice, hi, lo) = (source.next_u64(), source.next_u64(), source.next_u64());
        if choice.is_multiple_of(2) {
            return edges[(choice / 2 % edges.len() as u64) as usize];
        }
        let random = u128::from(hi) << 64 | u128::from(lo);
        largest.checked_add(1).map_or(random, |count| random % count)
    };
    (0..n).map(|_| word()).collect()
}

/// The inputs of a program.
pub(crate) fn inputs(program: &Program) -> impl Iterator<Item = &Symbol> {
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
    let Some(modulus) = bound(program, &symbol.name) else { return Ok(()) };
    match words.iter().position(|&word| word >= modulus) {
        Some(index) => Err(InputError::NotReduced { name: name(), index, value: words[index], modulus }),
        None => Ok(()),
    }
}

/// Writes every input of the program: the `given` words, the words of the image, or words drawn from
/// `seed`. Returns whether any words were drawn.
pub(super) fn write(
    executor: &mut Executor,
    program: &Program,
    given: &BTreeMap<String, Vec<u128>>,
    seed: u64,
) -> Result<bool, InputError> {
    for (name, words) in given {
        check(program, name, words)?;
    }
    let mut is_drawn = false;
    for (operand, symbol) in (0..).zip(inputs(program)) {
        if let Some(words) = given.get(&symbol.name) {
            executor.write(&symbol.name, words)?;
        } else if !has_words(program.image(symbol.space), symbol) {
            // Without a modulus, all words below the largest.
            let modulus = modulus_of_input(program, &symbol.name).unwrap_or(program.isa.max_word());
            executor.write(&symbol.name, &draw(seed, operand, symbol.words as usize, modulus))?;
            is_drawn = true;
        }
    }
    Ok(is_drawn)
}

/// Writes random words of a domain to every input, even if the image has words for it.
pub(super) fn write_random(
    executor: &mut Executor,
    program: &Program,
    seed: u64,
    any_word: bool,
    domain: Domain,
) -> Result<(), InputError> {
    let all: BTreeSet<u128> = moduli(program).collect();
    for (operand, symbol) in (0..).zip(inputs(program)) {
        let mut own: BTreeSet<u128> =
            claimed(program, &symbol.name).map(|(_, (_, modulus))| modulus).collect();
        own.extend(all.iter().take(MAX_MODULI));
        let own: Vec<u128> = own.into_iter().collect();
        let largest = largest(program, symbol, any_word, domain);
        let words = draw_with_edges(seed, operand, symbol.words as usize, largest, &own);
        executor.write(&symbol.name, &words)?;
    }
    Ok(())
}

/// The largest number of a program's other moduli whose multiples are edges.
const MAX_MODULI: usize = 8;

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

    fn program(lines: &str) -> Program {
        let head = ".input x, 512, at 0x0\n.input u, 512, at 0x400\n.output y, 512, at 0x200\n.output s, 512, at 0x600\n";
        b512_asm::assemble(&format!("{head}{lines}halt\n")).unwrap()
    }

    #[test]
    fn every_domain_beyond_that_of_all_claims_is_drawn() {
        let claims = ".computes y = muls(x), n=512, modulus=0x3001, by=49\n\
                      .computes s = add(x, x), n=512, modulus=0xfffffffffffc001\n";
        let moduli = ".modulus m0, 0xfffffffffffc001\n.modulus m1, 0x3001\n";
        let both = program(&format!("{claims}{moduli}"));
        let (max, small, large) = (both.isa.max_word(), 0x3000, 0xfff_ffff_ffff_c000);
        let largest = |program: &Program, name: &str, any_word, domain| {
            super::largest(program, program.symbol(name).unwrap(), any_word, domain)
        };
        for (any_word, wider, [all, first, second]) in
            [(true, Domain::Claim(0), [large, max, large]), (false, Domain::Claim(1), [small, small, large])]
        {
            assert_eq!(domains(&both, any_word), [Domain::All, wider, Domain::Unclaimed]);
            let of_x = |domain| largest(&both, "x", any_word, domain);
            assert_eq!(of_x(Domain::All), all);
            assert_eq!([of_x(Domain::Claim(0)), of_x(Domain::Claim(1))], [first, second]);
            assert_eq!(of_x(Domain::Unclaimed), all);
            let of_u = |domain| largest(&both, "u", any_word, domain);
            assert_eq!([of_u(Domain::All), of_u(Domain::Unclaimed)], [small, max]);
        }
        let one = program(
            ".computes y = add(x, u), n=512, modulus=97\n.computes s = add(x, x), n=512, modulus=97\n.modulus m0, 97\n",
        );
        assert_eq!(domains(&one, true), [Domain::All]);
        assert_eq!(largest(&program(""), "x", true, Domain::All), max);
    }

    #[test]
    fn a_modulus_that_the_image_does_not_have_is_none() {
        let program = program(".input q, 1, sdm\nmload m0, q\n.modulus m1, 97\n");
        assert_eq!(moduli(&program).collect::<Vec<_>>(), [97]);
    }

    #[test]
    fn half_of_random_words_are_at_edges() {
        let mut counts = std::collections::BTreeMap::new();
        let words = draw_with_edges(3, 0, 20_000, 1000, &[97, 300, 700]);
        words.iter().for_each(|&word| *counts.entry(word).or_insert(0) += 1);
        let of = |q: u128| [q / 2, q / 2 + 1, q - 1, q, q + 1, 2 * q - 1, 2 * q];
        let edges = [97, 300, 700].into_iter().flat_map(of).chain([0, 1, 500, 999, 1000]);
        let edges: BTreeSet<u128> = edges.filter(|&edge| edge <= 1000).collect();
        let frequent = counts.iter().filter(|(_, count)| **count > 100).map(|(word, _)| *word);
        assert_eq!(frequent.collect::<BTreeSet<u128>>(), edges);
        assert!(counts.len() > 900 && words.iter().all(|&word| word <= 1000), "{}", counts.len());
        // Both halves of a word are random.
        let wide = draw_with_edges(3, 0, 100, u128::MAX, &[]);
        let halves = wide.iter().filter(|&&word| word >> 64 != 0 && word << 64 != 0);
        assert!(halves.map(|word| (word >> 64) ^ (word << 64 >> 64)).collect::<BTreeSet<_>>().len() > 30);
    }

    #[test]
    fn an_input_has_initial_words_where_a_segment_meets_it() {
        let program = program("");
        let u = program.symbol("u").unwrap();
        for (start, words, has) in
            [(0x3ff, 1, false), (0x3ff, 2, true), (0x500, 1, true), (0x5ff, 1, true), (0x600, 1, false)]
        {
            let image = Image { segments: vec![Segment { start, words: vec![0; words] }] };
            assert_eq!(has_words(&image, u), has, "{start:#x}");
        }
    }

    #[test]
    fn residues_are_below_the_modulus_and_operands_differ() {
        let (a, b) = (draw(7, 0, 100, 97), draw(7, 1, 100, 97));
        assert!(a.iter().chain(&b).all(|&residue| residue < 97));
        assert_ne!(a, b);
        assert_eq!(a, draw(7, 0, 100, 97));
    }
}
