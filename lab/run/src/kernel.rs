//! Kernels as command lines and sweeps name them.

use codegen::search::Effort;
use codegen::{Merit, Parameters, PlanChoice, Recipe, Request};
use diagnostic::input::{self, Content};
use diagnostic::{Code, Diagnostic, Diagnostics, counted};
use golden::Operation;
use ring::prime::{largest_prime, largest_primes};
use ring::{Basis, Degree, Ring};
use sim::Machine;
use std::fmt;
use std::path::Path;
use thiserror::Error;

/// A [`Request`] as a command line or a sweep gives it: the modulus may be a number of
/// bits, and the root may be missing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RequestSpec {
    /// The ring operation.
    pub operation: Operation,
    /// The ring degree.
    pub n: u32,
    /// The modulus.
    pub modulus: ModulusSpec,
    /// A primitive 2n-th root of unity; `None` for the smallest.
    pub root: Option<u128>,
    /// The number of towers, at least 1: rings with moduli of their own. Several need a modulus by its size.
    pub towers: u32,
}

/// A modulus, or its size.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ModulusSpec {
    /// The modulus.
    Value(u128),
    /// The largest prime of this size that is 1 mod 2n.
    Bits(u32),
}

impl fmt::Display for ModulusSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(modulus) => write!(f, "{modulus:#x}"),
            Self::Bits(bits) => write!(f, "{bits} bits"),
        }
    }
}

impl RequestSpec {
    /// The request, with the modulus and the root found.
    ///
    /// # Errors
    /// Returns an error if the degree is invalid, or if there is no such modulus or no such root.
    pub fn resolve(&self) -> Result<Request, ring::Error> {
        let degree = Degree::try_from(self.n)?;
        if let (2.., ModulusSpec::Bits(bits)) = (self.towers, self.modulus) {
            return Request::with_primes(self.operation, degree, bits, self.towers as usize);
        }
        let modulus = match self.modulus {
            ModulusSpec::Value(modulus) => modulus,
            ModulusSpec::Bits(bits) => largest_prime(bits, degree)?,
        };
        let ring = Request::ring(self.operation, degree, modulus, self.root)?;
        Ok(Request::single(self.operation, ring))
    }
}

/// The rings in which an operation works, as a user describes them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RingsSpec {
    /// The ring degree.
    pub n: u32,
    /// The moduli; if there are none, the largest primes.
    pub moduli: Vec<u128>,
    /// The size of these primes.
    pub modulus_bits: u32,
    /// The number of these primes, at least 1.
    pub towers: usize,
    /// A primitive 2n-th root of unity for each modulus; if there are none, the smallest.
    pub roots: Vec<u128>,
}

/// The reason why there is no such request.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum RequestError {
    /// Parameters that define no ring or transform.
    #[error(transparent)]
    Ring(#[from] ring::Error),
    /// The number of towers is zero.
    #[error("0 towers")]
    NoTowers,
    /// More towers than the memory has room for.
    #[error("{towers} towers of {n} coefficients do not fit the VDM: it has {words} words")]
    TooManyTowers {
        /// The requested number.
        towers: usize,
        /// The ring degree.
        n: u32,
        /// The words of the VDM.
        words: u32,
    },
    /// As many roots as moduli are required.
    #[error(
        "{}, but there {} {}",
        counted(*roots, "root", "roots"),
        if *moduli == 1 { "is" } else { "are" },
        counted(*moduli, "modulus", "moduli")
    )]
    Roots {
        /// The roots.
        roots: usize,
        /// The moduli.
        moduli: usize,
    },
}

/// The request of an operation with these parameters in these rings, for a machine with as much memory.
///
/// # Errors
/// Returns an error if there are no such rings.
pub fn request(
    operation: Operation,
    rings: &RingsSpec,
    parameters: Parameters,
    machine: &Machine,
) -> Result<Request, RequestError> {
    let RingsSpec { n, towers, .. } = *rings;
    let words = machine.vdm_words();
    // Before a search for as many primes.
    match towers {
        0 => return Err(RequestError::NoTowers),
        towers if towers > (words / n.max(1)).max(1) as usize => {
            return Err(RequestError::TooManyTowers { towers, n, words });
        }
        _ => {}
    }
    let degree = Degree::try_from(n)?;
    let moduli = match &rings.moduli[..] {
        [] => largest_primes(rings.modulus_bits, degree, towers)?,
        moduli => moduli.to_vec(),
    };
    let roots = &rings.roots;
    if !roots.is_empty() && roots.len() != moduli.len() {
        return Err(RequestError::Roots { roots: roots.len(), moduli: moduli.len() });
    }
    let ring = |(tower, &modulus)| Request::ring(operation, degree, modulus, roots.get(tower).copied());
    let rings = moduli.iter().enumerate().map(ring).collect::<Result<Vec<Ring>, _>>()?;
    Ok(Request { operation, basis: Basis::new(rings)?, parameters })
}

