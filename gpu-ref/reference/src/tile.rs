//! Division of a base conversion among blocks and threads.

use crate::Error;

/// Division of the matrix product of a conversion among blocks and threads (Cheddar, Algorithm 3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// Limbs per thread, 1 to 8 (the paper's `L_t`).
    pub thread_limbs: u32,
    /// Neighbouring columns per thread: 1, 2 or 4 (`N_t`).
    pub thread_columns: u32,
    /// Threads per block along the limbs (`L_b`). If more than one, they share the input through
    /// shared memory.
    pub block_limbs: u32,
    /// Threads per block along the columns, a power of two (`N_b`).
    pub block_columns: u32,
}

impl Default for Tile {
    /// The paper's choice.
    fn default() -> Self {
        Self { thread_limbs: 3, thread_columns: 4, block_limbs: 1, block_columns: 256 }
    }
}

impl Tile {
    /// Checks the tile for a conversion from `from` limbs of `n` columns.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if the tile exceeds a thread, a block or the columns.
    pub(crate) fn check(self, from: usize, n: usize) -> Result<(), Error> {
        let Self { thread_limbs, thread_columns, block_limbs, block_columns } = self;
        let columns = thread_columns as usize * block_columns as usize;
        let sound = (1..=8).contains(&thread_limbs)
            && matches!(thread_columns, 1 | 2 | 4)
            && (1..=1024).contains(&block_limbs)
            && block_columns.is_power_of_two()
            && block_limbs.checked_mul(block_columns).is_some_and(|threads| threads <= 1024)
            && columns <= n
            && self.shared_bytes(from) <= 227 * 1024;
        if sound {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("{self:?} for {from} limbs of {n} columns"),
            instead: "use 1 to 8 limbs and 1, 2 or 4 columns per thread, and at most 1024 threads, 227 KiB and all columns per block".into(),
        })
    }

    /// Bytes of shared memory: the block's rows of the matrix and, if its threads share them, its
    /// columns of the input.
    pub(crate) fn shared_bytes(self, from: usize) -> usize {
        let rows = (self.thread_limbs * self.block_limbs) as usize;
        let columns =
            if self.block_limbs > 1 { (self.thread_columns * self.block_columns) as usize } else { 0 };
        4 * from * (rows + columns)
    }
}
