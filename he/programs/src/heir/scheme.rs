//! The parameters of a file: `ckks.schemeParam`.

use super::text::Operation;
use super::types::Types;
use crate::foreign::{BOOTSTRAP_SET, Messages, Parameters, log2};
use crate::{Error, ParameterSet};
use diagnostic::{Code, Diagnostic};

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

    /// The degree of the file.
    pub(super) fn degree(&self) -> u64 {
        1 << self.log_n
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
        let own = self.degree();
        let mut parameters = Parameters {
            name: format!("heir-{name}"),
            origin: format!("ckks.schemeParam of {}", types.source.file),
            n: own,
            q: self.q.clone(),
            p: self.p.clone(),
            hamming_weight: None,
            bootstrap: None,
        };
        if bootstraps {
            let of = ParameterSet::built_in(BOOTSTRAP_SET, Some(n.unwrap_or(own)));
            let of = of.expect("a built-in set").map_err(|errors| wrong(errors.to_string()))?;
            let bootstrap = of.bootstrap().expect("a set with a bootstrap");
            let left = of.levels() - bootstrap.depth();
            parameters.q.extend(&of.q()[left..]);
            parameters.p = of.p();
            parameters.hamming_weight = Some(of.hamming_weight().unwrap_or(192));
            // As much room as q_0 has above the scale.
            let ratio_bits = (log2(self.q[0]).floor() as u32).saturating_sub(self.scale_bits);
            parameters.bootstrap = Some(Messages { scale_bits: self.scale_bits, ratio_bits });
        }
        parameters.set(n).map_err(wrong)
    }
}

/// The error of a set for this file.
pub(super) fn refused(error: &Error, types: &Types<'_>, scheme: &Scheme<'_>) -> Diagnostic {
    types.source.error(scheme.text, error.to_string())
}
