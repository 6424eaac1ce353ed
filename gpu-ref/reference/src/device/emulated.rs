//! The CPU backend of [`super::Device`]: kernels compiled to a shared library by a C++ compiler.

use super::launch::pointers;
use super::{Argument, Mode, Shape, cache};
use crate::Error;
use std::cell::UnsafeCell;
use std::ffi::{OsString, c_int, c_uint, c_void};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

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

    /// Compiles the text, or loads the result of an earlier compilation; see [`cache`].
    pub(crate) fn compile(&self, name: &str, source: &str) -> Result<Library, Error> {
        let fail = |log: String| Error::Compile { name: name.to_owned(), log };
        let text = format!("{HEADER}\n{source}");
        let options = OPTIONS.join(" ");
        let command = self.command.as_encoded_bytes();
        let inputs = [command, self.version.as_bytes(), options.as_bytes(), text.as_bytes()];
        let cached = cache::file(&inputs, "so");
        if let Some(path) = cached.as_deref().filter(|path| path.exists())
            && let Ok(library) = load(path)
        {
            cache::touch(path);
            return Ok(Library { library, name: name.to_owned() });
        }

        // A loaded library no longer needs its file, so nothing is left behind without a cache.
        let directory = tempfile::tempdir().map_err(|e| fail(e.to_string()))?;
        let (cpp, so) = (directory.path().join("kernel.cpp"), directory.path().join("kernel.so"));
        std::fs::write(&cpp, text).map_err(|e| fail(e.to_string()))?;
        let output = Command::new(&self.command)
            .args(OPTIONS)
            .arg("-o")
            .args([&so, &cpp])
            .output()
            .map_err(|e| fail(e.to_string()))?;
        if !output.status.success() {
            return Err(fail(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let library = load(&so).map_err(|e| fail(e.to_string()))?;
        if let (Some(path), Ok(content)) = (&cached, std::fs::read(&so)) {
            cache::keep(&content, path);
        }
        Ok(Library { library, name: name.to_owned() })
    }
}

/// -Og: compilation takes longer than execution. -ffp-contract=off: otherwise the compiler may fuse
/// multiplications and additions that the kernel keeps apart. Some distributions define
/// _FORTIFY_SOURCE, whose `longjmp` aborts on a jump to another stack.
const OPTIONS: [&str; 7] = [
    "-std=gnu++20",
    "-Og",
    "-fPIC",
    "-shared",
    "-ffp-contract=off",
    "-Wno-unknown-pragmas",
    "-U_FORTIFY_SOURCE",
];

fn load(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: this crate built the library from its own kernels, and it has no initialisers with
    // side effects.
    unsafe { libloading::Library::new(path) }
}

/// A loaded library of kernels.
pub(crate) struct Library {
    library: libloading::Library,
    name: String,
}

/// Writes the sizes of a kernel's parameters, and returns their number.
type Parameters = unsafe extern "C" fn(*mut u8) -> c_uint;

/// No kernel has more parameters.
const MOST_PARAMETERS: usize = 64;

type Launcher = unsafe extern "C" fn(*const c_uint, c_uint, c_uint, bool, *mut *mut c_void) -> c_int;

impl Library {
    pub(crate) fn entry(this: &Arc<Self>, kernel: &str) -> Result<Entry, Error> {
        let fail =
            |error: libloading::Error| Error::Compile { name: this.name.clone(), log: error.to_string() };
        // SAFETY: EXPORT_KERNEL in the emulation header gives every exported symbol this type.
        let launcher = unsafe { this.library.get::<Launcher>(format!("emulated_{kernel}\0")) };
        Ok(Entry { launcher: *launcher.map_err(fail)?, kernel: kernel.to_owned(), _library: this.clone() })
    }

    /// The sizes in bytes of a kernel's parameters.
    pub(crate) fn parameters(&self, kernel: &str) -> Result<Vec<usize>, Error> {
        let mut sizes = [0; MOST_PARAMETERS];
        // SAFETY: as above; no kernel has more parameters.
        let count = unsafe {
            let parameters = self.library.get::<Parameters>(format!("parameters_{kernel}\0"));
            let fail =
                |error: libloading::Error| Error::Compile { name: self.name.clone(), log: error.to_string() };
            parameters.map_err(fail)?(sizes.as_mut_ptr())
        };
        Ok(sizes[..count as usize].iter().map(|&bytes| bytes.into()).collect())
    }
}

/// A kernel, together with the library that holds its code.
pub(crate) struct Entry {
    launcher: Launcher,
    kernel: String,
    _library: Arc<Library>,
}

impl Entry {
    pub(crate) unsafe fn launch(&self, shape: Shape, arguments: &[Argument]) -> Result<(), Error> {
        let mut parameters = pointers(arguments);
        // SAFETY: the caller guarantees that the arguments match the kernel.
        let status = unsafe {
            (self.launcher)(
                shape.grid.as_ptr(),
                shape.threads,
                shape.shared,
                shape.mode == Mode::Cooperative,
                parameters.as_mut_ptr(),
            )
        };
        let kernel = || self.kernel.clone();
        match guards::overrun(arguments) {
            Some(bytes) => Err(Error::Overrun { kernel: kernel(), bytes }),
            None if status != 0 => Err(Error::Stuck { kernel: kernel() }),
            None => Ok(()),
        }
    }
}

/// Host memory that kernels access by address, aligned for 128-bit words.
pub(crate) struct Memory {
    /// The data, then guard words that no kernel may write.
    words: Box<[UnsafeCell<u128>]>,
}

/// The value of a guard word.
const GUARD: u128 = u128::from_ne_bytes([0xA5; 16]);

/// The guard is as long as the data, within these bounds in bytes. This catches an index that
/// counts a factor twice.
const GUARDED_BYTES: std::ops::RangeInclusive<usize> = 4 << 10..=1 << 20;

// SAFETY: only copies and kernels modify the memory, and each guarantees exclusive access to the memory
// that it writes.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        let data = bytes.div_ceil(16);
        let guarded = bytes.clamp(*GUARDED_BYTES.start(), *GUARDED_BYTES.end()) / 16;
        let words = (0..data + guarded).map(|word| UnsafeCell::new(if word < data { 0 } else { GUARD }));
        let memory = Self { words: words.collect() };
        guards::remember(memory.address(), bytes, data, guarded);
        memory
    }

    pub(crate) fn address(&self) -> u64 {
        self.words.as_ptr() as u64
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        guards::forget(self.address());
    }
}

