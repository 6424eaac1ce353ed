//! Files that are written completely or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes a file by way of a temporary file in its folder, see [`NewFile`].
///
/// # Errors
/// Returns an error if the file cannot be written; `path` then keeps its old content.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(content)?;
    file.finish()
}

/// A file that appears at its path when it is complete: readers of the path find the old content or the new
/// one, never a part. Symbolic links are followed. Special files such as `/dev/null` or pipes are written
/// directly: a replacement would remove the device.
pub struct NewFile {
    path: PathBuf,
    file: Target,
}

enum Target {
    Special(BufWriter<File>),
    Temporary(BufWriter<NamedTempFile>),
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    /// Returns an error if no file can be written at `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = std::fs::canonicalize(path);
        let path = target.as_deref().unwrap_or(path);
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self { path: path.into(), file: Target::Special(BufWriter::new(file)) });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // With the permissions of any new file. An error does not name the temporary file, which no user
        // knows.
        let open = |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let file = tempfile::Builder::new().prefix(".rpu-").make_in(folder, open)?;
        Ok(Self { path: path.into(), file: Target::Temporary(BufWriter::new(file)) })
    }

    /// Whether this is a device or a pipe, which has its content before [`finish`](Self::finish).
    pub fn is_special(&self) -> bool {
        matches!(self.file, Target::Special(_))
    }

    /// Closes the file and gives it its name.
    ///
    /// # Errors
    /// Returns an error if the rest cannot be written; the path then keeps its old content.
    pub fn finish(self) -> io::Result<()> {
        match self.file {
            Target::Special(mut file) => file.flush(),
            Target::Temporary(file) => {
                file.into_inner().map_err(io::IntoInnerError::into_error)?.persist(self.path)?;
                Ok(())
            }
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Target::Special(file) => file.write(bytes),
            Target::Temporary(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            Target::Special(file) => file.flush(),
            Target::Temporary(file) => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = write(&folder.path().join("absent/a.txt"), b"").unwrap_err();
        assert!(error.kind() == io::ErrorKind::NotFound && !error.to_string().contains(".rpu-"), "{error}");
        assert!(write(folder.path(), b"").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_links_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        write(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(!pipe.metadata().unwrap().is_file());

        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        std::fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert!(link.symlink_metadata().unwrap().is_symlink());
    }
}
