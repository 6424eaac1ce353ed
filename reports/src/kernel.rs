//! Kernels by the names and numbers that people give.

use b512_asm::Function;
use codegen::number::{self, NumberError};
use codegen::{PlanChoice, Recipe, Request, Ring};
use sim::ConfigError;
use std::fmt;
use std::path::Path;

/// A kernel as a command line or a sweep asks for it.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelSpec {
    /// The ring operation.
    pub function: Function,
    /// The ring's degree.
    pub n: u32,
    /// The moduli; with several, the kernel works in as many rings.
    pub modulus: ModulusSpec,
    /// Primitive 2n-th roots of unity, one for each modulus; where there is none the smallest is
    /// taken.
    pub roots: Vec<u128>,
    /// How it is computed.
    pub plan: PlanChoice,
}

/// Moduli, given or sought.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ModulusSpec {
    /// These.
    Values(Vec<u128>),
    /// The largest primes of so many bits that are 1 mod 2n.
    Bits {
        /// Bits of each.
        bits: u32,
        /// How many.
        towers: usize,
    },
}

impl fmt::Display for ModulusSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(moduli) => {
                let moduli: Vec<String> = moduli.iter().map(|modulus| format!("{modulus:#x}")).collect();
                f.write_str(&moduli.join(", "))
            }
            Self::Bits { bits, towers: 1 } => write!(f, "{bits} bits"),
            Self::Bits { bits, towers } => write!(f, "{towers} of {bits} bits"),
        }
    }
}

impl KernelSpec {
    /// The request to the code generator, with moduli and roots found.
    ///
    /// # Errors
    /// Where there is no such modulus, or no such root.
    pub fn request(&self) -> Result<Request, NumberError> {
        let n = u64::from(self.n);
        let moduli = match &self.modulus {
            ModulusSpec::Values(moduli) => moduli.clone(),
            ModulusSpec::Bits { bits, towers } => number::largest_primes(*bits, n, *towers)?,
        };
        let transforms = matches!(self.function, Function::Ntt | Function::Intt | Function::Polymul);
        let ring = |(tower, modulus): (usize, u128)| {
            let root = match self.roots.get(tower) {
                Some(&root) => root,
                None if transforms => number::smallest_root(modulus, n)?,
                None => 0,
            };
            Ok(Ring { modulus, root })
        };
        let rings = moduli.into_iter().enumerate().map(ring).collect::<Result<_, NumberError>>()?;
        Ok(Request { function: self.function, n: self.n, rings, plan: self.plan.clone() })
    }
}

/// The plans that have a name, with what they are.
pub const PLANS: [(&str, &str); 4] = [
    ("best", "the fastest known for the machine"),
    ("kl", "the classical constant-geometry pair, as the paper's program: Korn-Lambiotte and Pease"),
    ("pease", "the same pair under the name of its inverse transform"),
    ("unoptimised", "the classical pair in textbook order, with no knowledge of the machine"),
];

/// Reads the name of a plan, or a recipe from the TOML file of that path.
///
/// # Errors
/// Where the name is none of [`PLANS`] and there is no such file, or it holds no recipe.
pub fn plan(name: &str, path: &Path) -> Result<PlanChoice, ConfigError> {
    match name {
        "best" => return Ok(PlanChoice::Best),
        "kl" | "pease" => return Ok(PlanChoice::Classical),
        "unoptimised" => return Ok(PlanChoice::Unoptimised),
        _ => {}
    }
    let error = |text: &str, span, message, help: Option<String>| ConfigError {
        file: path.display().to_string(),
        text: text.into(),
        span,
        message,
        help,
    };
    let text = std::fs::read_to_string(path).map_err(|cause| {
        let names: Vec<String> = PLANS.iter().map(|(name, _)| format!("`{name}`")).collect();
        let help = format!("the plans are {}, or the path of a plan's TOML file", names.join(", "));
        let message = format!("neither the name of a plan nor a file that can be read: {cause}");
        error("", None, message, Some(help))
    })?;
    let recipe: Recipe = toml::from_str(&text)
        .map_err(|cause| error(&text, cause.span(), format!("this is no plan: {}", cause.message()), None))?;
    Ok(PlanChoice::Recipe(Box::new(recipe)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modulus_and_root_are_found() {
        let spec = KernelSpec {
            function: Function::Ntt,
            n: 1024,
            modulus: ModulusSpec::Bits { bits: 14, towers: 1 },
            roots: Vec::new(),
            plan: PlanChoice::Best,
        };
        // The prime of many textbooks, the largest of 14 bits that is 1 mod 2048.
        let request = spec.request().unwrap();
        let [Ring { modulus: 12289, root }] = request.rings[..] else { panic!("{:?}", request.rings) };
        assert!(number::check_root(12289, 1024, root).is_ok());
        let add = KernelSpec { function: Function::Add, modulus: ModulusSpec::Values(vec![15]), ..spec };
        assert_eq!(add.request().unwrap().rings, [Ring { modulus: 15, root: 0 }]);
    }

    #[test]
    fn plans_have_names_or_files() {
        for (name, _) in PLANS {
            assert!(plan(name, Path::new("absent.toml")).is_ok());
        }
        let error = plan("fastest", Path::new("absent.toml")).unwrap_err();
        assert!(
            error.to_string().starts_with("absent.toml: neither the name of a plan nor a file"),
            "{error}"
        );
        assert!(error.help.unwrap().contains("`kl`"));
    }
}
