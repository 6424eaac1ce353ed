//! Kernels as command lines and sweeps name them.

use codegen::{PlanChoice, Recipe, Request};
use diagnostic::input::{self, Content};
use diagnostic::{Diagnostic, Span};
use golden::Operation;
use ring::Degree;
use ring::prime::largest_prime;
use std::fmt;
use std::path::Path;

/// A kernel as a command line or a sweep gives it: what to compute, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelSpec {
    /// The operation and its ring.
    pub request: RequestSpec,
    /// The plan.
    pub plan: PlanChoice,
}

/// A [`Request`] as a command line or a sweep gives it: the modulus may be a number of
/// bits, and the root may be missing. An operation in several rings has lists of one modulus of as many
/// bits.
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
        let several = self.towers > 1 || !self.operation.in_one_ring();
        if let (true, ModulusSpec::Bits(bits)) = (several, self.modulus) {
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
/// Returns an error if the name is not in [`PLANS`] and is not the path of a file with a recipe.
pub fn plan(name: &str, path: &Path) -> Result<PlanChoice, Diagnostic> {
    match name {
        "best" => return Ok(PlanChoice::Best),
        "kl" | "pease" => return Ok(PlanChoice::Classical),
        "paper" => return Ok(PlanChoice::Paper),
        "unoptimised" => return Ok(PlanChoice::Unoptimised),
        _ => {}
    }
    let error = |text: &str, span: Option<Span>, message: String, help: Option<String>| Diagnostic {
        help: help.map(Into::into),
        ..Diagnostic::new(message).at(path.display().to_string(), text, span)
    };
    let text = input::read_text(path, Content::Document).map_err(|cause| {
        let names: Vec<String> = PLANS.iter().map(|(name, _)| format!("`{name}`")).collect();
        let help = format!("the plans are {}, or the path of a plan's TOML file", names.join(", "));
        let message = format!("unknown plan, and no readable file: {cause}");
        error("", None, message, Some(help))
    })?;
    let recipe: Recipe = toml::from_str(&text)
        .map_err(|cause| error(&text, cause.span(), format!("invalid plan: {}", cause.message()), None))?;
    Ok(PlanChoice::Recipe(Box::new(recipe)))
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
        assert!(error.to_string().starts_with("absent.toml: unknown plan, and no readable file"), "{error}");
        assert!(error.help.unwrap().contains("`kl`"));
    }
}
