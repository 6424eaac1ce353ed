//! Shared helpers of the command-line tests.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A file of the repository.
pub(crate) fn repository(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

/// What a process under test inherits: programs, temporary files, and the files of a coverage run. What else
/// a user sets, such as colours, a number of threads or a folder with recipes, changes no test.
const INHERITED: [&str; 8] =
    ["PATH", "TMPDIR", "TMP", "TEMP", "SystemRoot", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE", "RPU_BROWSER"];

/// A program in a folder, which is its home too.
pub(crate) fn process(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    let inherited = INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.env_clear().envs(inherited).env("HOME", folder).env("TERM", "xterm-256color");
    command.current_dir(folder);
    command
}

/// `rpu` in a folder.
pub(crate) fn command(folder: &Path) -> Command {
    process(env!("CARGO_BIN_EXE_rpu"), folder)
}

/// Runs `rpu` in a folder.
pub(crate) fn rpu(folder: &Path, args: &[&str]) -> Output {
    command(folder).args(args).output().expect("rpu starts")
}

/// Runs `rpu`, which must succeed, and returns its standard output.
#[track_caller]
pub(crate) fn succeed(folder: &Path, args: &[&str]) -> String {
    let output = rpu(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "rpu {}: {}\n{errors}", args.join(" "), output.status);
    String::from_utf8(output.stdout).expect("results are UTF-8")
}

/// The names of the files in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Command lines and the files that they read, from a file such as those in `tests/cli/refuse`.
pub(crate) struct Case {
    /// The arguments of each command.
    pub(crate) commands: Vec<Vec<String>>,
    files: Vec<(String, Vec<u8>)>,
}

impl Case {
    /// Reads a case.
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a case is UTF-8");
        let mut sections = text.split("\n==> ");
        let head = sections.next().unwrap_or_default();
        let commands = head.lines().filter_map(|line| line.strip_prefix("rpu "));
        Self {
            commands: commands.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect(),
            files: sections.map(file).collect(),
        }
    }

    /// A folder with the files.
    pub(crate) fn folder(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (file, content) in &self.files {
            fs::write(folder.path().join(file), content).expect("a file");
        }
        folder
    }
}

/// Parses a section: the file's name, then its content.
fn file(section: &str) -> (String, Vec<u8>) {
    let (name, content) = section.split_once('\n').expect("a section has a line of its own for the name");
    match name.strip_suffix(" (hex)") {
        Some(name) => (name.to_owned(), content.lines().flat_map(repeated_byte).collect()),
        None => (name.to_owned(), content.as_bytes().to_vec()),
    }
}

/// Parses `COUNT * HH`: a byte, COUNT times. An empty line has no bytes.
fn repeated_byte(line: &str) -> Vec<u8> {
    if line.is_empty() {
        return Vec::new();
    }
    let (count, byte) = line.split_once(" * ").unwrap_or_else(|| panic!("`{line}` is not `COUNT * HH`"));
    let byte = u8::from_str_radix(byte, 16).expect("two hexadecimal digits");
    vec![byte; count.parse().expect("a decimal count")]
}
