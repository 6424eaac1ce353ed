//! The properties of a device on which recipes depend.

/// What recipes need to know of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Card {
    /// Blocks of 227 KiB of shared memory in clusters that the device holds at once, one a multiprocessor.
    /// Zero if it has no clusters, or less memory.
    pub cluster_blocks: u32,
    /// Bytes of the L2 cache.
    pub cache_bytes: usize,
    /// Whether doubles are at least half as fast as floats. Elsewhere they are 64 times slower or emulated,
    /// and integers replace them.
    pub doubles: bool,
    /// GB/s of its memory, by its clock and width.
    pub memory_rate: u32,
}

impl Card {
    /// An H100 with 132 multiprocessors, on which most recipes were measured.
    pub const H100: Self =
        Self { cluster_blocks: 132, cache_bytes: 50 << 20, doubles: true, memory_rate: 3352 };

    /// Whether passes lose less to kernels that cross memory once, as on an H200, whose memory has
    /// 4,917 GB/s.
    pub(super) fn has_fast_memory(self) -> bool {
        self.memory_rate >= 4000
    }

    /// Whether the data between two steps of a chain stay in the L2 cache: up to 16 MiB, beside the roots.
    /// Measured on an H100, assumed elsewhere.
    pub(super) fn holds_chains(self) -> bool {
        self.cache_bytes >= 32 << 20
    }
}
