//! Devices that run kernels: a CUDA device, or the CPU through the emulation header.
//!
//! Both backends accept the same kernel text and the same launches, so all code above this module
//! is written once.

mod cache;
mod cuda;
mod emulated;
mod launch;
pub(crate) mod runtime_compiler;

pub use cuda::Graph;
pub use launch::{Argument, Launch, Mode, Shape};

use crate::Error;
use crate::recipe::Card;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock};

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
    /// Opens CUDA device number `ordinal`, of compute capability 8.0 or later, with a driver of CUDA 12.8 or
    /// later and an NVRTC of CUDA 12 or later that is not newer than the driver. Kernels are compiled for its
    /// architecture, and cached in `$XDG_CACHE_HOME/gpu-ref` or `~/.cache/gpu-ref`.
    ///
    /// # Errors
    /// Returns [`Error::NoDevice`] if the CUDA driver, NVRTC or the device is missing or too old.
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
    /// Transforms and products only launch kernels, once [`crate::Plan::prepare`] has compiled them. So they
    /// may also be captured into a graph, which must not outlive the plan and the batches. Two such graphs
    /// may run at once if no batch is in both.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device or if the stream belongs to another device or
    /// context.
    ///
    /// # Safety
    /// `stream` must be a `cudaStream_t` or `CUstream` (null for the default stream) that exists as
    /// long as the new value, its clones, and its plans and batches.
    pub unsafe fn on_stream(&self, stream: *mut c_void) -> Result<Self, Error> {
        // SAFETY: guaranteed by the caller.
        let cuda = unsafe { self.cuda("a stream")?.on_stream(stream.cast()) }?;
        Ok(Self { modules: self.modules.clone(), ..Self::from_backend(Backend::Cuda(cuda)) })
    }

    fn from_backend(backend: Backend) -> Self {
        Self { backend: Arc::new(backend), modules: Arc::default() }
    }

    /// The device's name, for reports.
    pub fn name(&self) -> Result<String, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => cuda.name(),
            Backend::Emulated(compiler) => Ok(compiler.name()),
        }
    }

    /// Compiles `source`, or returns the module compiled earlier from the same text. `name` appears
    /// in messages. See [`crate::source::assemble`].
    ///
    /// # Errors
    /// Returns [`Error::Compile`] with the compiler's log.
    pub fn compile(&self, name: &str, source: &str) -> Result<Module, Error> {
        let slot =
            self.modules.lock().expect("no panic while held").entry(source.to_owned()).or_default().clone();
        // Other users of this module wait here; other modules compile in parallel.
        let mut slot = slot.lock().expect("no panic while held");
        if let Some(module) = &*slot {
            return Ok(module.clone());
        }
        let module = match &*self.backend {
            Backend::Cuda(cuda) => Module(Code::Cuda(cuda.compile(name, source)?)),
            Backend::Emulated(compiler) => Module(Code::Emulated(Arc::new(compiler.compile(name, source)?))),
        };
        *slot = Some(module.clone());
        Ok(module)
    }

    /// Checks that `other` is this device. Addresses of another device are invalid here.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if it is not.
    pub fn require(&self, other: &Device) -> Result<(), Error> {
        if Arc::ptr_eq(&self.backend, &other.backend) { Ok(()) } else { Err(foreign_buffer()) }
    }

    /// Allocates a buffer of `bytes` bytes, all zero.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Buffer, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => Ok(Buffer::Cuda(cuda.allocate(bytes)?)),
            Backend::Emulated(_) => Ok(Buffer::Emulated(emulated::Memory::new(bytes))),
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
    pub unsafe fn read(&self, from: u64, to: &mut [u8]) -> Result<(), Error> {
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
    pub unsafe fn write(&self, to: u64, from: &[u8]) -> Result<(), Error> {
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

    /// The stream of all work of this device.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device.
    pub fn stream(&self) -> Result<Arc<cudarc::driver::CudaStream>, Error> {
        Ok(self.cuda("a stream")?.stream())
    }

    /// Starts a kernel. On a GPU it runs after all earlier launches.
    ///
    /// # Errors
    /// Returns [`Error::Arguments`] unless the arguments have the number and the sizes of the kernel's
    /// parameters, [`Error::Driver`] if a driver call fails, and [`Error::Overrun`] or [`Error::Stuck`] on an
    /// emulated device.
    ///
    /// # Safety
    /// The arguments must mean what the kernel's parameters do. Its pointers must be valid for all accesses
    /// of this grid, and nothing else may use what it writes, until the kernel has ended.
    pub unsafe fn launch(&self, launch: &Launch<'_>) -> Result<(), Error> {
        launch.check()?;
        match (&*self.backend, &launch.kernel.function) {
            // SAFETY: guaranteed by the caller.
            (Backend::Cuda(cuda), Function::Cuda(function)) => unsafe {
                cuda.launch(function, launch.shape, &launch.arguments)
            },
            // SAFETY: guaranteed by the caller.
            (Backend::Emulated(_), Function::Emulated(entry)) => unsafe {
                entry.launch(launch.shape, &launch.arguments)
            },
            _ => Err(foreign_buffer()),
        }
    }

    /// A graph of launches in sequence.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, and [`Error::Arguments`] as [`Self::launch`]
    /// does.
    pub fn record<'l, 'a: 'l>(
        &self,
        launches: impl IntoIterator<Item = &'l Launch<'a>>,
    ) -> Result<Graph, Error> {
        self.cuda("recording a graph")?.record(launches)
    }

    /// A graph of ordinary launches. `dependencies` lists for each launch the positions of earlier
    /// ones to wait for.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, and unless there is a list of earlier positions
    /// for each launch; and [`Error::Arguments`] as [`Self::launch`] does.
    pub fn build(&self, launches: &[Launch<'_>], dependencies: &[Vec<usize>]) -> Result<Graph, Error> {
        self.cuda("building a graph")?.build(launches, dependencies)
    }

    /// Device time of the launches made by `work`, in microseconds.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, and any error of `work`.
    pub fn elapsed(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        self.cuda("timing")?.elapsed(work)
    }

    /// The CUDA device, for features without an emulation.
    fn cuda(&self, what: &str) -> Result<&cuda::Cuda, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => Ok(cuda),
            Backend::Emulated(_) => Err(Error::Unsupported {
                what: format!("{what} on the emulated device"),
                instead: "graphs, streams, timings and local memory require a CUDA device".into(),
            }),
        }
    }

    /// Returns true if kernels run on the CPU.
    pub fn is_emulated(&self) -> bool {
        matches!(&*self.backend, Backend::Emulated(_))
    }

    /// Waits for all work on this device.
    pub fn synchronize(&self) -> Result<(), Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => cuda.synchronize(),
            Backend::Emulated(_) => Ok(()),
        }
    }

    /// Bytes of local memory that a thread of a kernel needs.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device.
    pub(crate) fn local_bytes(&self, kernel: &Kernel) -> Result<usize, Error> {
        self.cuda("local memory")?;
        cuda::local_bytes(kernel.cuda()?)
    }

    /// Starts a copy of `bytes` bytes between addresses on this device, after all earlier work.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device.
    ///
    /// # Safety
    /// Both addresses must be valid for that many bytes, and nothing else may use the target, or
    /// change the source, until the copy has ended.
    pub unsafe fn start_copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.cuda("a copy beside other work")?.start_copy(to, from, bytes) }
    }

    /// What recipes need to know of the device.
    ///
    /// # Errors
    /// Returns [`Error::Driver`] if a driver call fails.
    pub fn card(&self) -> Result<Card, Error> {
        match &*self.backend {
            Backend::Cuda(cuda) => cuda.card(),
            // So the emulation runs the kernels of that card.
            Backend::Emulated(_) => Ok(Card::H100),
        }
    }

    /// Maximum number of resident blocks of a kernel, whose launches all have these threads and this shared
    /// memory: the limit of a cooperative launch.
    pub(crate) fn resident_blocks(&self, kernel: &Kernel, shape: Shape) -> Result<u32, Error> {
        let blocks = match (&*self.backend, &kernel.function) {
            (Backend::Cuda(cuda), Function::Cuda(function)) => match kernel.resident.get() {
                Some(&blocks) => return Ok(blocks),
                None => cuda.resident_blocks(function, shape)?,
            },
            // All fibers of a launch exist at once; this number fits the memory of a small machine.
            (Backend::Emulated(_), Function::Emulated(_)) => 1 << 8,
            _ => return Err(foreign_buffer()),
        };
        Ok(*kernel.resident.get_or_init(|| blocks))
    }

    /// The same of a kernel with clusters, whose size the grid of the shape has.
    pub(crate) fn resident_cluster_blocks(&self, kernel: &Kernel, shape: Shape) -> Result<u32, Error> {
        let blocks = match (&*self.backend, &kernel.function) {
            (Backend::Cuda(cuda), Function::Cuda(function)) => match kernel.resident.get() {
                Some(&blocks) => return Ok(blocks),
                None => shape.grid[0] * cuda.resident_clusters(function, shape)?,
            },
            // Fewer than a test has polynomials, so that clusters have several.
            (Backend::Emulated(_), Function::Emulated(_)) => 2,
            _ => return Err(foreign_buffer()),
        };
        Ok(*kernel.resident.get_or_init(|| blocks))
    }
}

