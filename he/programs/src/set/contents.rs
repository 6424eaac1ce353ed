//! The keys of a parameter set's document.

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Contents {
    pub(super) n: Spanned<u64>,
    pub(super) q: Spanned<Vec<Spanned<Entry>>>,
    pub(super) p: Spanned<Vec<Spanned<Entry>>>,
    #[serde(default)]
    pub(super) terminal: Vec<Spanned<Entry>>,
    pub(super) levels: Option<Spanned<Vec<Spanned<LevelEntry>>>>,
    pub(super) digits: Spanned<usize>,
    pub(super) plaintext_modulus: Option<Spanned<u64>>,
    #[serde(default)]
    pub(super) roots: Vec<Spanned<String>>,
    pub(super) hamming_weight: Option<Spanned<u64>>,
    pub(super) bootstrap: Option<Spanned<BootstrapTable>>,
    /// The schema allows `none` only.
    pub(super) security: Option<String>,
    #[serde(default)]
    pub(super) sources: toml::Table,
}

/// One modulus, or the largest primes of a size, or the primes nearest to a power of two.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Entry {
    Modulus(String),
    Primes {
        bits: u32,
        count: usize,
        #[serde(default)]
        around: bool,
    },
}

/// The moduli of a level: the first ones of q, and of the terminal ones.
#[derive(Deserialize, Clone, Copy)]
#[serde(untagged)]
pub(super) enum LevelEntry {
    Moduli(usize),
    WithTerminal([usize; 2]),
}

/// The table `[bootstrap]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BootstrapTable {
    pub(super) scale_bits: Spanned<u32>,
    pub(super) message_ratio_bits: Spanned<u32>,
    pub(super) coeff_to_slot: usize,
    pub(super) eval_mod: Spanned<usize>,
    pub(super) slot_to_coeff: usize,
    pub(super) slot_to_coeff_matrices: Option<Spanned<usize>>,
    #[serde(default)]
    pub(super) normalisation: usize,
    pub(super) range: u32,
    pub(super) degree: Spanned<usize>,
    pub(super) double_angles: u32,
    pub(super) arcsine: Option<Spanned<usize>>,
    pub(super) ephemeral_weight: Option<Spanned<u64>>,
    /// The name of [`Steps`].
    pub(super) steps: String,
}
