//! The parameters of tasks.

use lab_sweep::parameter::{PARAMETERS, table};
use std::collections::BTreeSet;
use std::path::Path;

const BEGIN: &str = "<!-- the parameters of tasks, from lab/sweep/src/parameter.rs -->\n";
const END: &str = "<!-- end -->";

#[test]
fn the_books_table_is_that_of_the_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/sweeps.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    bless::fresh(path, format!("{before}{BEGIN}{}{END}{after}", table()));
}

#[test]
fn parameters_have_different_names_which_no_key_of_a_machine_has() {
    let names: BTreeSet<&str> = PARAMETERS.iter().map(|parameter| parameter.name).collect();
    assert_eq!(names.len(), PARAMETERS.len());
    assert!(PARAMETERS.iter().all(|parameter| sim::machine::key(parameter.name).is_none()));
}