/// Registry of the guard words behind every buffer, checked after each launch.
mod guards {
    use std::collections::BTreeMap;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::{Argument, GUARD};

    /// Lengths of a buffer and its guard.
    struct Guard {
        bytes: usize,
        data: usize,
        guarded: usize,
    }

    static BUFFERS: Mutex<BTreeMap<u64, Guard>> = Mutex::new(BTreeMap::new());

    fn buffers() -> MutexGuard<'static, BTreeMap<u64, Guard>> {
        // A panic here leaves nothing inconsistent.
        BUFFERS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the buffer at an address: its size in bytes, its data words and its guard words.
    pub(super) fn remember(address: u64, bytes: usize, data: usize, guarded: usize) {
        buffers().insert(address, Guard { bytes, data, guarded });
    }

    pub(super) fn forget(address: u64) {
        buffers().remove(&address);
    }

    /// Size in bytes of a buffer that an argument points into and that a kernel overran.
    pub(super) fn overrun(arguments: &[Argument]) -> Option<usize> {
        let buffers = buffers();
        arguments.iter().find_map(|argument| {
            let (&start, guard) = buffers.range(..=argument.value).next_back()?;
            let words = start as *const u128;
            // SAFETY: a buffer is removed under the lock before its memory is freed.
            let guarded = (0..guard.guarded).map(|word| unsafe { *words.add(guard.data + word) });
            let inside = argument.value < start + 16 * guard.data as u64;
            (inside && guarded.into_iter().any(|word| word != GUARD)).then_some(guard.bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_behind_a_buffer_is_found() {
        let memory = Memory::new(40);
        let inside = [Argument::address(memory.address() + 16)];
        assert_eq!(guards::overrun(&inside), None);
        // SAFETY: the word after the three data words is a guard word.
        unsafe { *(memory.address() as *mut u128).add(3) = 1 };
        assert_eq!(guards::overrun(&inside), Some(40));
        drop(memory);
        assert_eq!(guards::overrun(&inside), None);
    }
}
