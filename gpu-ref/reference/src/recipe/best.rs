//! The measured parameters of [`Strategy::Best`]: which passes and products are fastest for a word size
//! and a ring dimension.

use super::pass::{Pass, Product, pair, single};
use super::{Card, DOUBLE_BITS};
#[cfg(doc)]
use super::{Feature, Recipe, Strategy};

/// Passes of [`Strategy::Best`] for batches, chosen on an H200 among a few for each size: 64 moduli of 8
/// polynomials at N = 2^16, one modulus at any other size.
pub(super) fn passes(word_bits: u32, log_n: u32) -> Vec<Pass> {
    match (word_bits, log_n) {
        (32, ..=12) => single(log_n, 4, 4),
        (32, 13 | 14) => single(log_n, 5, 2),
        (32, 15) => pair(log_n, 7, (4, 5, 4), (4, 2, 14)),
        (32, 16) => pair(log_n, 8, (4, 5, 2), (4, 2, 14)),
        (32, _) => pair(log_n, 9, (5, 4, 2), (4, 2, 14)),
        (64, ..=12) => single(log_n, 3, 2),
        (64, 13) => single(log_n, 4, 2),
        (64, 14 | 15) => pair(log_n, log_n - 8, (4, 3, 2), (3, 0, 16)),
        (64, 16) => pair(log_n, 8, (4, 3, 3), (3, 1, 8)),
        (64, _) => pair(log_n, 8, (4, 3, 3), (3, 0, 8)),
        (_, ..=12) => single(log_n, 3, 1),
        (_, 17) => pair(log_n, 8, (3, 1, 13), (3, 1, 4)),
        (_, 16) => pair(log_n, 8, (3, 1, 13), (3, 0, 16)),
        (_, _) => pair(log_n, log_n / 2, (3, 2, 6), (3, 1, 8)),
    }
}

/// A batch of at most this many bytes stays in the L2 cache, so no pass needs to go backwards.
pub(super) const CACHED_BYTES: usize = 16 << 20;

/// Fewer transforms than this leave most of a device without work if each is one block.
pub(super) const FEW: usize = 128;

/// Whether [`Feature::Once`] is faster than passes. Each cluster needs several transforms, so that loads
/// overlap with computation; and few clusters may idle in the last round. A multiprocessor has a polynomial
/// of 2^15 words, or half of one of 2^16. With faster memory, the last round must be fuller, and of the
/// shorter polynomials, whose rounds are shorter too, there must be one more.
pub(super) fn fills_clusters(card: Card, log_n: u32, transforms: usize) -> bool {
    let clusters = (card.cluster_blocks >> (log_n - 15)) as usize;
    if clusters == 0 {
        return false;
    }
    let rounds = transforms.div_ceil(clusters);
    // By the number of rounds, from two on.
    let (least_percent, number) = if card.has_fast_memory() {
        ([97, 93, 91, 89], rounds.saturating_sub(16 - log_n as usize))
    } else {
        ([90, 84, 78, 0], rounds)
    };
    number >= 2 && 100 * transforms >= least_percent[number.min(5) - 2] * rounds * clusters
}

/// From this many transforms on, [`Feature::Chained`] is faster where [`chained`] has passes for it.
pub(super) fn many(log_n: u32) -> usize {
    64 << 16u32.saturating_sub(log_n)
}

/// Passes of [`Feature::Chained`], where it is faster.
pub(super) fn chained(card: Card, word_bits: u32, modulus_bits: u32, log_n: u32) -> Option<Vec<Pass>> {
    if !card.holds_chains() {
        return None;
    }
    match (word_bits, modulus_bits, log_n) {
        (64, 50 | 60 | 61, 14) => Some(pair(log_n, 6, (4, 5, 5), (4, 3, 5))),
        (64, 50, 15) => Some(pair(log_n, 7, (4, 5, 3), (4, 4, 3))),
        (64, 60 | 61, 15) => Some(pair(log_n, 6, (4, 5, 8), (3, 1, 8))),
        (64, 50, 16) => Some(pair(log_n, 7, (4, 4, 5), (4, 2, 5))),
        (64, 60 | 61, 16) => Some(pair(log_n, 7, (4, 4, 8), (3, 1, 8))),
        _ => None,
    }
}

/// Passes of chained products, which differ from those of transforms, and the minimum number of resident
/// blocks. The heart waits for instructions if it has 16 points a thread of 64 bits.
pub(super) fn chained_products(
    card: Card,
    word_bits: u32,
    modulus_bits: u32,
    log_n: u32,
) -> Option<(Vec<Pass>, u32)> {
    if !card.holds_chains() {
        return None;
    }
    match (word_bits, modulus_bits, log_n) {
        (32, _, 16) => Some((pair(log_n, 8, (4, 4, 4), (4, 4, 4)), 4)),
        (64, 50 | 60 | 61, 14) => Some((pair(log_n, 7, (4, 5, 3), (2, 3, 3)), 3)),
        (64, 50, 15) => Some((pair(log_n, 7, (4, 5, 3), (3, 3, 3)), 3)),
        (64, 60 | 61, 15) => Some((pair(log_n, 6, (4, 6, 3), (3, 2, 3)), 3)),
        (64, 50, 16) => Some((pair(log_n, 8, (4, 4, 4), (3, 3, 4)), 3)),
        (64, 60 | 61, 16) => Some((pair(log_n, 8, (4, 4, 3), (3, 3, 3)), 3)),
        _ => None,
    }
}

/// Bytes between two steps of a chain, by the order of its blocks. With fewer, blocks wait; much more does
/// not stay in the L2 cache.
pub(crate) const CHAIN_BYTES: usize = 8 << 20;

/// Passes of [`Strategy::Best`] for fewer than [`FEW`] transforms, where they differ.
pub(super) fn few(word_bits: u32, log_n: u32) -> Option<Vec<Pass>> {
    match (word_bits, log_n) {
        (32, 14) => Some(pair(log_n, 7, (3, 3, 2), (3, 2, 2))),
        (64, 12) => Some(pair(log_n, 6, (3, 3, 2), (3, 3, 2))),
        (64, 13) => Some(pair(log_n, 7, (3, 2, 2), (3, 2, 2))),
        _ => None,
    }
}

/// [`Feature::EarlyStart`] of single transforms, where a row of them is faster with it on an H100.
pub(super) fn starts_early(word_bits: u32, modulus_bits: u32, log_n: u32) -> bool {
    match word_bits {
        32 => true,
        64 => log_n <= if modulus_bits == DOUBLE_BITS { 16 } else { 12 },
        _ => log_n <= 14,
    }
}

/// [`Recipe::with_shared_roots`] of [`Strategy::Best`]: in words of 32 bits a multiplication costs less
/// than an entry of the table.
pub(super) fn shared_roots(word_bits: u32, log_n: u32) -> u32 {
    match (word_bits, log_n) {
        (32, 12) => 1,
        (32, 14..) => 3,
        _ => 0,
    }
}

/// Products of [`Strategy::Best`]: separate if a thread cannot hold both factors.
pub(super) fn product(word_bits: u32, log_n: u32) -> Product {
    let (separate, blocks) = match (word_bits, log_n) {
        (32, ..=12) => (false, 2),
        (32, 13 | 14) => (false, 1),
        (32, _) => (false, 12),
        (64, 13) | (128, ..=12) => (true, 1),
        (64, 16) => (false, 12),
        _ => (false, 1),
    };
    Product { separate, blocks }
}
