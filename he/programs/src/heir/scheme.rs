//! The parameters of a file: `ckks.schemeParam`.

use super::text::Operation;
use super::types::Types;
use crate::set::SETS;
use crate::{Error, ParameterSet};
use diagnostic::{Code, Diagnostic};
use std::fmt::Write as _;

/// The set whose moduli, keys and settings bootstraps have: a file has none.
pub(super) const BOOTSTRAP_SET: &str = "lattigo-n16qp1546";

/// The parameters of CKKS.
#[derive(Clone, Debug)]
pub(super) struct Scheme<'t> {
    /// The text of the parameters, for errors.
    text: &'t str,
    log_n: u32,
    /// The moduli of ciphertexts, q_0 first.
    pub(super) q: Vec<u128>,
    p: Vec<u128>,
    /// log2 of the scale of messages.
    pub(super) scale_bits: u32,
}

impl<'t> Scheme<'t> {
    pub(super) fn read(types: &Types<'t>, module: &Operation<'t>) -> Result<Self, Diagnostic> {
        let Some(text) = module.attributes.get("ckks.schemeParam").copied() else {
            let other = module.attributes.keys().find(|key| key.ends_with(".schemeParam"));
            let message = match other.and_then(|key| key.split_once('.')) {
                Some((scheme, _)) => format!("the scheme `{scheme}`, expected `ckks`"),
                None => "no parameters: the module lacks `ckks.schemeParam`".to_owned(),
            };
            let error = types.source.error(module.name, message);
            return Err(error.with_help("compile with heir-opt --mlir-to-ckks or --torch-linalg-to-ckks"));
        };
        let attribute = types.attribute(text, "ckks.scheme_param")?;
        let number = |key: &str, most: i64| {
            let text = attribute(key)?;
            let value = types.integer(text)?;
            match u32::try_from(value) {
                Ok(number) if (1..=most).contains(&value) => Ok(number),
                _ => Err(types.source.error(text, format!("invalid `{key}` {value}, from 1 to {most}"))),
            }
        };
        let (log_n, scale_bits) = (number("logN", 20)?, number("logDefaultScale", 120)?);
        let moduli = |key: &str| {
            let text = attribute(key)?;
            let moduli: Vec<u128> = types.numbers(text)?;
            match moduli.iter().all(|&modulus| modulus > 1) && !moduli.is_empty() {
                true => Ok(moduli),
                false => Err(types.source.error(text, format!("`{key}` needs moduli above 1"))),
            }
        };
        Ok(Self { text, log_n, q: moduli("Q")?, p: moduli("P")?, scale_bits })
    }

    /// The parameter set of the file, at another degree if `n` is given. With bootstraps it has their moduli
    /// above those of the file, and the special moduli of [`BOOTSTRAP_SET`].
    pub(super) fn set(
        &self,
        types: &Types<'_>,
        name: &str,
        (n, bootstraps): (Option<u64>, bool),
    ) -> Result<ParameterSet, Diagnostic> {
        let wrong =
            |message: String| types.source.error(self.text, message).with_code(Code::Contradiction.name());
        let own = 1_u64 << self.log_n;
        let (mut q, mut p, mut rest) = (self.q.clone(), self.p.clone(), String::new());
        if bootstraps {
            let of = ParameterSet::built_in(BOOTSTRAP_SET, Some(n.unwrap_or(own)));
            let of = of.expect("a built-in set").map_err(|errors| wrong(errors.to_string()))?;
            let bootstrap = of.bootstrap().expect("a set with a bootstrap");
            let left = of.levels() - bootstrap.depth();
            q.extend(&of.q()[left..]);
            p = of.p();
            // The settings of the set, with the file's scale and as much room as q_0 has above it.
            let text = SETS.iter().find(|(name, _)| *name == BOOTSTRAP_SET).expect("a built-in set").1;
            let table = text.split_once("[bootstrap]").expect("a table").1;
            let table = table.split("[sources]").next().unwrap_or(table);
            let lines = table
                .lines()
                .filter(|line| !line.starts_with("scale_bits") && !line.starts_with("message_ratio"));
            let ratio = (log2(self.q[0]).floor() as u32).saturating_sub(self.scale_bits);
            let _ = writeln!(rest, "hamming_weight = {}", of.hamming_weight().unwrap_or(192));
            let _ =
                writeln!(rest, "[bootstrap]\nscale_bits = {}\nmessage_ratio_bits = {ratio}", self.scale_bits);
            lines.for_each(|line| rest += &format!("{line}\n"));
        }
        let digits = digits(&q, &p);
        let list = |moduli: &[u128]| {
            moduli.iter().map(|modulus| format!("\"{modulus}\"")).collect::<Vec<_>>().join(", ")
        };
        let head = format!("n = {own}\nq = [{}]\np = [{}]\ndigits = {digits}\n", list(&q), list(&p));
        let source = diagnostic::one_line(types.source.file).replace(['"', '\\'], "'");
        let sources = format!("[sources]\nn = \"ckks.schemeParam of {source}\"\nq = \"as n\"\n");
        let name = format!("heir-{name}");
        let parse = |security: &str| {
            ParameterSet::parse(&name, &name, &format!("{head}{security}{rest}{sources}"), n)
        };
        let secure = parse("");
        let set = secure.or_else(|_| parse("security = \"none\"\n"));
        set.map_err(|errors| {
            let reason = errors.iter().next().map_or_else(String::new, |error| error.message.clone());
            wrong(format!("no parameter set has these values: {reason}"))
        })
    }
}

/// The fewest digits of which none is above P.
fn digits(q: &[u128], p: &[u128]) -> usize {
    let size = |moduli: &[u128]| moduli.iter().map(|&modulus| log2(modulus)).sum::<f64>();
    let fits = |digits: &usize| {
        let each = q.len().div_ceil(*digits);
        // Each digit has a modulus.
        q.len().div_ceil(each) == *digits && q.chunks(each).all(|digit| size(digit) <= size(p) + 0.01)
    };
    (1..=q.len()).find(fits).unwrap_or(q.len())
}

fn log2(modulus: u128) -> f64 {
    (modulus as f64).log2()
}

/// The error of a set for this file.
pub(super) fn refused(error: &Error, types: &Types<'_>, scheme: &Scheme<'_>) -> Diagnostic {
    types.source.error(scheme.text, error.to_string())
}
