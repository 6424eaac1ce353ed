//! What can go wrong, with what would be right.

/// An error of this crate. Every variant says what was asked for and what is possible instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The machine has no CUDA driver, no NVRTC, or no GPU.
    #[error("no CUDA device: {reason}; `Device::emulated` runs the same kernels on the CPU")]
    NoDevice {
        /// Which part is missing.
        reason: String,
    },
    /// The emulation needs a C++20 compiler and found none.
    #[error("cannot run `{command}` ({reason}); the emulation compiles kernels with g++ 11 or later")]
    NoCompiler {
        /// The compiler that was tried.
        command: String,
        /// Why it did not start.
        reason: String,
    },
    /// A compiler refused a kernel. This is a fault of this crate.
    #[error("kernel source `{name}` does not compile:\n{log}")]
    Compile {
        /// The kernel file.
        name: String,
        /// What the compiler said.
        log: String,
    },
    /// A call into the CUDA driver failed.
    #[error("CUDA driver call {call} failed: {code}")]
    Driver {
        /// What was being done.
        call: &'static str,
        /// The driver's name for the failure.
        code: String,
    },
    /// An emulated kernel let some threads of a block end while others waited at a barrier, or never ended.
    #[error("emulated kernel `{kernel}` got stuck: its threads disagree about a barrier")]
    Stuck {
        /// The kernel's name.
        kernel: String,
    },
    /// The ring dimension is out of the range that a strategy supports.
    #[error("N = {n} is not a power of two from {min} to {max}")]
    Dimension {
        /// What was asked for.
        n: usize,
        /// The smallest N.
        min: usize,
        /// The largest N.
        max: usize,
    },
    /// A modulus does not suit a strategy, or its root is not what it should be.
    #[error("modulus {q}: {reason}")]
    Modulus {
        /// The modulus.
        q: u128,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A strategy does not exist for a word size, or a device cannot do what was asked.
    #[error("{what} is not supported: {instead}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// What is possible.
        instead: String,
    },
    /// A batch has the wrong number of words.
    #[error("a batch of {got} words where a positive multiple of {unit} is wanted")]
    Length {
        /// What the number must be a positive multiple of, or equal to where a batch has one length.
        unit: usize,
        /// The number of words given.
        got: usize,
    },
    /// A coefficient is not below its modulus.
    #[error("word {index} is {value}, not below its modulus {q}")]
    Range {
        /// Position in the batch.
        index: usize,
        /// The coefficient.
        value: u128,
        /// Its modulus.
        q: u128,
    },
}
