//! The built-in library and its files.

use codegen::library::{BUILT_IN, Task};
use std::path::Path;

#[test]
fn each_file_has_the_name_and_the_text_of_its_task() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plans");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = folder.read_dir().unwrap().map(name).collect();
    names.sort();
    assert!(names.len() > 30, "{} files", names.len());
    assert_eq!(names, BUILT_IN.tasks().map(Task::file_name).collect::<Vec<_>>());
    for task in BUILT_IN.tasks() {
        let (name, text) = (task.file_name(), task.to_toml());
        assert_eq!(toml::from_str::<Task>(&text).as_ref(), Ok(task), "{name}");
        diagnostic::snapshot::fresh(folder.join(name), text);
    }
}
