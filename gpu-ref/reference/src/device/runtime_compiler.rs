//! NVIDIA's run-time compiler, NVRTC: kernel text to machine code for one architecture.

use crate::Error;
use cudarc::nvrtc::{self, result, sys};
use std::ffi::{CStr, CString, c_int};

/// A program that is destroyed when dropped.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program was created once. A failure cannot be reported here.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

/// The options for an architecture, such as `sm_90`.
pub(super) fn options(architecture: &str) -> [String; 3] {
    [format!("--gpu-architecture={architecture}"), "--std=c++20".into(), "--device-int128".into()]
}

/// The compiler's version: major and minor number.
pub(super) fn version() -> Result<(c_int, c_int), Error> {
    let (mut major, mut minor): (c_int, c_int) = (0, 0);
    // SAFETY: the numbers are written to local variables.
    unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }
        .result()
        .map_err(failed("reading the version of NVRTC"))?;
    Ok((major, minor))
}

fn failed(call: &'static str) -> impl Fn(nvrtc::result::NvrtcError) -> Error {
    move |error| Error::Driver { call, code: format!("{:?}", error.0) }
}

/// The first major version of NVRTC that knows the options of [`options`].
const OLDEST: c_int = 12;

/// Returns an error unless an NVRTC is installed whose code a driver of CUDA `driver` loads.
pub(super) fn require(driver: c_int) -> Result<(), Error> {
    require_installed()?;
    let (major, minor) = version()?;
    if (OLDEST..=driver).contains(&major) {
        return Ok(());
    }
    let reason = format!(
        "the run-time compiler found is NVRTC {major}.{minor}, whose code the driver does not load or which is too old; \
         install NVRTC of CUDA {OLDEST} to {driver}"
    );
    Err(Error::NoDevice { reason })
}

/// Returns an error if the compiler is older than a compute capability, such as 90.
pub(super) fn require_architecture(capability: c_int) -> Result<(), Error> {
    let mut count = 0;
    // SAFETY: the number is written to a local variable.
    unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut count) }
        .result()
        .map_err(failed("reading the architectures of NVRTC"))?;
    let mut known: Vec<c_int> = vec![0; count.unsigned_abs() as usize];
    // SAFETY: the array has as many elements as the compiler asks for.
    unsafe { sys::nvrtcGetSupportedArchs(known.as_mut_ptr()) }
        .result()
        .map_err(failed("reading the architectures of NVRTC"))?;
    if known.contains(&capability) {
        return Ok(());
    }
    let (major, minor) = version()?;
    let reason = format!(
        "NVRTC {major}.{minor} does not know compute capability {}.{}; install a newer NVRTC",
        capability / 10,
        capability % 10
    );
    Err(Error::NoDevice { reason })
}

/// Returns an error if NVRTC is not installed. Without this check, cudarc would panic.
fn require_installed() -> Result<(), Error> {
    // SAFETY: this only tries to load a library.
    if unsafe { sys::is_culib_present() } {
        return Ok(());
    }
    let reason = format!(
        "the run-time compiler library (libnvrtc of CUDA {OLDEST} or later) is not installed or not in the loader's path; \
         it is part of the CUDA toolkit, and of the Python package nvidia-cuda-nvrtc"
    );
    Err(Error::NoDevice { reason })
}

/// Checks a file without generating code. `name` appears in messages.
pub(crate) fn check(name: &str, source: &str) -> Result<(), Error> {
    require_installed()?;
    let mut options = options("sm_90").to_vec();
    options.push("--fdevice-syntax-only".into());
    process(name, source, &options).map(|_| ())
}

/// Compiles a file to machine code. `name` appears in messages.
pub(super) fn compile(name: &str, source: &str, options: &[String]) -> Result<Vec<u8>, Error> {
    let program = process(name, source, options)?;
    let fail = |error: nvrtc::result::NvrtcError| Error::Compile {
        name: name.to_owned(),
        log: format!("{:?}", error.0),
    };
    let mut size = 0;
    // SAFETY: the program exists, and the buffer has the size that the compiler asks for.
    unsafe {
        sys::nvrtcGetCUBINSize(program.0, &raw mut size).result().map_err(fail)?;
        let mut code = vec![0u8; size];
        sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()).result().map_err(fail)?;
        Ok(code)
    }
}

/// Runs the compiler on a file.
fn process(name: &str, source: &str, options: &[String]) -> Result<Program, Error> {
    let fail = |log: String| Error::Compile { name: name.to_owned(), log };
    let text = |text: &str| CString::new(text).map_err(|error| fail(error.to_string()));
    let (source, label) = (text(source)?, text(name)?);
    let program = Program(
        result::create_program(&source, Some(&label)).map_err(|error| fail(format!("{:?}", error.0)))?,
    );
    // SAFETY: the program exists.
    if let Err(error) = unsafe { result::compile_program(program.0, options) } {
        // SAFETY: the program exists, and the log ends with a zero.
        let log = unsafe {
            result::get_program_log(program.0)
                .map(|log| CStr::from_ptr(log.as_ptr()).to_string_lossy().into_owned())
        };
        return Err(fail(log.unwrap_or(format!("{:?}", error.0))));
    }
    Ok(program)
}
