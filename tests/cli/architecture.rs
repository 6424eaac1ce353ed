//! The structure of the workspace, and what `ARCHITECTURE.md` and the glossary say of it.

mod imports;

use crate::common::{names, repository};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The lines of `ARCHITECTURE.md` around the generated part.
const MARKERS: [&str; 2] = ["<!-- workspace: begin -->\n", "<!-- workspace: end -->\n"];

/// The folders of the architecture, the lowest first: a crate imports from its own folder and from lower
/// ones.
const FLOORS: [&[&str]; 5] = [
    &["base", "configs"],
    &["b512-asm", "golden", "sim", "codegen", "gpu-ref"],
    &["he"],
    &["lab"],
    &["", "python", "tests"],
];

/// The number of folders at the top level that one can still survey.
const FOLDERS: usize = 15;

/// A crate of the workspace.
struct Crate {
    /// Relative to the repository; empty for the command line.
    folder: String,
    content: String,
    /// The crates of the workspace that it imports, tests aside.
    imports: BTreeSet<String>,
}

impl Crate {
    /// The number of its floor in [`FLOORS`].
    fn floor(&self) -> usize {
        let wing = self.folder.split('/').next().unwrap_or("");
        let floor = FLOORS.iter().position(|wings| wings.contains(&wing));
        floor.unwrap_or_else(|| panic!("`{}` is in no folder of the architecture", self.folder))
    }
}

/// The crates of the workspace by their names in code.
fn workspace() -> BTreeMap<String, Crate> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(repository("."))
        .output()
        .expect("cargo starts");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let root = text(&metadata["workspace_root"]);
    let packages = metadata["packages"].as_array().expect("a list");
    // The name in the code: that of the library, if there is one.
    let crate_name = |package: &Value| {
        let is_library = |target: &&Value| target["kind"][0] == "lib";
        let library = package["targets"].as_array().expect("a list").iter().find(is_library);
        text(&library.unwrap_or(package)["name"])
    };
    let names: BTreeMap<String, String> =
        packages.iter().map(|package| (text(&package["name"]), crate_name(package))).collect();
    let package = |package: &Value| {
        let manifest = text(&package["manifest_path"]);
        let folder = Path::new(&manifest).parent().unwrap().strip_prefix(&root).expect("a member");
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        // `kind` is null for a dependency that is neither for tests nor for building.
        let imports = dependencies.filter(|entry| entry["kind"].is_null() && !entry["path"].is_null());
        let imports = imports.map(|entry| names[&text(&entry["name"])].clone()).collect();
        let content = text(&package["description"]);
        (crate_name(package), Crate { folder: folder.display().to_string(), content, imports })
    };
    packages.iter().map(package).collect()
}

/// The imports of a crate that none of its other imports has already.
fn direct<'c>(crates: &'c BTreeMap<String, Crate>, name: &str) -> Vec<&'c str> {
    fn reaches(crates: &BTreeMap<String, Crate>, from: &str, to: &str) -> bool {
        crates[from].imports.iter().any(|import| import == to || reaches(crates, import, to))
    }
    let imports = &crates[name].imports;
    let indirect = |to: &&String| imports.iter().any(|from| reaches(crates, from, to));
    imports.iter().filter(|to| !indirect(to)).map(String::as_str).collect()
}

/// The generated part of `ARCHITECTURE.md`: the crates from the highest floor to the lowest, and their
/// contents.
fn picture(crates: &BTreeMap<String, Crate>) -> String {
    fn height(crates: &BTreeMap<String, Crate>, name: &str) -> usize {
        crates[name].imports.iter().map(|import| height(crates, import) + 1).max().unwrap_or(0)
    }
    let mut order: Vec<&String> = crates.keys().collect();
    order.sort_by_key(|name| {
        let floor = crates[*name].floor();
        std::cmp::Reverse((floor, height(crates, name)))
    });
    let width = order.iter().map(|name| name.len()).max().unwrap_or(0);
    let (mut picture, mut table, mut floor) = (String::new(), String::new(), None);
    for name in order {
        let here = &crates[name];
        if floor.replace(here.floor()).is_some_and(|above| above != here.floor()) {
            picture += "\n";
        }
        let line = format!("{name:width$}  -> {}", direct(crates, name).join(", "));
        picture += &format!("{}\n", line.trim_end_matches([' ', '-', '>']));
        let folder = if here.folder.is_empty() { "src" } else { &here.folder };
        table += &format!("| `{name}` | `{folder}/` | {} |\n", here.content);
    }
    format!("```text\n{picture}```\n\n| crate | folder | content |\n|---|---|---|\n{table}")
}

