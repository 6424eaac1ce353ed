//! The CPU side of [`super::Device`]: kernels compiled to a shared library by a C++ compiler.

use std::cell::UnsafeCell;
use std::ffi::{OsString, c_int, c_uint, c_void};
use std::path::Path;
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

    /// Compiles, or loads what an earlier run has compiled from the same text: see [`cache`].
    pub(crate) fn compile(&self, name: &str, source: &str) -> Result<Library, Error> {
        let fail = |log: String| Error::Compile { name: name.to_owned(), log };
        let text = format!("{HEADER}\n{source}");
        let file = format!("{}.so", self.fingerprint(&text));
        let cached = cache::folder().map(|folder| folder.join(file));
        if let Some(path) = cached.as_deref().filter(|path| path.exists())
            && let Ok(library) = load(path)
        {
            cache::touch(path);
            return Ok(Library { library, name: name.to_owned() });
        }

        // A loaded library needs its file no longer, so without a cache nothing is left behind.
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
        if let Some(path) = &cached {
            cache::keep(&so, path);
        }
        Ok(Library { library, name: name.to_owned() })
    }

    /// Of everything that a compiled library depends on.
    fn fingerprint(&self, text: &str) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let command = self.command.as_encoded_bytes();
        for part in [command, self.version.as_bytes(), OPTIONS.join(" ").as_bytes(), text.as_bytes()] {
            hasher.update(&part.len().to_le_bytes()).update(part);
        }
        hasher.finalize()
    }
}

/// -Og: compiling takes longer than running. Without -ffp-contract=off the compiler may fuse multiplications and additions
/// where the kernel does not.
const OPTIONS: [&str; 6] =
    ["-std=gnu++20", "-Og", "-fPIC", "-shared", "-ffp-contract=off", "-Wno-unknown-pragmas"];

fn load(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: the library was made by this crate from its own kernels; it has no initialisers to speak of.
    unsafe { libloading::Library::new(path) }
}

/// Compiled libraries in `$XDG_CACHE_HOME/gpu-ref` or `~/.cache/gpu-ref`, named by what they were made from: a compilation takes
/// longer than most uses. Failures to keep one are not errors.
mod cache {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    /// A library that was not used for so long is deleted when another one comes.
    const LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);

    /// `None` where there is no home directory.
    pub(super) fn folder() -> Option<PathBuf> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
        Some(base.join("gpu-ref"))
    }

    /// Notes that a library was used.
    pub(super) fn touch(path: &Path) {
        let _ = fs::File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Copies a library to its place, all at once, since others may look for it at the same time.
    pub(super) fn keep(library: &Path, path: &Path) {
        let Some(folder) = path.parent() else { return };
        let _ = fs::create_dir_all(folder);
        let Ok(place) = tempfile::NamedTempFile::new_in(folder) else { return };
        if fs::copy(library, place.path()).is_ok() {
            let _ = place.persist(path);
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let age = entry.metadata().and_then(|data| data.modified()).map(|time| time.elapsed());
            if matches!(age, Ok(Ok(age)) if age > LIFETIME) {
                let _ = fs::remove_file(entry.path());
            }
        }
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
