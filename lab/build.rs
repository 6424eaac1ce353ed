//! Hashes the sources that determine a simulated result, so that a sweep's journal can tell
//! results of this version from those of another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folders whose files determine what is simulated.
const SOURCES: [&str; 5] = ["../b512-asm/src", "../codegen/plans", "../codegen/src", "../sim/src", "src/run"];

fn main() -> io::Result<()> {
    let mut hasher = blake3::Hasher::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        let mut files = Vec::new();
        collect(Path::new(source), &mut files)?;
        files.sort();
        for file in files {
            let content = fs::read(&file)?;
            let path = file.to_string_lossy().replace('\\', "/");
            hasher.update(path.as_bytes()).update(&(content.len() as u64).to_le_bytes()).update(&content);
        }
    }
    println!("cargo::rustc-env=MODEL_BLAKE3={}", hasher.finalize().to_hex());
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
