//! Launches of kernels.

use super::{Buffer, Kernel};
use crate::Error;
use std::ops::Range;
use std::sync::Arc;

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
    /// Memory of this launch alone, to which an argument points.
    pub(crate) workspace: Option<Arc<Buffer>>,
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
        Self { kernel, shape, arguments, reads: Vec::new(), writes: Vec::new(), workspace: None }
    }

    /// Checks that the arguments have the number and the sizes of the kernel's parameters.
    pub(super) fn check(&self) -> Result<(), Error> {
        let found = self.arguments.iter().map(|argument| argument.bytes);
        if found.clone().eq(self.kernel.parameters.iter().copied()) {
            return Ok(());
        }
        Err(Error::Arguments {
            kernel: self.kernel.name.clone(),
            expected: self.kernel.parameters.clone(),
            found: found.collect(),
        })
    }
}

/// A kernel argument: an address or a 32-bit number.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// A number is in the low half.
    pub(super) value: u64,
    /// The size of the parameter.
    bytes: usize,
}

impl Argument {
    /// An address on the kernel's device.
    pub fn address(address: u64) -> Self {
        Self { value: address, bytes: size_of::<u64>() }
    }
}

impl From<u32> for Argument {
    fn from(value: u32) -> Self {
        Self { value: value.into(), bytes: size_of::<u32>() }
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
    arguments.iter().map(|a| (&raw const a.value).cast_mut().cast()).collect()
}
