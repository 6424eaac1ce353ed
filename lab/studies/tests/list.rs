//! The table of studies, the pages, and their list in `docs/generated.md`.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn every_page_exists_names_its_study_and_is_in_the_list_of_generated_files() {
    let output = Command::new(env!("CARGO_BIN_EXE_studies")).arg("--list").output().expect("studies starts");
    let list = String::from_utf8(output.stdout).expect("text");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let generated = fs::read_to_string(root.join("docs/generated.md")).expect("the list");
    for line in list.lines() {
        let (name, rest) = line.split_once(' ').expect("a name and pages");
        let (_, pages) = rest.trim().split_once(' ').expect("a time and pages");
        let command = format!("`-- {name}`");
        assert!(generated.contains(&command), "docs/generated.md lacks {command}");
        for page in pages.trim().split(", ") {
            assert!(root.join(page).exists(), "{page}");
            if page.ends_with(".md") {
                let text = fs::read_to_string(root.join(page)).expect("a page");
                assert!(text.contains(&format!("cargo run -p studies -- {name}`")), "{page}");
            }
        }
    }
    assert!(list.lines().count() >= 10, "{list}");
    let reports = fs::read_to_string(root.join("reports/README.md")).expect("the table of reports");
    let named = reports.split("the study `").skip(1).map(|rest| rest.split('`').next().expect("a name"));
    let unknown: Vec<&str> =
        named.filter(|name| !list.lines().any(|line| line.split(' ').next() == Some(*name))).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Clocks, areas and energies are those of a technology. Charts of the debugger's screen have none.
#[test]
fn every_committed_chart_says_which_technology_its_numbers_rest_on() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut charts = 0;
    for folder in ["reports", "reports/he", "reports/paper", "reports/gpu", "docs/book/src/img"] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "svg") || path.ends_with("debug.svg") {
                continue;
            }
            let svg = fs::read_to_string(&path).expect("a chart");
            let says = ["Technolog", "vector crossbar"].iter().all(|part| svg.contains(part));
            assert!(says, "{} does not name a technology and the source of its crossbar", path.display());
            charts += 1;
        }
    }
    assert!(charts >= 20, "{charts}");
}