#[test]
fn the_picture_of_the_architecture_follows_from_the_workspace() {
    let path = repository("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).unwrap();
    let [begin, end] = MARKERS;
    let (before, rest) = text.split_once(begin).expect("a first marker");
    let (_, after) = rest.split_once(end).expect("a second marker");
    diagnostic::snapshot::fresh(path, format!("{before}{begin}{}{end}{after}", picture(&workspace())));
}

#[test]
fn imports_run_downwards_between_folders() {
    let crates = workspace();
    for (name, here) in &crates {
        for import in &here.imports {
            assert!(crates[import].floor() <= here.floor(), "`{name}` imports `{import}` from above");
        }
    }
}

#[test]
fn the_top_level_has_few_folders() {
    let folders = top_level();
    assert!(folders.len() <= FOLDERS, "{} folders: {folders:?}", folders.len());
}

/// The folders at the top level: without hidden and ignored ones.
fn top_level() -> Vec<String> {
    let ignored = ignored();
    let folders = names(Path::new(&repository("."))).into_iter();
    folders
        .filter(|name| {
            let path = PathBuf::from(repository(name));
            !name.starts_with('.') && !ignored.contains(&path) && path.is_dir()
        })
        .collect()
}

/// What `.gitignore` names by its place.
fn ignored() -> Vec<PathBuf> {
    let text = fs::read_to_string(repository(".gitignore")).unwrap();
    let places = text.lines().filter_map(|line| line.strip_prefix('/'));
    places.map(|place| repository(place.trim_end_matches('/')).into()).collect()
}

/// On Windows, most checkouts have a text in place of a symbolic link.
#[test]
fn there_are_no_symbolic_links() {
    let ignored = ignored();
    let mut folders: Vec<PathBuf> = top_level().iter().map(|name| repository(name).into()).collect();
    let mut links = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in names(&folder).into_iter().map(|name| folder.join(name)) {
            let kind = path.symlink_metadata().unwrap();
            if kind.is_symlink() {
                links.push(path);
            } else if kind.is_dir() && !ignored.contains(&path) {
                folders.push(path);
            }
        }
    }
    assert!(links.is_empty(), "{links:#?}");
}

/// Every `crate::..::Type` of the glossary is declared in that crate.
#[test]
fn the_types_in_the_glossary_exist() {
    let crates = workspace();
    let glossary = fs::read_to_string(repository("docs/book/src/glossary.md")).unwrap();
    let types = glossary.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::"));
    let mut count = 0;
    for (name, path) in types {
        let here = crates.get(name);
        let folder = &here.unwrap_or_else(|| panic!("no crate `{name}`")).folder;
        let word = path.rsplit("::").next().unwrap();
        let declares = |text: &str| {
            let keywords = ["struct", "enum", "trait", "mod"].map(|keyword| format!("{keyword} {word}"));
            // Machine keys declare their types in the rows of `sections!`.
            let rows = [format!("    {word} ["), format!("{word} {{")];
            keywords.iter().chain(&rows).any(|declaration| text.contains(declaration.as_str()))
        };
        assert!(
            sources(Path::new(&repository(&format!("{folder}/src")))).iter().any(|(_, text)| declares(text)),
            "`{name}::{path}`"
        );
        count += 1;
    }
    assert!(count > 10, "{count} types");
}

/// The Rust files in a folder: paths and texts.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            files.extend(sources(&path));
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(&path).unwrap();
            files.push((path, text));
        }
    }
    files
}

/// The lines of a source, tests and comments aside.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The files that read what no user gives: the repository's own files, and those of the system.
const READ_OWN_FILES: [&str; 2] = ["lab/studies", "lab/reproduction/src/cpu.rs"];

/// A file of a user may be a device, a pipe or larger than the memory: `diagnostic::input` opens it.
#[test]
fn files_of_users_are_read_by_one_reader() {
    let root = repository(".");
    let folders = ["b512-asm/src", "codegen/src", "golden/src", "he", "lab", "python/src", "sim/src", "src"];
    let mut reading = Vec::new();
    for (path, text) in folders.iter().flat_map(|folder| sources(&Path::new(&root).join(folder))) {
        let path = path.strip_prefix(&root).unwrap().display().to_string();
        let is_test = path.contains("tests") || path.contains("testing") || path.contains("examples");
        if is_test || READ_OWN_FILES.iter().any(|allowed| path.starts_with(allowed)) {
            continue;
        }
        let readers = ["fs::read(", "fs::read_to_string(", "File::open("];
        let reads = code(&text).filter(|line| readers.iter().any(|reader| line.contains(reader)));
        reading.extend(reads.map(|line| format!("{path}: {line}")));
    }
    assert!(reading.is_empty(), "use `diagnostic::input`: {reading:#?}");
}

