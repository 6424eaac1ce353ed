//! What commands print: each to the last character, on both outputs, with its status.
//!
//! Each case is a file in `tests/cli/show`, in the format of `tests/cli/refuse`, with any number of commands,
//! which run one after the other in one folder. `BLESS=1 cargo test -p rpu-toolchain --test cli show` writes
//! what they print.

use crate::common::{Case, names, repository, rpu};
use rayon::prelude::*;
use std::path::Path;

#[test]
fn commands_print_what_they_did() {
    let folder = repository("tests/cli/show");
    let cases = Path::new(&folder);
    let files = names(cases);
    let sources: Vec<&str> = files.iter().filter_map(|name| name.strip_suffix(".case")).collect();
    let printed: Vec<&str> = files.iter().filter_map(|name| name.strip_suffix(".out")).collect();
    sources.par_iter().for_each(|name| {
        let path = cases.join(name);
        diagnostic::snapshot::fresh(path.with_extension("out"), transcript(&path.with_extension("case")));
    });
    if !diagnostic::snapshot::blessing() {
        assert_eq!(sources, printed, "each case has one file of what it prints");
    }
}

/// The commands of a case, each followed by what it prints.
fn transcript(case: &Path) -> String {
    let case = Case::read(case);
    let folder = case.folder();
    let mut text = String::new();
    for args in &case.commands {
        let output = rpu(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>());
        text += &format!("$ rpu {}\n", args.join(" "));
        text += &String::from_utf8(output.stdout).expect("results are UTF-8");
        if !output.stderr.is_empty() {
            text += "[standard error]\n";
            text += &String::from_utf8(output.stderr).expect("messages are UTF-8");
        }
        if !output.status.success() {
            text += &format!("[{}]\n", output.status);
        }
        text += "\n";
    }
    text
}
