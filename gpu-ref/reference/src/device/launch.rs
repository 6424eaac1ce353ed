//! Launches of kernels.

use super::Kernel;
use std::ops::Range;

/// A kernel with its shape and arguments.
pub struct Launch<'k> {
    /// The kernel.
    pub kernel: &'k Kernel,
    /// The shape of the grid.
    pub shape: Shape,
    /// One for each parameter, in order.
    pub arguments: Vec<Argument>,
    /// Addresses that are only read. Data that no launch writes, such as tables, are omitted.
    pub reads: Vec<Range<u64>>,
    /// Addresses that are written, and possibly read.
    pub writes: Vec<Range<u64>>,
}

impl<'k> Launch<'k> {
    /// An ordinary launch that takes no part in a graph of dependencies.
    pub fn ordered(
        kernel: &'k Kernel,
        grid: [u32; 3],
        threads: u32,
        shared: u32,
        arguments: Vec<Argument>,
    ) -> Self {
        let shape = Shape { grid, threads, shared, mode: Mode::Ordered };
        Self { kernel, shape, arguments, reads: Vec::new(), writes: Vec::new() }
    }
}

/// A kernel argument: an address or a 32-bit number (read from the low half).
#[derive(Clone, Copy, Debug)]
pub struct Argument(pub(super) u64);

impl Argument {
    /// An address on the kernel's device.
    pub fn address(address: u64) -> Self {
        Self(address)
    }
}

impl From<u32> for Argument {
    fn from(value: u32) -> Self {
        Self(value.into())
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads per block.
    pub threads: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
    /// Ordering relative to the preceding launch.
    pub mode: Mode,
}

/// Ordering of a launch relative to the preceding one, and of its blocks to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Starts after the preceding launch has ended.
    Ordered,
    /// Blocks start as soon as there is room, and wait inside the kernel for the preceding launch
    /// to end. The kernel must call `wait_for_previous_kernel`.
    Overlapping,
    /// [`Mode::Ordered`], with all blocks resident together.
    Cooperative,
}

/// Pointers to the arguments, in the form that launch functions expect.
pub(super) fn pointers(arguments: &[Argument]) -> Vec<*mut std::ffi::c_void> {
    arguments.iter().map(|a| (&raw const a.0).cast_mut().cast()).collect()
}
