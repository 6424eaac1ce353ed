//! The kernels of a transform: passes over its stages.

/// One kernel's share of a transform: `stages` consecutive stages. `cuda/pass.cuh` defines the
/// terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass {
    /// Number of stages.
    pub stages: u32,
    /// A thread holds 2^`points_log` elements, 2 to 32, and at most a sub-transform.
    pub points_log: u32,
    /// A block computes 2^`lanes_log` sub-transforms of 2^`stages` elements.
    pub lanes_log: u32,
    /// Minimum number of resident blocks per multiprocessor. The compiler limits registers
    /// accordingly.
    pub blocks: u32,
}

impl Pass {
    /// Threads per block.
    pub fn threads(&self) -> u32 {
        1 << (self.lanes_log + self.stages - self.points_log)
    }

    /// Returns true if a thread can hold the points, and if a block fits a polynomial of 2^`log_n`
    /// words of `word_bytes` bytes, 1024 threads and 227 KiB of shared memory.
    pub(super) fn fits(&self, log_n: u32, word_bytes: u32) -> bool {
        let Self { stages, points_log, lanes_log, .. } = *self;
        (1..=stages.min(5)).contains(&points_log)
            && stages <= log_n
            && lanes_log <= log_n - stages
            && self.threads() <= 1024
            && self.shared_bytes(word_bytes) <= 227 * 1024
    }

    /// Registers that a multiprocessor with 65,536 registers and 2,048 threads leaves a thread if
    /// `blocks` blocks are resident, or as many as it holds.
    pub(crate) fn registers(&self, blocks: u32) -> u32 {
        (65_536 / (self.threads() * blocks).clamp(1, 2048)).min(255)
    }

    /// Number of blocks for 2^`log_n` coefficients of one limb.
    pub(crate) fn blocks_each(&self, log_n: u32) -> u32 {
        1 << (log_n - self.stages - self.lanes_log)
    }

    /// Number of exchanges inside a block, plus one.
    pub(crate) fn rounds(&self) -> u32 {
        self.stages.div_ceil(self.points_log)
    }

    /// Lowest index bit of a sub-transform that registers represent in a round: `Pass::window` in
    /// `cuda/pass.cuh`.
    pub(crate) fn window(&self, round: u32) -> u32 {
        self.stages.saturating_sub(self.points_log * (round + 1))
    }

    /// Bytes of shared memory per block, for words of `word_bytes` bytes, with one word of padding
    /// for each 128 bytes.
    pub(super) fn shared_bytes(&self, word_bytes: u32) -> u32 {
        let words = 1 << (self.lanes_log + self.stages);
        if self.rounds() > 1 { words * word_bytes + words * word_bytes / 128 * word_bytes } else { 0 }
    }
}

/// A pass over all stages, and its minimum number of resident blocks.
pub(super) fn single(log_n: u32, points_log: u32, blocks: u32) -> Vec<Pass> {
    vec![Pass { stages: log_n, points_log, lanes_log: 0, blocks }]
}

/// A pass over columns, then one over rows, each with (points_log, lanes_log, blocks).
pub(super) fn pair(log_n: u32, columns: u32, first: (u32, u32, u32), second: (u32, u32, u32)) -> Vec<Pass> {
    let pass = |stages: u32, (points_log, lanes_log, blocks): (u32, u32, u32)| Pass {
        stages,
        points_log: points_log.min(stages),
        lanes_log,
        blocks,
    };
    vec![pass(columns, first), pass(log_n - columns, second)]
}

/// Kernels of a polynomial product. By default, one fused kernel computes the last forward pass of
/// both factors, the products, and the first inverse pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Product {
    /// If true, the pointwise products are a separate kernel.
    pub separate: bool,
    /// Minimum number of resident blocks of the fused kernel per multiprocessor. It holds two
    /// factors, so it needs more registers than a pass.
    pub blocks: u32,
}

impl Default for Product {
    fn default() -> Self {
        Self { separate: false, blocks: 1 }
    }
}
