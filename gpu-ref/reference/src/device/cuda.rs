//! The CUDA backend of [`super::Device`], on `cudarc`.

use super::launch::pointers;
use super::{Argument, BLOCK_BYTES, Buffer, Launch, Mode, Shape, cache, runtime_compiler};
use crate::Error;
use crate::recipe::Card;
use cudarc::driver::sys::{
    self, CUdevice_attribute, CUfunction_attribute, CUlaunchAttributeID, CUpointer_attribute,
    CUstreamCaptureMode,
};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DriverError, result,
};
use cudarc::nvrtc::Ptx;
use std::sync::Arc;

/// A context with a single stream for all work of the device.
pub(crate) struct Cuda {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    /// Such as `sm_90`.
    architecture: String,
    /// Whether blocks of a kernel may wait for the preceding kernel.
    overlaps: bool,
}

/// The first driver with all functions that this crate calls, in the driver's form: CUDA 12.8, release 570.
const OLDEST_DRIVER: i32 = 12_080;

/// A version in the driver's form.
fn shown(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

fn driver(call: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Driver { call, code: format!("{:?}", error.0) }
}

impl Cuda {
    pub(crate) fn open(ordinal: usize) -> Result<Self, Error> {
        let missing = |reason: String| Err(Error::NoDevice { reason });
        // SAFETY: these only try to load a library. The check comes first because cudarc panics if
        // a library is missing.
        if !unsafe { sys::is_culib_present() } {
            return missing("the CUDA driver library (libcuda) is not installed".into());
        }
        let mut version = 0;
        // SAFETY: the number is written to a local variable.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }
            .result()
            .map_err(driver("reading its version"))?;
        if version < OLDEST_DRIVER {
            return missing(format!(
                "the driver supports CUDA {}, expected {} or later; update the driver",
                shown(version),
                shown(OLDEST_DRIVER)
            ));
        }
        runtime_compiler::require(version / 1000)?;
        let context = match CudaContext::new(ordinal) {
            Ok(context) => context,
            Err(error) => return missing(format!("cannot open device {ordinal} ({:?})", error.0)),
        };
        let (major, minor) =
            context.compute_capability().map_err(driver("reading the compute capability"))?;
        if major < 8 {
            return missing(format!(
                "device {ordinal} has compute capability {major}.{minor}, expected 8.0 or later"
            ));
        }
        runtime_compiler::require_architecture(10 * major + minor)?;
        // SAFETY: all work is ordered by the single stream. Events would interfere with graph
        // capture.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(driver("creating a stream"))?;
        Ok(Self { context, stream, architecture: format!("sm_{major}{minor}"), overlaps: major >= 9 })
    }

    /// The same device, with all work on a stream of the caller.
    ///
    /// # Safety
    /// The stream must exist as long as the result.
    pub(crate) unsafe fn on_stream(&self, stream: sys::CUstream) -> Result<Self, Error> {
        self.context.bind_to_thread().map_err(driver("binding the context"))?;
        let mut owner = std::ptr::null_mut();
        // SAFETY: guaranteed by the caller; the context is written to a local variable.
        unsafe { sys::cuStreamGetCtx(stream, &raw mut owner) }
            .result()
            .map_err(driver("finding the context of a stream"))?;
        if owner != self.context.cu_ctx() {
            return Err(Error::Unsupported {
                what: "a stream of another context".into(),
                instead: format!("use a stream of the primary context of device {}", self.ordinal()),
            });
        }
        // SAFETY: the stream belongs to this context, and the caller guarantees that it exists.
        let stream = unsafe { self.context.wrap_borrowed_stream(stream) };
        Ok(Self { context: self.context.clone(), stream, architecture: self.architecture.clone(), ..*self })
    }

    /// Checks that memory is on this device, and that its allocation is long enough. Otherwise returns
    /// the reason.
    pub(crate) fn check_address(&self, address: u64, bytes: usize) -> Result<(), String> {
        self.context.bind_to_thread().map_err(|error| format!("cannot bind the context ({:?})", error.0))?;
        let attribute = |which, value: *mut std::ffi::c_void| {
            // SAFETY: each caller gives the address of a variable of the attribute's type.
            unsafe { sys::cuPointerGetAttribute(value, which, address) }
                .result()
                .map_err(|error| format!("not known to the driver ({:?})", error.0))
        };
        let (mut ordinal, mut start, mut length) = (-1_i32, 0_u64, 0_usize);
        attribute(CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (&raw mut ordinal).cast())?;
        attribute(CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, (&raw mut start).cast())?;
        attribute(CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE, (&raw mut length).cast())?;
        if usize::try_from(ordinal) != Ok(self.ordinal()) {
            return Err(format!("the memory is on device {ordinal}, expected {}", self.ordinal()));
        }
        let left = (start + length as u64).saturating_sub(address);
        if (bytes as u64) > left {
            return Err(format!("the allocation ends after {left} bytes"));
        }
        Ok(())
    }

    pub(crate) fn name(&self) -> Result<String, Error> {
        self.context.name().map_err(driver("reading the device's name"))
    }

    /// Compiles the text, or loads the result of an earlier compilation.
    pub(crate) fn compile(&self, name: &str, source: &str) -> Result<Arc<CudaModule>, Error> {
        let options = runtime_compiler::options(&self.architecture);
        let (major, minor) = runtime_compiler::version()?;
        let version = format!("NVRTC {major}.{minor}");
        let cached =
            cache::file(&[version.as_bytes(), options.join(" ").as_bytes(), source.as_bytes()], "cubin");
        if let Some(path) = &cached
            && let Ok(code) = std::fs::read(path)
            && let Ok(module) = self.context.load_module(Ptx::from_binary(code))
        {
            cache::touch(path);
            return Ok(module);
        }
        let code = runtime_compiler::compile(name, source, &options)?;
        if let Some(path) = &cached {
            cache::keep(&code, path);
        }
        self.context.load_module(Ptx::from_binary(code)).map_err(driver("loading a module"))
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<CudaSlice<u8>, Error> {
        self.stream.alloc_zeros(bytes).map_err(driver("allocating device memory"))
    }

    pub(crate) unsafe fn read(&self, from: u64, to: &mut [u8]) -> Result<(), Error> {
        self.context.bind_to_thread().map_err(driver("binding the context"))?;
        // SAFETY: guaranteed by the caller; the copy ends before this returns.
        unsafe { result::memcpy_dtoh_async(to, from, self.stream.cu_stream()) }
            .map_err(driver("copying from the device"))?;
        self.synchronize()
    }

    pub(crate) unsafe fn write(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        self.context.bind_to_thread().map_err(driver("binding the context"))?;
        // SAFETY: guaranteed by the caller; the copy ends before this returns.
        unsafe { result::memcpy_htod_async(to, from, self.stream.cu_stream()) }
            .map_err(driver("copying to the device"))?;
        self.synchronize()
    }

    /// Starts a copy on the device's stream.
    ///
    /// # Safety
    /// See [`super::Device::start_copy`].
    pub(crate) unsafe fn start_copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.context.bind_to_thread().map_err(driver("binding the context"))?;
        // SAFETY: guaranteed by the caller.
        unsafe { sys::cuMemcpyAsync(to, from, bytes, self.stream.cu_stream()) }
            .result()
            .map_err(driver("copying between addresses"))
    }

    pub(crate) fn stream(&self) -> Arc<CudaStream> {
        self.stream.clone()
    }

    pub(crate) fn ordinal(&self) -> usize {
        self.context.ordinal()
    }

    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.stream.synchronize().map_err(driver("waiting for the device"))
    }

    pub(crate) unsafe fn launch(
        &self,
        function: &CudaFunction,
        shape: Shape,
        arguments: &[Argument],
    ) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.launch_on(&self.stream, function, shape, arguments) }
    }

    unsafe fn launch_on(
        &self,
        stream: &CudaStream,
        function: &CudaFunction,
        shape: Shape,
        arguments: &[Argument],
    ) -> Result<(), Error> {
        self.context.bind_to_thread().map_err(driver("binding the context"))?;
        let [x, y, z] = shape.grid;
        // SAFETY: the union is plain data, and all zeros are a valid value.
        let mut value: sys::CUlaunchAttributeValue = unsafe { std::mem::zeroed() };
        let id = match shape.mode {
            Mode::Ordered => CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE,
            Mode::Overlapping if !self.overlaps => CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE,
            Mode::Overlapping => {
                value.programmaticStreamSerializationAllowed = 1;
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            }
            Mode::Cooperative => {
                value.cooperative = 1;
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            }
        };
        let mut attribute = sys::CUlaunchAttribute { id, pad: [0; 4], value };
        let configuration = sys::CUlaunchConfig {
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: shape.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: shape.shared,
            hStream: stream.cu_stream(),
            attrs: &raw mut attribute,
            numAttrs: 1,
        };
        let mut parameters = pointers(arguments);
        // SAFETY: the caller guarantees that the arguments match the kernel.
        unsafe {
            sys::cuLaunchKernelEx(
                &raw const configuration,
                function.cu_function(),
                parameters.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
        .result()
        .map_err(driver("launching a kernel"))
    }

    pub(crate) fn resident_blocks(&self, function: &CudaFunction, shape: Shape) -> Result<u32, Error> {
        self.context.bind_to_thread().map_err(driver("binding the context"))?;
        let each = function
            .occupancy_max_active_blocks_per_multiprocessor(shape.threads, shape.shared as usize, None)
            .map_err(driver("computing the occupancy"))?;
        let processors = self
            .context
            .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(driver("reading a device attribute"))?;
        Ok(each * processors.unsigned_abs())
    }

    /// See [`super::Device::card`].
    pub(crate) fn card(&self) -> Result<Card, Error> {
        let attribute = |which| {
            let value = self.context.attribute(which).map_err(driver("reading a device attribute"))?;
            Ok::<_, Error>(value.unsigned_abs())
        };
        let (major, minor) =
            self.context.compute_capability().map_err(driver("reading the compute capability"))?;
        let bytes = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let has_clusters = self.overlaps && bytes >= BLOCK_BYTES;
        let processors = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let megahertz = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)? / 1000;
        let bytes = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)? / 8;
        Ok(Card {
            cluster_blocks: if has_clusters { processors } else { 0 },
            cache_bytes: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
            doubles: minor == 0 && (8..=10).contains(&major),
            // Two transfers a cycle.
            memory_rate: 2 * megahertz * bytes / 1000,
        })
    }

    /// See [`super::Device::resident_clusters`].
    pub(crate) fn resident_clusters(&self, function: &CudaFunction, shape: Shape) -> Result<u32, Error> {
        self.context.bind_to_thread().map_err(driver("binding the context"))?;
        let configuration = sys::CUlaunchConfig {
            gridDimX: shape.grid[0],
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: shape.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: shape.shared,
            hStream: self.stream.cu_stream(),
            attrs: std::ptr::null_mut(),
            numAttrs: 0,
        };
        let mut clusters = 0;
        // SAFETY: the number is written to a local variable, and the kernel states the size of its clusters.
        unsafe {
            sys::cuOccupancyMaxActiveClusters(
                &raw mut clusters,
                function.cu_function(),
                &raw const configuration,
            )
        }
        .result()
        .map_err(driver("computing the number of clusters"))?;
        Ok(clusters.unsigned_abs())
    }

    /// A graph of launches in sequence. Capture uses a stream of its own, so launches by other
    /// threads stay out of the graph.
    pub(crate) fn record<'l, 'a: 'l>(
        &self,
        launches: impl IntoIterator<Item = &'l Launch<'a>>,
    ) -> Result<Graph, Error> {
        let aside = self.context.new_stream().map_err(driver("creating a stream"))?;
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        aside.begin_capture(mode).map_err(driver("beginning a graph"))?;
        let mut graph = self.empty_graph();
        let outcome = launches.into_iter().try_for_each(|launch| {
            let function = graph.keep(launch)?;
            // SAFETY: nothing runs until `Graph::launch`, whose caller guarantees the addresses. The graph
            // copies the arguments, which have the sizes of the parameters.
            unsafe { self.launch_on(&aside, function, launch.shape, &launch.arguments) }
        });
        // The capture must end even if a launch failed.
        // SAFETY: the stream is being captured, and the graph is written to a local variable.
        let ended = unsafe { sys::cuStreamEndCapture(aside.cu_stream(), &raw mut graph.graph) }
            .result()
            .map_err(driver("ending a graph"));
        outcome?;
        ended?;
        graph.instantiate()
    }

    fn empty_graph(&self) -> Graph {
        Graph {
            graph: std::ptr::null_mut(),
            executable: std::ptr::null_mut(),
            stream: self.stream.clone(),
            kernels: Vec::new(),
            workspaces: Vec::new(),
        }
    }

    /// A graph of kernels. `dependencies` lists for each kernel the positions of earlier ones to
    /// wait for.
    pub(crate) fn build(&self, launches: &[Launch<'_>], dependencies: &[Vec<usize>]) -> Result<Graph, Error> {
        let earlier = |(at, before): (usize, &Vec<usize>)| before.iter().all(|&position| position < at);
        if dependencies.len() != launches.len() || !dependencies.iter().enumerate().all(earlier) {
            return Err(Error::Unsupported {
                what: format!("dependencies {dependencies:?} of {} launches", launches.len()),
                instead: "list the positions of earlier launches for each".into(),
            });
        }
        self.context.bind_to_thread().map_err(driver("binding the context"))?;
        let mut built = self.empty_graph();
        // SAFETY: the graph is written to a local variable.
        unsafe { sys::cuGraphCreate(&raw mut built.graph, 0) }
            .result()
            .map_err(driver("creating a graph"))?;
        let mut nodes: Vec<sys::CUgraphNode> = Vec::with_capacity(launches.len());
        for (launch, before) in launches.iter().zip(dependencies) {
            let function = built.keep(launch)?.cu_function();
            let mut parameters = pointers(&launch.arguments);
            // SAFETY: the structure is plain data, and all zeros are a valid value.
            let mut node: sys::CUDA_KERNEL_NODE_PARAMS = unsafe { std::mem::zeroed() };
            node.func = function;
            [node.gridDimX, node.gridDimY, node.gridDimZ] = launch.shape.grid;
            (node.blockDimX, node.blockDimY, node.blockDimZ) = (launch.shape.threads, 1, 1);
            node.sharedMemBytes = launch.shape.shared;
            node.kernelParams = parameters.as_mut_ptr();
            let before: Vec<_> = before.iter().map(|&position| nodes[position]).collect();
            let mut added = std::ptr::null_mut();
            // SAFETY: all nodes belong to this graph, and the driver copies the arguments, which have the
            // sizes of the parameters.
            unsafe {
                sys::cuGraphAddKernelNode_v2(
                    &raw mut added,
                    built.graph,
                    before.as_ptr(),
                    before.len(),
                    &raw const node,
                )
            }
            .result()
            .map_err(driver("adding a kernel to a graph"))?;
            nodes.push(added);
        }
        built.instantiate()
    }

    /// Device time from start to end of `work`, in microseconds, including idle time between
    /// launches.
    pub(crate) fn elapsed(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        let event = || {
            self.stream
                .record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))
                .map_err(driver("recording an event"))
        };
        let begin = event()?;
        work()?;
        let end = event()?;
        let milliseconds = begin.elapsed_ms(&end).map_err(driver("reading an event"))?;
        Ok(f64::from(milliseconds) * 1e3)
    }
}

