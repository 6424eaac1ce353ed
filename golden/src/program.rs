//! The rules for programs with claims.

use crate::claim::Valid;
use crate::error::ClaimFault;
use crate::signature::{Range, settings};
use crate::transform::Root;
use b512_asm::{ClaimPart, Code, Defect, Diagnostics, InvalidProgram, Part, Program, Space, Symbol};
use diagnostic::counted;

/// Checks every claim of a program: operations are known, settings are valid, operands have n
/// words, moduli fit a word and are in a modulus register, and the program's initial words of
/// inputs are below the modulus.
///
/// [`Program::check`] has the other rules.
///
/// # Errors
/// Returns every violation, but only the first [`Diagnostics::LIMIT`] unreduced words.
pub fn check(program: &Program) -> Result<(), InvalidProgram> {
    let defects = defects(program, true);
    if defects.is_empty() { Ok(()) } else { Err(InvalidProgram { defects }) }
}

/// The violations that [`check`] reports. `complete` is false if lines with errors are missing from the
/// program; violations that may follow from that are left out.
pub fn defects(program: &Program, complete: bool) -> Vec<Defect> {
    let mut defects = Vec::new();
    let mut inputs = Inputs::default();
    for (number, claim) in program.claims.iter().enumerate() {
        let locate = |fault: ClaimFault| {
            let ClaimFault { code, part, message, help } = fault;
            Defect { code, part: Part::Claim(number, part), message, help }
        };
        match Valid::new(claim) {
            Err(faults) => defects.extend(faults.into_iter().map(locate)),
            Ok(_) if !complete => {}
            Ok(valid) => {
                defects.extend(lengths(program, &valid).into_iter().map(locate));
                defects.extend(modulus(program, &valid).map(locate));
                inputs.add(&valid);
            }
        }
    }
    defects.extend(inputs.words(program).take(Diagnostics::LIMIT));
    defects
}

/// The claims whose root is no primitive 2n-th root of unity. To find out is no rule of [`check`], as it
/// takes long beside those of the text.
pub fn wrong_roots(program: &Program) -> Vec<Defect> {
    let claims = program.claims.iter().enumerate();
    let wrong = claims.filter_map(|(number, claim)| {
        let valid = Valid::new(claim).ok()?;
        let mut with_root = valid.calls.iter().filter(|(operation, _)| operation.has_root());
        let error = with_root.find_map(|(_, settings)| Root::new(settings).err())?;
        let part = Part::Claim(number, valid.part(settings::ROOT.name));
        Some(Defect { code: Code::Claim, part, message: error.to_string(), help: None })
    });
    wrong.collect()
}

/// Reports symbols whose length is not n.
fn lengths(program: &Program, valid: &Valid<'_>) -> Vec<ClaimFault> {
    let (n, claim) = (valid.degree(), valid.claim);
    let outputs = claim.outputs.iter().enumerate().map(|(i, name)| (ClaimPart::Output(i), name));
    let inputs = claim.inputs.iter().enumerate().map(|(i, name)| (ClaimPart::Input(i), name));
    let wrong = outputs.chain(inputs).filter_map(|(part, name)| {
        let words = program.symbol(name)?.words;
        (words as usize != n).then(|| {
            ClaimFault::new(
                part,
                format!("`{name}` has {}, but n = {n}", counted(words as usize, "word", "words")),
            )
        })
    });
    wrong.collect()
}

/// Reports a modulus that no register can hold, or none holds.
fn modulus(program: &Program, valid: &Valid<'_>) -> Option<ClaimFault> {
    let (modulus, part) = (valid.modulus(), valid.part(settings::MODULUS.name));
    let launch = &program.moduli;
    if modulus > program.isa.max_word() {
        let fault = ClaimFault::new(part, format!("the modulus {modulus:#x} is too large"));
        let help = format!("a word has {} bits", program.isa.word_bits());
        return Some(ClaimFault { code: Code::Modulus, ..fault.help(help) });
    }
    let (register, other) = launch.first()?;
    let is_held = program.loads_moduli() || launch.iter().any(|&(_, held)| held == modulus);
    (!is_held).then(|| {
        let message = format!("no modulus register holds the claim's modulus {modulus:#x}");
        ClaimFault::new(part, message).help(format!("`{register}` holds {other:#x}"))
    })
}

/// The inputs of a program's claims that must be reduced, each once, with the smallest of its moduli.
#[derive(Default)]
struct Inputs<'p>(Vec<(&'p str, u128)>);

impl<'p> Inputs<'p> {
    /// Adds the inputs of a claim.
    fn add(&mut self, valid: &Valid<'p>) {
        let modulus = valid.modulus();
        for (name, range) in valid.claim.inputs.iter().zip(valid.ranges()) {
            if range == Range::Word {
                continue;
            }
            match self.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, smallest)) => *smallest = modulus.min(*smallest),
                None => self.0.push((name, modulus)),
            }
        }
    }

    /// Reports words of inputs that are not below the modulus.
    fn words(self, program: &'p Program) -> impl Iterator<Item = Defect> {
        let symbols = self.0.into_iter();
        let symbols = symbols.filter_map(|(name, modulus)| Some((program.symbol(name)?, modulus)));
        symbols.flat_map(|(symbol, modulus)| symbol_words(program, symbol, modulus))
    }
}

fn symbol_words<'p>(program: &'p Program, symbol: &'p Symbol, modulus: u128) -> impl Iterator<Item = Defect> {
    let segments = program.image(Space::Vdm).segments.iter().enumerate();
    let all = segments.flat_map(|(s, segment)| {
        let start = u64::from(segment.start);
        segment.words.iter().enumerate().map(move |(w, &word)| (s, w, start + w as u64, word))
    });
    let wrong = all.filter(move |&(_, _, address, word)| word >= modulus && symbol.contains(address));
    wrong.map(move |(segment, word, address, value)| {
        let index = address - u64::from(symbol.start);
        Defect {
            code: Code::NotReduced,
            part: Part::Word { space: Space::Vdm, segment, word },
            message: format!("{}[{index}] = {value:#x} is not below the modulus", symbol.name),
            help: Some(format!("the modulus is {modulus:#x}")),
        }
    })
}
