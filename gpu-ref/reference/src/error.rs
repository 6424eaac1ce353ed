//! Errors of this crate, each with a remedy.

/// An error of this crate. Every variant names the cause and a valid alternative.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The machine has no CUDA driver, no NVRTC, or no GPU.
    #[error("no CUDA device: {reason}; `Device::emulated` runs the same kernels on the CPU")]
    NoDevice {
        /// The missing component.
        reason: String,
    },
    /// The emulation found no C++20 compiler.
    #[error("cannot run `{command}`: {reason}; the emulation requires g++ 11 or later")]
    NoCompiler {
        /// The compiler command.
        command: String,
        /// The reason that it did not start.
        reason: String,
    },
    /// A compiler rejected a kernel. This is a bug in this crate.
    #[error("cannot compile kernel source `{name}`:\n{log}")]
    Compile {
        /// The kernel file.
        name: String,
        /// The compiler's output.
        log: String,
    },
    /// A call into the CUDA driver failed.
    #[error("CUDA driver error while {call}: {code}")]
    Driver {
        /// The operation.
        call: &'static str,
        /// The driver's error code.
        code: String,
    },
    /// A launch does not have the arguments that its kernel takes.
    #[error(
        "kernel `{kernel}` takes parameters of {expected:?} bytes, found arguments of {found:?}; an address has 8 bytes, a number 4"
    )]
    Arguments {
        /// The kernel's name.
        kernel: String,
        /// The sizes of its parameters.
        expected: Vec<usize>,
        /// The sizes of the arguments.
        found: Vec<usize>,
    },
    /// Threads of an emulated kernel disagree about a barrier, or never end.
    #[error("deadlock in emulated kernel `{kernel}`: some threads did not reach a barrier")]
    Stuck {
        /// The kernel's name.
        kernel: String,
    },
    /// An emulated kernel wrote past the end of a buffer. This is a bug in this crate.
    #[error("emulated kernel `{kernel}` wrote past the end of a buffer of {bytes} bytes")]
    Overrun {
        /// The kernel's name.
        kernel: String,
        /// The buffer's size in bytes.
        bytes: usize,
    },
    /// The ring dimension is outside the supported range.
    #[error("invalid dimension N = {n}: expected a power of two from {min} to {max}")]
    Dimension {
        /// The requested N.
        n: usize,
        /// The smallest N.
        min: usize,
        /// The largest N.
        max: usize,
    },
    /// A modulus is invalid for a strategy, or its root is invalid.
    #[error("invalid modulus {q}: {reason}")]
    Modulus {
        /// The modulus.
        q: u128,
        /// The cause, and a valid alternative.
        reason: String,
    },
    /// A strategy does not support a word size, or a device does not support an operation.
    #[error("unsupported: {what}; {instead}")]
    Unsupported {
        /// The requested operation.
        what: String,
        /// A valid alternative.
        instead: String,
    },
    /// A batch has the wrong number of words.
    #[error("invalid length of {got} words: expected a positive multiple of {unit}")]
    Length {
        /// The length must be a positive multiple of this number, or equal to it if only one length
        /// is valid.
        unit: usize,
        /// Number of words in the batch.
        got: usize,
    },
    /// An address is not one of device memory.
    #[error("invalid address {address:#x} of {bytes} bytes: {reason}")]
    Address {
        /// The address.
        address: u64,
        /// The length of the memory there.
        bytes: usize,
        /// The cause, and what is valid.
        reason: String,
    },
    /// A coefficient is not below its modulus.
    #[error("word {index} is out of range: {value} is not below its modulus {q}")]
    Range {
        /// Position in the batch.
        index: usize,
        /// The coefficient.
        value: u128,
        /// Its modulus.
        q: u128,
    },
}
