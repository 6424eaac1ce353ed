//! Devices that run kernels: a CUDA device, or the CPU through the emulation header.
//!
//! Both backends accept the same kernel text and the same launches, so all code above this module
//! is written once.

mod cache;
mod cuda;
mod emulated;
pub(crate) mod runtime_compiler;

use crate::Error;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Arc, Mutex};

pub(crate) use cuda::{Graph, Link};

/// A compiled module, locked while its first user compiles it.
type Slot = Arc<Mutex<Option<Module>>>;

/// A device that runs kernels. A clone is cheap and refers to the same device.
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
    /// Opens CUDA device number `ordinal`, of compute capability 8.0 or later. Kernels are compiled
    /// for its architecture, and cached in `$XDG_CACHE_HOME/gpu-ref` or `~/.cache/gpu-ref`.
    ///
    /// # Errors
    /// Returns [`Error::NoDevice`] if the CUDA driver, NVRTC or the device is missing.
    pub fn open(ordinal: usize) -> Result<Self, Error> {
        Ok(Self::from_backend(Backend::Cuda(cuda::Cuda::open(ordinal)?)))
    }

    /// Opens the CPU device. Kernels are compiled by `$CXX` or `g++`, and each thread runs as a
    /// fiber. Results equal a GPU's bit for bit. It is slow: milliseconds instead of microseconds.
    /// Compiled kernels are cached in `$XDG_CACHE_HOME/gpu-ref` or `~/.cache/gpu-ref`.
    ///
    /// # Errors
    /// Returns [`Error::NoCompiler`] if the compiler does not start.
    pub fn emulated() -> Result<Self, Error> {
        Ok(Self::from_backend(Backend::Emulated(emulated::Compiler::find()?)))
    }

    /// This device with another stream: all work of the new value goes to `stream`, in order with the
    /// caller's own work there. Compiled kernels are shared. Plans and batches belong to one of the
    /// two values; [`crate::Batch::from_raw`] gives the other one access to the same memory.
    ///
    /// Transforms and products only launch kernels, except for the first product of a plan, which
    /// compiles them. So they may also be captured into a graph.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device or if the stream belongs to another
    /// device or context, and [`Error::Driver`] if a driver call fails.
    ///
    /// # Safety
    /// `stream` must be a `cudaStream_t` or `CUstream` (null for the default stream) that exists as
    /// long as the new value, its clones, and its plans and batches.
    pub unsafe fn on_stream(&self, stream: *mut c_void) -> Result<Self, Error> {
        // SAFETY: guaranteed by the caller.
        let cuda = unsafe { self.cuda("a stream")?.on_stream(stream.cast()) }?;
        Ok(Self { modules: self.modules.clone(), ..Self::from_backend(Backend::Cuda(cuda)) })
    }

    /// The stream of all work of this device, as a `CUstream`.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device.
    pub fn raw_stream(&self) -> Result<*mut c_void, Error> {
        Ok(self.cuda("a stream")?.stream().cu_stream().cast())
    }

    fn from_backend(backend: Backend) -> Self {
        Self { backend: Arc::new(backend), modules: Arc::default() }
    }

    /// The device's name, for reports.
    ///
    /// # Errors
    /// Returns [`Error::Driver`] if a driver call fails.
    pub fn name(&self) -> Result<String, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => cuda.name(),
            Backend::Emulated(compiler) => Ok(compiler.name()),
        }
    }

    /// Compiles `source`, or returns the module compiled earlier from the same text. `name` appears
    /// in messages.
    pub(crate) fn compile(&self, name: &str, source: &str) -> Result<Module, Error> {
        let slot =
            self.modules.lock().expect("no panic while held").entry(source.to_owned()).or_default().clone();
        // Other users of this module wait here; other modules compile in parallel.
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

    /// Checks that `other` is this device. Addresses of another device are invalid here.
    pub(crate) fn require(&self, other: &Device) -> Result<(), Error> {
        if Arc::ptr_eq(&self.backend, &other.backend) { Ok(()) } else { Err(foreign_buffer()) }
    }

    /// Allocates a buffer of `bytes` bytes, all zero.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Buffer, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => Ok(Buffer::Cuda(cuda.allocate(bytes)?)),
            Backend::Emulated(_) => Ok(Buffer::Emulated(emulated::Memory::new(bytes))),
        }
    }

    /// Copies `from` to the start of `to`, which must be at least as long.
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

    /// Fills `to` from the start of `from`, after all earlier work.
    pub(crate) fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<(), Error> {
        match (&*self.backend, from) {
            (Backend::Cuda(cuda), Buffer::Cuda(from)) => cuda.download(from, to),
            (Backend::Emulated(_), Buffer::Emulated(from)) => {
                from.read(to);
                Ok(())
            }
            // SAFETY: whoever lent the memory guarantees its length.
            (_, &Buffer::Borrowed(address)) => unsafe { self.read(address, to) },
            _ => Err(foreign_buffer()),
        }
    }

    /// Checks that a kernel can use `bytes` bytes at an address, aligned to `alignment`.
    pub(crate) fn check_address(&self, address: u64, bytes: usize, alignment: usize) -> Result<(), Error> {
        let fail = |reason: String| Err(Error::Address { address, bytes, reason });
        if address == 0 || !address.is_multiple_of(alignment as u64) {
            return fail(format!("expected a multiple of {alignment} that is not zero"));
        }
        match &*self.backend {
            Backend::Cuda(cuda) => cuda.check_address(address, bytes).or_else(fail),
            Backend::Emulated(_) => Ok(()),
        }
    }

    /// Copies from an address on this device, after all earlier work.
    ///
    /// # Safety
    /// The address must be valid for `to.len()` bytes on this device.
    pub(crate) unsafe fn read(&self, from: u64, to: &mut [u8]) -> Result<(), Error> {
        match &*self.backend {
            // SAFETY: guaranteed by the caller.
            Backend::Cuda(cuda) => unsafe { cuda.read(from, to) },
            // SAFETY: guaranteed by the caller; an emulated kernel has ended when its launch
            // returns.
            Backend::Emulated(_) => unsafe {
                std::ptr::copy_nonoverlapping(from as *const u8, to.as_mut_ptr(), to.len());
                Ok(())
            },
        }
    }

    /// Copies to an address on this device, after all earlier work.
    ///
    /// # Safety
    /// The address must be valid for `from.len()` bytes on this device, and nothing else may use
    /// them.
    pub(crate) unsafe fn write(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        match &*self.backend {
            // SAFETY: guaranteed by the caller.
            Backend::Cuda(cuda) => unsafe { cuda.write(to, from) },
            // SAFETY: guaranteed by the caller; an emulated kernel has ended when its launch
            // returns.
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

    /// A second stream of a CUDA device, whose work may read the memory of all `peers`.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, and [`Error::Driver`] if a driver call
    /// fails, for instance because the devices are not connected.
    pub(crate) fn link(&self, peers: &[Device]) -> Result<Link, Error> {
        let cuda = |device: &'_ Device| device.cuda("peer pointers").map(cuda::Cuda::ordinal);
        let peers = peers.iter().map(cuda).collect::<Result<Vec<_>, _>>()?;
        self.cuda("peer pointers")?.link(&peers)
    }

    /// [`Self::launch`] on a second stream of this device.
    ///
    /// # Safety
    /// See [`Self::launch`].
    pub(crate) unsafe fn launch_beside(&self, link: &Link, launch: &Launch<'_>) -> Result<(), Error> {
        let Kernel::Cuda(function) = launch.kernel else { return Err(foreign_buffer()) };
        let cuda = self.cuda("a second stream")?;
        // SAFETY: guaranteed by the caller.
        unsafe { cuda.launch_on(link.second(), function, launch.shape, &launch.arguments) }
    }

    /// Starts a kernel. On a GPU it runs after all earlier launches.
    ///
    /// # Safety
    /// The arguments must match the kernel's parameters in order. Its pointers must be valid for
    /// all accesses of this grid until the kernel has ended.
    pub(crate) unsafe fn launch(&self, launch: &Launch<'_>) -> Result<(), Error> {
        match (&*self.backend, launch.kernel) {
            // SAFETY: guaranteed by the caller.
            (Backend::Cuda(cuda), Kernel::Cuda(function)) => unsafe {
                cuda.launch(function, launch.shape, &launch.arguments)
            },
            // SAFETY: guaranteed by the caller.
            (Backend::Emulated(_), Kernel::Emulated(entry)) => unsafe {
                entry.launch(launch.shape, &launch.arguments)
            },
            _ => Err(foreign_buffer()),
        }
    }

    /// A graph of launches in sequence. The graph must not outlive the resources of its launches.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, and [`Error::Driver`] if a driver call
    /// fails.
    pub(crate) fn record<'l, 'a: 'l>(
        &self,
        launches: impl IntoIterator<Item = &'l Launch<'a>>,
    ) -> Result<Graph, Error> {
        self.cuda("recording a graph")?.record(launches)
    }

    /// A graph of ordinary launches. `dependencies` lists for each launch the positions of earlier
    /// ones to wait for. The graph must not outlive the resources of its launches.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, and [`Error::Driver`] if a driver call
    /// fails.
    pub(crate) fn build(&self, launches: &[Launch<'_>], dependencies: &[Vec<usize>]) -> Result<Graph, Error> {
        self.cuda("building a graph")?.build(launches, dependencies)
    }

    /// Device time of the launches made by `work`, in microseconds.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, and any error of `work`.
    pub(crate) fn elapsed(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        self.cuda("timing")?.elapsed(work)
    }

    /// The CUDA device, for features without an emulation.
    fn cuda(&self, what: &str) -> Result<&cuda::Cuda, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => Ok(cuda),
            Backend::Emulated(_) => Err(Error::Unsupported {
                what: format!("{what} on the emulated device"),
                instead: "graphs, streams, timings, local memory and NCCL require a CUDA device".into(),
            }),
        }
    }

    /// Returns true if kernels run on the CPU.
    pub fn is_emulated(&self) -> bool {
        matches!(&*self.backend, Backend::Emulated(_))
    }

    /// Waits for all work on this device.
    ///
    /// # Errors
    /// Returns [`Error::Driver`] if a driver call or an earlier kernel failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => cuda.synchronize(),
            Backend::Emulated(_) => Ok(()),
        }
    }

    /// Bytes of local memory that a thread of a kernel needs.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, and [`Error::Driver`] if a driver call
    /// fails.
    pub(crate) fn local_bytes(&self, kernel: &Kernel) -> Result<usize, Error> {
        self.cuda("local memory")?;
        let Kernel::Cuda(function) = kernel else { return Err(foreign_buffer()) };
        cuda::local_bytes(function)
    }

    /// Starts a copy of `bytes` bytes between addresses on this device, after all earlier work.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, and [`Error::Driver`] if a driver call
    /// fails.
    ///
    /// # Safety
    /// Both addresses must be valid for that many bytes, and nothing else may use the target, or
    /// change the source, until the copy has ended.
    pub(crate) unsafe fn start_copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.cuda("timing a copy")?.start_copy(to, from, bytes) }
    }

    /// Maximum number of resident blocks: the limit of a cooperative launch.
    pub(crate) fn resident_blocks(&self, kernel: &Kernel, shape: Shape) -> Result<usize, Error> {
        match (&*self.backend, kernel) {
            (Backend::Cuda(cuda), Kernel::Cuda(function)) => cuda.resident_blocks(function, shape),
            // All fibers of a launch exist at once; this number fits the memory of a small machine.
            (Backend::Emulated(_), Kernel::Emulated(_)) => Ok(1 << 8),
            _ => Err(foreign_buffer()),
        }
    }
}