/// Launches that are replayed at the cost of one launch. It keeps their kernels, but not the memory that they
/// use.
pub struct Graph {
    graph: sys::CUgraph,
    executable: sys::CUgraphExec,
    stream: Arc<CudaStream>,
    kernels: Vec<CudaFunction>,
    workspaces: Vec<Arc<Buffer>>,
}

impl Graph {
    /// Keeps what a launch needs beside the memory of its caller, and returns its kernel.
    fn keep(&mut self, launch: &Launch<'_>) -> Result<&CudaFunction, Error> {
        launch.check()?;
        let function = launch.kernel.cuda()?;
        self.workspaces.extend(launch.workspace.clone());
        self.kernels.push(function.clone());
        Ok(&self.kernels[self.kernels.len() - 1])
    }

    /// Instantiates a complete graph.
    fn instantiate(mut self) -> Result<Self, Error> {
        // SAFETY: the graph exists.
        unsafe { sys::cuGraphInstantiateWithFlags(&raw mut self.executable, self.graph, 0) }
            .result()
            .map_err(driver("instantiating a graph"))?;
        Ok(self)
    }

    /// Replays all launches, after all earlier work.
    ///
    /// # Errors
    /// Returns [`Error::Driver`] if a driver call fails.
    ///
    /// # Safety
    /// As for [`super::Device::launch`], for each launch: the plans, the batches and all other memory must
    /// exist, and nothing else may use what the launches write, until the replay has ended. Launches without
    /// an order between them must not use what one of them writes.
    pub unsafe fn launch(&self) -> Result<(), Error> {
        // SAFETY: the executable graph and the stream are alive.
        unsafe { sys::cuGraphLaunch(self.executable, self.stream.cu_stream()) }
            .result()
            .map_err(driver("launching a graph"))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: each handle was created once or is null. A failure cannot be reported here.
        unsafe {
            if !self.executable.is_null() {
                let _ = sys::cuGraphExecDestroy(self.executable);
            }
            if !self.graph.is_null() {
                let _ = sys::cuGraphDestroy(self.graph);
            }
        }
    }
}