/// The most shared memory of a block on a device with clusters, in bytes.
pub(crate) const BLOCK_BYTES: u32 = 227 * 1024;

/// The error for a plan and a batch of different devices.
fn foreign_buffer() -> Error {
    Error::Unsupported {
        what: "a batch or kernel of another device".into(),
        instead: "use a plan and batches of the same device".into(),
    }
}

/// Compiled kernels.
#[derive(Clone)]
pub struct Module(Code);

#[derive(Clone)]
enum Code {
    Cuda(Arc<cudarc::driver::CudaModule>),
    Emulated(Arc<emulated::Library>),
}

impl Module {
    /// Looks up kernel `name`, which may use up to `shared` bytes of dynamic shared memory.
    pub fn kernel(&self, name: &str, shared: u32) -> Result<Kernel, Error> {
        let (function, parameters) = match &self.0 {
            Code::Cuda(module) => {
                let function = cuda::function(module, name, shared)?;
                let parameters = cuda::parameters(&function);
                (Function::Cuda(function), parameters)
            }
            Code::Emulated(library) => {
                (Function::Emulated(emulated::Library::entry(library, name)?), library.parameters(name)?)
            }
        };
        Ok(Kernel { function, name: name.to_owned(), parameters, resident: OnceLock::new() })
    }
}

/// A kernel, ready to launch.
pub struct Kernel {
    function: Function,
    name: String,
    /// Bytes of each parameter.
    parameters: Vec<usize>,
    /// Most resident blocks, once known.
    resident: OnceLock<u32>,
}

enum Function {
    Cuda(cudarc::driver::CudaFunction),
    Emulated(emulated::Entry),
}

impl Kernel {
    /// The kernel on a CUDA device.
    fn cuda(&self) -> Result<&cudarc::driver::CudaFunction, Error> {
        match &self.function {
            Function::Cuda(function) => Ok(function),
            Function::Emulated(_) => Err(foreign_buffer()),
        }
    }
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
    pub(crate) fn address(&self) -> u64 {
        match self {
            Self::Cuda(slice) => cuda::address(slice),
            Self::Emulated(memory) => memory.address(),
            &Self::Borrowed(address) => address,
        }
    }
}