/// The files of operations, their registries, and the crates about the paper's transforms.
const NAME_OPERATIONS: [&str; 5] =
    ["golden/src/ops", "codegen/src/ops", "src/crosscheck/kernels.rs", "lab/reproduction", "lab/studies"];

/// An operation is a file, not a case: tests aside, nothing else has its name as a string or as a constant.
#[test]
fn only_files_of_operations_and_registries_name_operations() {
    let root = repository(".");
    let folders = ["golden/src", "codegen/src", "lab", "src"];
    let mut named = Vec::new();
    for (path, text) in folders.iter().flat_map(|folder| sources(&Path::new(&root).join(folder))) {
        let path = path.strip_prefix(&root).unwrap().display().to_string();
        let is_test = path.contains("tests") || path.contains("testing");
        if is_test || NAME_OPERATIONS.iter().any(|allowed| path.starts_with(allowed)) {
            continue;
        }
        for line in code(&text) {
            let names = |word: &str| golden::OPERATIONS.iter().any(|operation| operation.name() == word);
            let strings = line.split('"').skip(1).step_by(2);
            let constants = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let constants = constants.filter(|word| *word == word.to_uppercase()).map(str::to_lowercase);
            if strings.map(str::to_owned).chain(constants).any(|word| names(&word)) {
                named.push(format!("{path}: {line}"));
            }
        }
    }
    assert!(named.is_empty(), "{named:#?}");
}

/// rustfmt leaves comments alone. Rows of tables have the width that they need, and so have lines of
/// examples.
#[test]
fn comments_are_as_narrow_as_the_code() {
    let settings = fs::read_to_string(repository("rustfmt.toml")).unwrap();
    let (_, width) = settings.split_once("max_width = ").expect("the width of the code");
    let width: usize = width.lines().next().unwrap().parse().expect("a number");
    let root = repository(".");
    let mut wide = Vec::new();
    for (path, text) in crate_folders().iter().flat_map(|folder| sources(&Path::new(&root).join(folder))) {
        let mut is_example = false;
        for (number, line) in (1..).zip(text.lines()) {
            let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
            let comment = comment.trim_start_matches(['/', '!', ' ']);
            is_example ^= comment.starts_with("```");
            if line.chars().count() > width && !is_example && !comment.starts_with('|') {
                wide.push(format!("{}:{number}", path.display()));
            }
        }
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

/// A package on the registry holds only what is in its folder.
#[test]
fn crates_include_no_file_of_another_folder() {
    let root = repository(".");
    let (mut included, mut outside) = (0, Vec::new());
    for here in workspace().into_values() {
        let folder = Path::new(&root).join(&here.folder);
        for (path, text) in sources(&folder.join("src")) {
            let depth = path.parent().unwrap().strip_prefix(&folder).unwrap().components().count();
            for line in code(&text).filter(|line| line.contains("include_str!(\"") || line.contains("#[path"))
            {
                let (_, file) = line.split_once('"').expect("a file");
                included += 1;
                if file.matches("../").count() > depth {
                    outside.push(format!("{}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
    assert!(included > 20, "{included} files");
}

/// The front page of each package on the registry has an example, which is compiled.
#[test]
fn front_pages_have_examples() {
    let root = repository(".");
    let mut without = Vec::new();
    for here in workspace().into_values() {
        let folder = Path::new(&root).join(&here.folder);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        if !manifest.contains("publish = false") {
            let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
            let mut page = source.lines().take_while(|line| line.starts_with("//!"));
            let has_example = page.any(|line| ["//! ```", "//! ```no_run"].contains(&line));
            if !has_example || manifest.contains("doctest = false") {
                without.push(here.folder);
            }
        }
    }
    assert!(without.is_empty(), "{without:?}");
}

/// The folders of all crates.
fn crate_folders() -> Vec<String> {
    let folders = workspace().into_values().map(|here| here.folder);
    // That of the command line holds all others, and what cargo builds.
    folders.filter(|folder| !folder.is_empty()).chain(["src".to_owned(), "tests/cli".to_owned()]).collect()
}