/// Looks up a kernel and grants it `shared` bytes of dynamic shared memory.
pub(crate) fn function(module: &Arc<CudaModule>, name: &str, shared: u32) -> Result<CudaFunction, Error> {
    let function = module.load_function(name).map_err(driver("looking up a kernel"))?;
    if shared > 48 * 1024 {
        function
            .set_attribute(
                CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                shared.cast_signed(),
            )
            .map_err(driver("raising a kernel's shared memory"))?;
    }
    Ok(function)
}

/// The sizes in bytes of a kernel's parameters.
pub(crate) fn parameters(function: &CudaFunction) -> Vec<usize> {
    let size = |number| {
        let (mut place, mut bytes) = (0, 0);
        // SAFETY: the function exists, and the numbers are written to local variables.
        let known = unsafe {
            sys::cuFuncGetParamInfo(function.cu_function(), number, &raw mut place, &raw mut bytes)
        };
        // The driver knows no parameter behind the last.
        known.result().is_ok().then_some(bytes)
    };
    (0..).map_while(size).collect()
}

/// Bytes of local memory of each thread.
pub(crate) fn local_bytes(function: &CudaFunction) -> Result<usize, Error> {
    let bytes = function
        .get_attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
        .map_err(driver("reading a kernel's local memory"))?;
    Ok(bytes.unsigned_abs() as usize)
}

pub(crate) fn address(slice: &CudaSlice<u8>) -> u64 {
    slice.device_ptr(slice.stream()).0
}
