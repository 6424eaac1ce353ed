//! Where kernels run: a CUDA device, or the CPU through the emulation header.
//!
//! Both take the same kernel text and the same launches, so that everything above this module is written once.

mod cuda;
mod emulated;

use crate::Error;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

pub(crate) use cuda::Graph;

/// A module by the first who wants it.
type Slot = Arc<Mutex<Option<Module>>>;

/// A place to run kernels. Cloning is cheap and gives the same device.
#[derive(Clone)]
pub struct Device {
    backend: Arc<Backend>,
    modules: Arc<Mutex<HashMap<String, Slot>>>,
}

enum Backend {
    Cuda(cuda::Cuda),
    Emulated(emulated::Compiler),
}

impl Device {
    /// Opens CUDA device number `ordinal`.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the CUDA driver, NVRTC or the device is missing.
    pub fn open(ordinal: usize) -> Result<Self, Error> {
        Ok(Self::from_backend(Backend::Cuda(cuda::Cuda::open(ordinal)?)))
    }

    /// The CPU: kernels are compiled by `$CXX`, or `g++`, and run with one fiber a thread. Bit for bit what a GPU computes, and
    /// slow: milliseconds where a GPU takes microseconds. Compiled kernels are kept in `$XDG_CACHE_HOME/gpu-ref` or
    /// `~/.cache/gpu-ref`, for the next time.
    ///
    /// # Errors
    /// [`Error::NoCompiler`] if the compiler does not start.
    pub fn emulated() -> Result<Self, Error> {
        Ok(Self::from_backend(Backend::Emulated(emulated::Compiler::find()?)))
    }

    fn from_backend(backend: Backend) -> Self {
        Self { backend: Arc::new(backend), modules: Arc::default() }
    }

