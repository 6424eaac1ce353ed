//! Compiled kernels in `$XDG_CACHE_HOME/gpu-ref` or `~/.cache/gpu-ref`, named by a hash of all inputs
//! of their compilation, which takes longer than most runs. Cache failures are not errors.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files unused for this long are deleted when a new one is added.
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);

/// The file for the result of a compilation with these inputs. `None` if there is no home directory.
pub(super) fn file(inputs: &[&[u8]], extension: &str) -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let mut hasher = blake3::Hasher::new();
    for input in inputs {
        hasher.update(&input.len().to_le_bytes()).update(input);
    }
    Some(base.join("gpu-ref").join(format!("{}.{extension}", hasher.finalize())))
}

/// Marks a file as recently used.
pub(super) fn touch(path: &Path) {
    let _ = fs::File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Adds a file to the cache atomically, because other processes may look for it.
pub(super) fn keep(content: &[u8], path: &Path) {
    let Some(folder) = path.parent() else { return };
    let _ = fs::create_dir_all(folder);
    let Ok(mut place) = tempfile::NamedTempFile::new_in(folder) else { return };
    if place.write_all(content).is_ok() {
        let _ = place.persist(path);
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|data| data.modified()).map(|time| time.elapsed());
        if matches!(age, Ok(Ok(age)) if age > LIFETIME) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
