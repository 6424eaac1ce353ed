//! Recipes described in the papers that differ from the fastest ones here.

use crate::Error;
use crate::recipe::{Barrett, Exchange, Pass, Recipe, Strategy, Sync};

/// log2 of the points of a block in Shivdikar et al.
const BLOCK_LOG_N: u32 = 11;

/// log2 of the threads per block if threads exchange no data.
const FREE_THREADS_LOG: u32 = 8;

impl Recipe {
    /// LOS, the latency-optimised single-block transform of Shivdikar et al. for N up to 2^11: one
    /// kernel, one block per transform, radix 2^`radix_log`, data in shared memory.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::check`]: for N above 2^11, radix 2 needs more threads than a
    /// block has.
    pub fn los(barrett: Barrett, word_bits: u32, log_n: u32, radix_log: u32) -> Result<Self, Error> {
        let passes = vec![Pass { first: 0, stages: log_n, points_log: radix_log, lanes_log: 0, blocks: 1 }];
        Self::sound(Self { passes, ..Self::new(Strategy::Shivdikar(barrett), word_bits, log_n)? })
    }

    /// LOM, their latency-optimised multi-block transform for larger N: kernels without exchanges
    /// reduce it to 2^11 points, and one block transforms each part as in [`Recipe::los`]. The
    /// former kernels have `multi_radix_log` stages each.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::check`], and [`Error::Dimension`] unless N is above 2^11.
    pub fn lom(
        barrett: Barrett,
        word_bits: u32,
        log_n: u32,
        radix_log: u32,
        multi_radix_log: u32,
    ) -> Result<Self, Error> {
        let own = Self::new(Strategy::Shivdikar(barrett), word_bits, log_n)?;
        Self::sound(Self { passes: multi_block(log_n, radix_log, multi_radix_log)?, ..own })
    }

    /// Their two-dimensional transform: a kernel over columns, then one over rows, with half of the
    /// stages each and 2^`columns_log` columns or rows per block (one in the paper). With
    /// `pipelined`, the second kernel starts while the first finishes.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::check`].
    pub fn two_dimensional(
        barrett: Barrett,
        word_bits: u32,
        log_n: u32,
        radix_log: u32,
        columns_log: u32,
        pipelined: bool,
    ) -> Result<Self, Error> {
        let half = log_n / 2;
        let pass =
            |first, stages| Pass { first, stages, points_log: radix_log, lanes_log: columns_log, blocks: 1 };
        Self::sound(Self {
            passes: vec![pass(0, half), pass(half, log_n - half)],
            overlap: pipelined,
            ..Self::new(Strategy::Shivdikar(barrett), word_bits, log_n)?
        })
    }

    /// TOM, their throughput-optimised transform: polynomials interleaved coefficient by
    /// coefficient, so that neighbouring threads process neighbouring polynomials at every stage.
    /// The batch must be a multiple of 2^`interleave_log`.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::check`].
    pub fn tom(barrett: Barrett, word_bits: u32, log_n: u32, interleave_log: u32) -> Result<Self, Error> {
        let half = log_n / 2;
        let pass = |first, stages: u32| Pass {
            first,
            stages,
            points_log: stages.div_ceil(2),
            lanes_log: interleave_log,
            blocks: 1,
        };
        Self::sound(Self {
            passes: vec![pass(0, half), pass(half, log_n - half)],
            interleave_log,
            ..Self::new(Strategy::Shivdikar(barrett), word_bits, log_n)?
        })
    }

    /// Cheddar's transform with other parameters than the published ones (128 x 512, 16 and 8
    /// points, 16 columns at N = 2^16): 2^`column_log` points per column in the first kernel,
    /// 2^`points_log` points per thread in each kernel, and 2^`columns_log` columns per block in
    /// the first.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::check`].
    pub fn cheddar(
        log_n: u32,
        column_log: u32,
        points_log: [u32; 2],
        columns_log: u32,
    ) -> Result<Self, Error> {
        let mut own = Self::new(Strategy::Cheddar, 32, log_n)?;
        let pass = |first, stages, points_log, lanes_log, blocks| Pass {
            first,
            stages,
            points_log,
            lanes_log,
            blocks,
        };
        own.passes = vec![
            pass(0, column_log, points_log[0], columns_log, 1),
            pass(column_log, log_n.saturating_sub(column_log), points_log[1], 1, 1),
        ];
        Self::sound(own)
    }