    /// What this device calls itself, for reports.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver does not answer.
    pub fn name(&self) -> Result<String, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => cuda.name(),
            Backend::Emulated(compiler) => Ok(compiler.name()),
        }
    }

    /// Compiles `source`, or returns what was compiled from the same text before. `name` is for messages.
    pub(crate) fn compile(&self, name: &str, source: &str) -> Result<Module, Error> {
        let slot =
            self.modules.lock().expect("no panic while held").entry(source.to_owned()).or_default().clone();
        // Whoever else wants the same module waits; other modules compile meanwhile.
        let mut slot = slot.lock().expect("no panic while held");
        if let Some(module) = &*slot {
            return Ok(module.clone());
        }
        let module = match &*self.backend {
            Backend::Cuda(cuda) => Module::Cuda(cuda.compile(name, source)?),
            Backend::Emulated(compiler) => Module::Emulated(Arc::new(compiler.compile(name, source)?)),
        };
        *slot = Some(module.clone());
        Ok(module)
    }

    /// Refuses what belongs to another device: its addresses mean nothing here.
    pub(crate) fn require(&self, other: &Device) -> Result<(), Error> {
        if Arc::ptr_eq(&self.backend, &other.backend) { Ok(()) } else { Err(foreign_buffer()) }
    }

    /// A buffer of `bytes` bytes, all zero.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Buffer, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => Ok(Buffer::Cuda(cuda.allocate(bytes)?)),
            Backend::Emulated(_) => Ok(Buffer::Emulated(emulated::Memory::new(bytes))),
        }
    }

    /// Copies `from` to the start of `to`, which is at least as long.
    pub(crate) fn upload(&self, from: &[u8], to: &mut Buffer) -> Result<(), Error> {
        match (&*self.backend, to) {
            (Backend::Cuda(cuda), Buffer::Cuda(to)) => cuda.upload(from, to),
            (Backend::Emulated(_), Buffer::Emulated(to)) => {
                to.write(from);
                Ok(())
            }
            _ => Err(foreign_buffer()),
        }
    }

    /// Copies the start of `from` to all of `to`, after everything launched before.
    pub(crate) fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<(), Error> {
        match (&*self.backend, from) {
            (Backend::Cuda(cuda), Buffer::Cuda(from)) => cuda.download(from, to),
            (Backend::Emulated(_), Buffer::Emulated(from)) => {
                from.read(to);
                Ok(())
            }
            _ => Err(foreign_buffer()),
        }
    }

    /// Copies from an address on this device, after everything launched before.
    ///
    /// # Safety
    /// The address must be that of so many bytes on this device.
    pub(crate) unsafe fn read(&self, from: u64, to: &mut [u8]) -> Result<(), Error> {
        match &*self.backend {
            // SAFETY: the caller's promise.
            Backend::Cuda(cuda) => unsafe { cuda.read(from, to) },
            // SAFETY: the caller's promise; emulated kernels have ended when their launch returns.
            Backend::Emulated(_) => unsafe {
                std::ptr::copy_nonoverlapping(from as *const u8, to.as_mut_ptr(), to.len());
                Ok(())
            },
        }
    }

    /// Copies to an address on this device, after everything launched before.
    ///
    /// # Safety
    /// The address must be that of so many bytes on this device, which nothing else uses.
    pub(crate) unsafe fn write(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        match &*self.backend {
            // SAFETY: the caller's promise.
            Backend::Cuda(cuda) => unsafe { cuda.write(to, from) },
            // SAFETY: the caller's promise; emulated kernels have ended when their launch returns.
            Backend::Emulated(_) => unsafe {
                std::ptr::copy_nonoverlapping(from.as_ptr(), to as *mut u8, from.len());
                Ok(())
            },
        }
    }

    /// The stream of a CUDA device.
    pub(crate) fn stream(&self) -> Result<Arc<cudarc::driver::CudaStream>, Error> {
        Ok(self.cuda("communication through NCCL")?.stream())
    }

    /// Starts a kernel; on a GPU it runs after everything launched before.
    ///
    /// # Safety
    /// The launch's arguments must be what the kernel's parameters are, in order, and its pointers must stay valid until the
    /// kernel has ended, for all that the kernel reads and writes with this grid.
    pub(crate) unsafe fn launch(&self, launch: &Launch<'_>) -> Result<(), Error> {
        match (&*self.backend, launch.kernel) {
            // SAFETY: the caller's promise.
            (Backend::Cuda(cuda), Kernel::Cuda(function)) => unsafe {
                cuda.launch(function, launch.shape, &launch.arguments)
            },
            // SAFETY: the caller's promise.
            (Backend::Emulated(_), Kernel::Emulated(entry)) => unsafe {
                entry.launch(launch.shape, &launch.arguments)
            },
            _ => Err(foreign_buffer()),
        }
    }

    /// A graph of launches one after the other. The graph must not outlive what the launches use.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on an emulated device; [`Error::Driver`].
    pub(crate) fn record<'l, 'a: 'l>(
        &self,
        launches: impl IntoIterator<Item = &'l Launch<'a>>,
    ) -> Result<Graph, Error> {
        self.cuda("recording a graph")?.record(launches)
    }

    /// A graph of ordinary launches that each wait for those that `dependencies` names by their position, all before it. The
    /// graph must not outlive what the launches use.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on an emulated device; [`Error::Driver`].
    pub(crate) fn build(&self, launches: &[Launch<'_>], dependencies: &[Vec<usize>]) -> Result<Graph, Error> {
        self.cuda("building a graph")?.build(launches, dependencies)
    }

    /// The device time of what `work` launches, in microseconds.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on an emulated device; any error of `work`.
    pub(crate) fn elapsed(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        self.cuda("timing")?.elapsed(work)
    }

    /// The CUDA device, for what an emulated one has not.
    fn cuda(&self, what: &str) -> Result<&cuda::Cuda, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => Ok(cuda),
            Backend::Emulated(_) => Err(Error::Unsupported {
                what: format!("{what} on the emulated device"),
                instead: "graphs, timings and NCCL need a CUDA device".into(),
            }),
        }
    }

    /// Whether kernels run on the CPU.
    pub fn is_emulated(&self) -> bool {
        matches!(&*self.backend, Backend::Emulated(_))
    }

    /// Waits for everything launched on this device.
    ///
    /// # Errors
    /// [`Error::Driver`], also for a kernel that failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => cuda.synchronize(),
            Backend::Emulated(_) => Ok(()),
        }
    }

    /// How many blocks can be resident at once: the limit of a cooperative launch.
    pub(crate) fn resident_blocks(&self, kernel: &Kernel, shape: Shape) -> Result<usize, Error> {
        match (&*self.backend, kernel) {
            (Backend::Cuda(cuda), Kernel::Cuda(function)) => cuda.resident_blocks(function, shape),
            // All fibers of a launch exist together; this many still fit a small machine's memory.
            (Backend::Emulated(_), Kernel::Emulated(_)) => Ok(1 << 8),
            _ => Err(foreign_buffer()),
        }
    }
}

