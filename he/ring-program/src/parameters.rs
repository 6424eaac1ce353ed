//! What the generator of a program says of its parameter set.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The parameter set of a generated program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The name of the set.
    pub set: String,
    /// log2 of the product Q of all moduli of ciphertexts.
    pub log2_q: f64,
    /// log2 of the product P of the special moduli.
    pub log2_p: f64,
    /// log2 of QP, which the security of keys depends on.
    pub log2_qp: f64,
    /// The class of security: at least `128`, `192` or `256` bits, `unclassified` or `none`.
    pub security: String,
    /// log2 of the root of the mean square of an error's coefficient after a key switch at the highest level.
    pub key_switch_noise_bits: f64,
    /// Of a bootstrap, the slots of the message times the levels that the program leaves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot_levels: Option<u64>,
}

/// The values without the name of the set, in one line.
impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { log2_q, log2_p, log2_qp, security, key_switch_noise_bits, .. } = self;
        write!(
            f,
            "log2 Q = {log2_q}, log2 P = {log2_p}, log2 QP = {log2_qp}; security {security}; \
             noise of a key switch 2^{key_switch_noise_bits}"
        )
    }
}
