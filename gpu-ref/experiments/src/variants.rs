//! Recipes described in the papers that differ from the fastest ones.

use gpu_ref::recipe::Pass;
use gpu_ref::{Barrett, Error, Feature, Recipe, Strategy, Sync};

/// log2 of the points of a block in Shivdikar et al.
const BLOCK_LOG_N: u32 = 11;

/// log2 of the threads per block if threads exchange no data.
const FREE_THREADS_LOG: u32 = 8;

/// A pass without a limit on registers.
fn pass(stages: u32, points_log: u32, lanes_log: u32) -> Pass {
    Pass { stages, points_log, lanes_log, blocks: 1 }
}

/// LOS, the latency-optimised single-block transform of Shivdikar et al. for N up to 2^11: one
/// kernel, one block per transform, radix 2^`radix_log`, data in shared memory.
///
/// # Errors
/// Returns [`Error::Dimension`] and [`Error::Unsupported`] for sizes without such passes: for N above 2^11,
/// radix 2 needs more threads than a block has. The same holds for the other recipes.
pub fn los(barrett: Barrett, word_bits: u32, log_n: u32, radix_log: u32) -> Result<Recipe, Error> {
    let own = Recipe::new(Strategy::Shivdikar(barrett), word_bits, log_n)?;
    own.with_passes(vec![pass(log_n, radix_log, 0)])
}

/// LOM, their latency-optimised multi-block transform for larger N: kernels without exchanges
/// reduce it to 2^11 points, and one block transforms each part as in [`los`]. The former kernels have
/// `multi_radix_log` stages each.
///
/// # Errors
/// See [`los`]; and [`Error::Dimension`] unless N is above 2^11.
pub fn lom(
    barrett: Barrett,
    word_bits: u32,
    log_n: u32,
    radix_log: u32,
    multi_radix_log: u32,
) -> Result<Recipe, Error> {
    let own = Recipe::new(Strategy::Shivdikar(barrett), word_bits, log_n)?;
    own.with_passes(multi_block(log_n, radix_log, multi_radix_log)?)
}

/// Their two-dimensional transform: a kernel over columns, then one over rows, with half of the
/// stages each and 2^`columns_log` columns or rows per block (one in the paper). With
/// `pipelined`, the second kernel starts while the first finishes.
///
/// # Errors
/// See [`los`].
pub fn two_dimensional(
    barrett: Barrett,
    word_bits: u32,
    log_n: u32,
    radix_log: u32,
    columns_log: u32,
    pipelined: bool,
) -> Result<Recipe, Error> {
    let half = log_n / 2;
    let own = Recipe::new(Strategy::Shivdikar(barrett), word_bits, log_n)?;
    let passes = [half, log_n - half].map(|stages| pass(stages, radix_log, columns_log));
    let square = own.with_passes(passes.to_vec())?;
    if pipelined { square.with(Feature::Overlap) } else { Ok(square) }
}

/// Cheddar's transform with other parameters than the published ones (128 x 512, 16 and 8
/// points, 16 columns at N = 2^16): 2^`column_log` points per column in the first kernel,
/// 2^`points_log` points per thread in each kernel, and 2^`columns_log` columns per block in
/// the first.
///
/// # Errors
/// See [`los`].
pub fn cheddar(log_n: u32, column_log: u32, points_log: [u32; 2], columns_log: u32) -> Result<Recipe, Error> {
    let rows = log_n.saturating_sub(column_log);
    let passes = vec![pass(column_log, points_log[0], columns_log), pass(rows, points_log[1], 1)];
    Recipe::new(Strategy::Cheddar, 32, log_n)?.with_passes(passes)
}

/// The hybrid that HE-Booster compares with: one launch per stage until 2^11 points remain,
/// which a block transforms.
///
/// # Errors
/// See [`lom`].
pub fn hybrid(word_bits: u32, log_n: u32) -> Result<Recipe, Error> {
    let own = Recipe::new(Strategy::HeBooster(Sync::Launches), word_bits, log_n)?;
    own.with_passes(multi_block(log_n, 1, 1)?)
}

/// Caramel's transform as published for N = 2^16: 2^`points_log` points per thread (8 in the
/// paper), a first kernel of all stages but six, then one of six.
///
/// # Errors
/// See [`los`].
pub fn two_stage(log_n: u32, points_log: u32) -> Result<Recipe, Error> {
    let first = log_n.saturating_sub(6);
    // With few points per thread, a block has room for fewer columns.
    let passes = vec![pass(first, points_log, points_log.min(2)), pass(6, points_log, 4)];
    Recipe::new(Strategy::Caramel, 64, log_n)?.with_passes(passes)
}

/// Passes without exchanges of up to `multi_radix_log` stages, then one block of 2^11 points.
fn multi_block(log_n: u32, radix_log: u32, multi_radix_log: u32) -> Result<Vec<Pass>, Error> {
    if log_n <= BLOCK_LOG_N {
        return Err(Error::Dimension { n: 1 << log_n, min: 2 << BLOCK_LOG_N, max: 1 << 17 });
    }
    let outer = log_n - BLOCK_LOG_N;
    let stages = |first| multi_radix_log.clamp(1, outer - first);
    let free = (0..outer).step_by(multi_radix_log.max(1) as usize).map(|first| {
        let stages = stages(first);
        pass(stages, stages, FREE_THREADS_LOG)
    });
    Ok(free.chain([pass(BLOCK_LOG_N, radix_log, 0)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_divide_as_the_papers_say() {
        let shape = |recipe: &Recipe| -> Vec<_> {
            recipe.passes().iter().map(|p| (p.stages, 1 << p.points_log, p.threads())).collect()
        };
        let barrett = Barrett::Proposed;
        assert_eq!(shape(&los(barrett, 64, 11, 1).unwrap()), [(11, 2, 1024)]);
        assert!(los(barrett, 64, 12, 1).is_err());
        let radix_2 = lom(barrett, 64, 16, 1, 1).unwrap();
        assert_eq!(shape(&radix_2), [[(1, 2, 256); 5].as_slice(), &[(11, 2, 1024)]].concat());
        let mixed = lom(barrett, 64, 16, 3, 4).unwrap();
        assert_eq!(shape(&mixed), [(4, 16, 256), (1, 2, 256), (11, 8, 256)]);
        let square = two_dimensional(barrett, 64, 16, 1, 0, true).unwrap();
        assert_eq!(shape(&square), [(8, 2, 128), (8, 2, 128)]);
        assert_eq!(shape(&two_stage(16, 3).unwrap()), [(10, 8, 512), (6, 8, 128)]);
        assert!(lom(barrett, 64, 11, 1, 1).is_err());
    }
}