/// Plans and batches of different devices must not be mixed.
fn foreign_buffer() -> Error {
    Error::Unsupported {
        what: "a batch or kernel of another device".into(),
        instead: "use batches with the plan that made them".into(),
    }
}

/// Compiled kernels.
#[derive(Clone)]
pub(crate) enum Module {
    Cuda(Arc<cudarc::driver::CudaModule>),
    Emulated(Arc<emulated::Library>),
}

impl Module {
    /// The kernel called `name`, which may use up to `shared` bytes of dynamic shared memory.
    pub(crate) fn kernel(&self, name: &str, shared: u32) -> Result<Kernel, Error> {
        match self {
            Self::Cuda(module) => Ok(Kernel::Cuda(cuda::function(module, name, shared)?)),
            Self::Emulated(library) => Ok(Kernel::Emulated(emulated::Library::entry(library, name)?)),
        }
    }
}

/// One kernel, ready to be launched.
pub(crate) enum Kernel {
    Cuda(cudarc::driver::CudaFunction),
    Emulated(emulated::Entry),
}

/// Device memory.
pub(crate) enum Buffer {
    Cuda(cudarc::driver::CudaSlice<u8>),
    Emulated(emulated::Memory),
}

impl Buffer {
    /// The address that kernels see.
    pub(crate) fn pointer(&self) -> Argument {
        match self {
            Self::Cuda(slice) => Argument(cuda::address(slice)),
            Self::Emulated(memory) => Argument(memory.address()),
        }
    }

    /// The address `bytes` bytes further on.
    pub(crate) fn pointer_at(&self, bytes: usize) -> Argument {
        Argument(self.pointer().0 + bytes as u64)
    }

    /// The addresses of `bytes` bytes from `start` on.
    pub(crate) fn region(&self, start: usize, bytes: usize) -> Range<u64> {
        let begin = self.pointer_at(start).0;
        begin..begin + bytes as u64
    }
}

/// A kernel with everything that it takes to start it.
pub(crate) struct Launch<'a> {
    pub kernel: &'a Kernel,
    pub shape: Shape,
    pub arguments: Vec<Argument>,
    /// The addresses that it only reads, among those that some launch writes: tables do not matter.
    pub reads: Vec<Range<u64>>,
    /// The addresses that it writes, and may read.
    pub writes: Vec<Range<u64>>,
}

impl<'a> Launch<'a> {
    /// Of an ordinary kernel outside of programs.
    pub(crate) fn ordered(
        kernel: &'a Kernel,
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
#[derive(Debug, Clone, Copy)]
pub(crate) struct Argument(u64);

impl Argument {
    /// An address on the device that the kernel runs on.
    pub(crate) fn address(address: u64) -> Self {
        Self(address)
    }
}

impl From<u32> for Argument {
    fn from(value: u32) -> Self {
        Self(value.into())
    }
}

/// The shape of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory a block.
    pub shared: u32,
    /// How it relates to the launch before it.
    pub mode: Mode,
}

/// How a launch relates to the one before it, and its blocks to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Starts when the launch before it has ended.
    Ordered,
    /// Blocks start as soon as there is room and wait inside the kernel for the launch before to end. The kernel must call
    /// `wait_for_previous_kernel`.
    Overlapping,
    /// [`Mode::Ordered`], with all blocks resident together.
    Cooperative,
}

/// Pointers to the arguments, as launch functions want them.
fn argument_pointers(arguments: &[Argument]) -> Vec<*mut std::ffi::c_void> {
    arguments.iter().map(|a| (&raw const a.0).cast_mut().cast()).collect()
}