/// The named plans, with a description of each.
pub const PLANS: [(&str, &str); 5] = [
    ("best", "the fastest known for the machine"),
    (
        "kl",
        "the classical constant-geometry algorithms, as in the paper: Korn-Lambiotte forward, Pease inverse",
    ),
    ("pease", "the same as kl: used in the other direction, each algorithm would need two digit reversals"),
    ("paper", "kl with the settings of the reproduction, for the machine rpu-128x128-paper"),
    ("unoptimised", "kl in textbook order, not scheduled for the machine"),
];

/// Reads a plan's name, or a recipe from a TOML file.
///
/// # Errors
/// Returns an error if the name is not in [`PLANS`] and is not the path of a file; else all errors of the
/// file.
pub fn plan(name: &str, path: &Path) -> Result<PlanChoice, Diagnostics> {
    match name {
        "best" => return Ok(PlanChoice::Best),
        "kl" | "pease" => return Ok(PlanChoice::Classical),
        "paper" => return Ok(PlanChoice::Paper),
        "unoptimised" => return Ok(PlanChoice::Unoptimised),
        _ => {}
    }
    let file = path.display().to_string();
    let text = input::read_text(path, Content::Document).map_err(|cause| {
        // Without such a file, a name without an ending is an unknown plan.
        let is_name = cause.kind() == std::io::ErrorKind::NotFound && Path::new(name).extension().is_none();
        let names: Vec<String> = PLANS.iter().map(|(name, _)| format!("`{name}`")).collect();
        let help = format!("the plans are {}, or the path of a plan's TOML file", names.join(", "));
        let message =
            if is_name { format!("unknown plan `{name}`") } else { format!("cannot read `{name}`: {cause}") };
        Diagnostic::new(message).with_code(Code::Unreadable.name()).with_help(help)
    })?;
    Ok(PlanChoice::Recipe(Box::new(Recipe::parse(&file, &text)?)))
}

/// A plan whose search has this effort, or none, and this merit; named plans have neither.
pub fn minimising(plan: PlanChoice, merit: Merit, effort: Option<Effort>) -> PlanChoice {
    match (plan, merit, effort) {
        (PlanChoice::Best, Merit::Energy | Merit::EnergyDelay, effort) => PlanChoice::Least(merit, effort),
        (PlanChoice::Best, Merit::Cycles, None) => PlanChoice::Known,
        (PlanChoice::Best, Merit::Cycles, Some(effort)) if effort != Effort::QUICK => {
            PlanChoice::Tuned(effort)
        }
        (plan, ..) => plan,
    }
}

/// Parses a decimal number, or a hexadecimal one after `0x`; digits may be separated by `_`.
pub fn parse_u128(text: &str) -> Option<u128> {
    let digits = text.trim().replace('_', "");
    match digits.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modulus_and_root_are_found() {
        let modulus = ModulusSpec::Bits(14);
        let spec = RequestSpec { operation: golden::NTT, n: 1024, modulus, root: None, towers: 1 };
        // A common textbook prime, the largest of 14 bits that is 1 mod 2048.
        let request = spec.resolve().unwrap();
        let ring = request.basis.rings()[0];
        assert_eq!((ring.q(), ring.root()), (12289, Some(7)));
        let add = RequestSpec { operation: golden::ADD, modulus: ModulusSpec::Value(15), ..spec };
        assert_eq!(add.resolve().unwrap().basis.rings()[0].root(), None);
    }

    #[test]
    fn plans_have_names_or_files() {
        for (name, _) in PLANS {
            assert!(plan(name, Path::new("absent.toml")).is_ok());
        }
        let error = plan("fastest", Path::new("absent.toml")).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("D007: unknown plan `fastest`"), "{error}");
        let error = plan("fastest.toml", Path::new("absent.toml")).unwrap_err().to_string();
        assert!(error.starts_with("D007: cannot read `fastest.toml`: "), "{error}");
        assert!(error.contains("`kl`"), "{error}");
    }
}