    /// The same passes with exchanges through global memory.
    #[must_use]
    pub fn without_shared_memory(self) -> Self {
        Self { exchange: Exchange::Global, ..self }
    }

    /// The hybrid that HE-Booster compares with: one launch per stage until 2^11 points remain,
    /// which a block transforms.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::check`], and [`Error::Dimension`] unless N is above 2^11.
    pub fn hybrid(word_bits: u32, log_n: u32) -> Result<Self, Error> {
        let own = Self::new(Strategy::HeBooster(Sync::Launches), word_bits, log_n)?;
        Self::sound(Self { passes: multi_block(log_n, 1, 1)?, ..own })
    }

    /// Caramel's transform as published for N = 2^16: 2^`points_log` points per thread (8 in the
    /// paper), a first kernel of all stages but six, then one of six.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::check`], and [`Error::Dimension`] unless N is above 2^12.
    pub fn two_stage(log_n: u32, points_log: u32) -> Result<Self, Error> {
        let mut own = Self::new(Strategy::Caramel, 64, log_n)?;
        if own.passes.len() != 2 {
            return Err(Error::Dimension { n: 1 << log_n, min: 1 << 13, max: 1 << 17 });
        }
        // With few points per thread, a block has room for fewer columns.
        for (pass, lanes_log) in own.passes.iter_mut().zip([points_log.min(2), 4]) {
            (pass.points_log, pass.lanes_log) = (points_log, lanes_log);
        }
        Self::sound(own)
    }

    fn sound(self) -> Result<Self, Error> {
        self.check()?;
        Ok(self)
    }
}

/// Passes without exchanges of up to `multi_radix_log` stages, then one block of 2^11 points.
fn multi_block(log_n: u32, radix_log: u32, multi_radix_log: u32) -> Result<Vec<Pass>, Error> {
    if log_n <= BLOCK_LOG_N {
        return Err(Error::Dimension { n: 1 << log_n, min: 2 << BLOCK_LOG_N, max: 1 << 17 });
    }
    let outer = log_n - BLOCK_LOG_N;
    let mut passes: Vec<_> = (0..outer)
        .step_by(multi_radix_log.max(1) as usize)
        .map(|first| {
            let stages = multi_radix_log.clamp(1, outer - first);
            Pass { first, stages, points_log: stages, lanes_log: FREE_THREADS_LOG, blocks: 1 }
        })
        .collect();
    passes.push(Pass { first: outer, stages: BLOCK_LOG_N, points_log: radix_log, lanes_log: 0, blocks: 1 });
    Ok(passes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_divide_as_the_papers_say() {
        let shape = |recipe: &Recipe| -> Vec<_> {
            recipe.passes.iter().map(|p| (p.stages, 1 << p.points_log, p.threads())).collect()
        };
        let barrett = Barrett::Proposed;
        assert_eq!(shape(&Recipe::los(barrett, 64, 11, 1).unwrap()), [(11, 2, 1024)]);
        assert!(Recipe::los(barrett, 64, 12, 1).is_err());
        let lom = Recipe::lom(barrett, 64, 16, 1, 1).unwrap();
        assert_eq!(shape(&lom), [[(1, 2, 256); 5].as_slice(), &[(11, 2, 1024)]].concat());
        let mixed = Recipe::lom(barrett, 64, 16, 3, 4).unwrap();
        assert_eq!(shape(&mixed), [(4, 16, 256), (1, 2, 256), (11, 8, 256)]);
        let square = Recipe::two_dimensional(barrett, 64, 16, 1, 0, true).unwrap();
        assert_eq!(shape(&square), [(8, 2, 128), (8, 2, 128)]);
        assert_eq!(shape(&Recipe::two_stage(16, 3).unwrap()), [(10, 8, 512), (6, 8, 128)]);
        assert!(Recipe::lom(barrett, 64, 11, 1, 1).is_err());
    }
}