/// The error for a plan and a batch of different devices.
fn foreign_buffer() -> Error {
    Error::Unsupported {
        what: "a batch or kernel of another device".into(),
        instead: "use a plan and batches of the same device".into(),
    }
}

/// Compiled kernels.
#[derive(Clone)]
pub(crate) enum Module {
    Cuda(Arc<cudarc::driver::CudaModule>),
    Emulated(Arc<emulated::Library>),
}

impl Module {
    /// Looks up kernel `name`, which may use up to `shared` bytes of dynamic shared memory.
    pub(crate) fn kernel(&self, name: &str, shared: u32) -> Result<Kernel, Error> {
        match self {
            Self::Cuda(module) => Ok(Kernel::Cuda(cuda::function(module, name, shared)?)),
            Self::Emulated(library) => Ok(Kernel::Emulated(emulated::Library::entry(library, name)?)),
        }
    }
}

/// A kernel, ready to launch.
pub(crate) enum Kernel {
    Cuda(cudarc::driver::CudaFunction),
    Emulated(emulated::Entry),
}

/// Device memory.
pub(crate) enum Buffer {
    Cuda(cudarc::driver::CudaSlice<u8>),
    Emulated(emulated::Memory),
    /// The address of memory that someone else owns.
    Borrowed(u64),
}

