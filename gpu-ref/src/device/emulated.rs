//! The CPU side of [`super::Device`]: kernels compiled to a shared library by a C++ compiler.

use std::cell::UnsafeCell;
use std::ffi::{OsString, c_int, c_uint, c_void};
use std::process::Command;
use std::sync::Arc;

use super::{Argument, Mode, Shape, argument_pointers};
use crate::Error;

const HEADER: &str = include_str!("../../cuda/emulation/emulation.h");

/// The C++ compiler.
pub(crate) struct Compiler {
    command: OsString,
    version: String,
}

impl Compiler {
    pub(crate) fn find() -> Result<Self, Error> {
        let command = std::env::var_os("CXX").unwrap_or("g++".into());
        let missing = |reason: String| Error::NoCompiler { command: command.display().to_string(), reason };
        let output = Command::new(&command).arg("--version").output().map_err(|e| missing(e.to_string()))?;
        if !output.status.success() {
            return Err(missing(output.status.to_string()));
        }
        let version = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned();
        Ok(Self { command, version })
    }

    pub(crate) fn name(&self) -> String {
        format!("emulated ({})", self.version)
    }

    /// Compiles in a fresh directory, which goes away again: a loaded library needs its file no longer.
    pub(crate) fn compile(&self, name: &str, source: &str) -> Result<Library, Error> {
        let fail = |log: String| Error::Compile { name: name.to_owned(), log };
        let directory = tempfile::tempdir().map_err(|e| fail(e.to_string()))?;
        let (text, library) = (directory.path().join("kernel.cpp"), directory.path().join("kernel.so"));
        std::fs::write(&text, format!("{HEADER}\n{source}")).map_err(|e| fail(e.to_string()))?;
        let output = Command::new(&self.command)
            // Without -ffp-contract=off the compiler may fuse multiplications and additions where the kernel does not.
            .args([
                "-std=gnu++20",
                "-O1",
                "-fPIC",
                "-shared",
                "-ffp-contract=off",
                "-Wno-unknown-pragmas",
                "-o",
            ])
            .args([&library, &text])
            .output()
            .map_err(|e| fail(e.to_string()))?;
        if !output.status.success() {
            return Err(fail(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        // SAFETY: the library was made right here from this crate's kernels; it has no initialisers to speak of.
        let library = unsafe { libloading::Library::new(&library) }.map_err(|e| fail(e.to_string()))?;
        Ok(Library { library, name: name.to_owned() })
    }
}

/// A loaded library of kernels.
pub(crate) struct Library {
    library: libloading::Library,
    name: String,
}

type Launcher = unsafe extern "C" fn(*const c_uint, c_uint, c_uint, bool, *mut *mut c_void) -> c_int;

impl Library {
    pub(crate) fn entry(this: &Arc<Self>, kernel: &str) -> Result<Entry, Error> {
        // SAFETY: EXPORT_KERNEL in the emulation header gives every such symbol this type.
        let launcher = unsafe { this.library.get::<Launcher>(format!("emulated_{kernel}\0")) };
        let launcher =
            *launcher.map_err(|e| Error::Compile { name: this.name.clone(), log: e.to_string() })?;
        Ok(Entry { launcher, kernel: kernel.to_owned(), _library: this.clone() })
    }
}

/// A kernel, with the library that holds its code.
pub(crate) struct Entry {
    launcher: Launcher,
    kernel: String,
    _library: Arc<Library>,
}

impl Entry {
    pub(crate) unsafe fn launch(&self, shape: Shape, arguments: &[Argument]) -> Result<(), Error> {
        let mut pointers = argument_pointers(arguments);
        // SAFETY: the caller promises that the arguments suit the kernel.
        let status = unsafe {
            (self.launcher)(
                shape.grid.as_ptr(),
                shape.threads,
                shape.shared,
                shape.mode == Mode::Cooperative,
                pointers.as_mut_ptr(),
            )
        };
        if status == 0 { Ok(()) } else { Err(Error::Stuck { kernel: self.kernel.clone() }) }
    }
}

/// Host memory that kernels write through its address. Aligned for 128-bit words.
pub(crate) struct Memory(Box<[UnsafeCell<u128>]>);

// SAFETY: like device memory, it is written by `write`, which takes `&mut`, and by kernels, whose launches promise that nothing
// else uses what they write.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self((0..bytes.div_ceil(16)).map(|_| UnsafeCell::new(0)).collect())
    }

    pub(crate) fn address(&self) -> u64 {
        self.0.as_ptr() as u64
    }

    pub(crate) fn write(&mut self, from: &[u8]) {
        assert!(from.len() <= self.0.len() * 16, "the caller sized the buffer");
        // SAFETY: in bounds, and `&mut self` excludes everyone else.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.0.as_mut_ptr().cast(), from.len()) };
    }

    pub(crate) fn read(&self, to: &mut [u8]) {
        assert!(to.len() <= self.0.len() * 16, "the caller sized the buffer");
        // SAFETY: in bounds, and emulated kernels have ended when their launch returns.
        unsafe { std::ptr::copy_nonoverlapping(self.0.as_ptr().cast(), to.as_mut_ptr(), to.len()) };
    }
}