impl Buffer {
    /// The address seen by kernels.
    pub(crate) fn pointer(&self) -> Argument {
        match self {
            Self::Cuda(slice) => Argument(cuda::address(slice)),
            Self::Emulated(memory) => Argument(memory.address()),
            &Self::Borrowed(address) => Argument(address),
        }
    }

    /// The address `bytes` bytes into the buffer.
    pub(crate) fn pointer_at(&self, bytes: usize) -> Argument {
        Argument(self.pointer().0 + bytes as u64)
    }

    /// The addresses of `bytes` bytes from `start`.
    pub(crate) fn region(&self, start: usize, bytes: usize) -> Range<u64> {
        let begin = self.pointer_at(start).0;
        begin..begin + bytes as u64
    }
}

/// A kernel with its shape and arguments.
pub(crate) struct Launch<'a> {
    pub kernel: &'a Kernel,
    pub shape: Shape,
    pub arguments: Vec<Argument>,
    /// Addresses that are only read. Data that no launch writes, such as tables, are omitted.
    pub reads: Vec<Range<u64>>,
    /// Addresses that are written, and possibly read.
    pub writes: Vec<Range<u64>>,
}

impl<'a> Launch<'a> {
    /// An ordinary launch outside a sequence.
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
    /// An address on the kernel's device.
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
    /// Threads per block.
    pub threads: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
    /// Ordering relative to the preceding launch.
    pub mode: Mode,
}

/// Ordering of a launch relative to the preceding one, and of its blocks to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Starts after the preceding launch has ended.
    Ordered,
    /// Blocks start as soon as there is room, and wait inside the kernel for the preceding launch
    /// to end. The kernel must call `wait_for_previous_kernel`.
    Overlapping,
    /// [`Mode::Ordered`], with all blocks resident together.
    Cooperative,
}

/// Pointers to the arguments, in the form that launch functions take.
fn argument_pointers(arguments: &[Argument]) -> Vec<*mut std::ffi::c_void> {
    arguments.iter().map(|a| (&raw const a.0).cast_mut().cast()).collect()
}
