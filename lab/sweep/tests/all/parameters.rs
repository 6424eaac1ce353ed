//! The parameters of tasks.

use lab_sweep::parameter::{Form, PARAMETERS, Values, table};
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
    diagnostic::snapshot::fresh(path, format!("{before}{BEGIN}{}{END}{after}", table()));
}

/// The arguments of `generate` by name. Its operation and `n` are in its signature.
#[test]
fn the_arguments_of_python_are_the_rows() {
    let (mut doc, mut keys) = (String::new(), String::new());
    for parameter in PARAMETERS.iter().filter(|parameter| {
        let of_kernels = parameter.forms.contains(&Form::Kernel) && parameter.changes_program;
        of_kernels && !["kernel", "n"].contains(&parameter.name)
    }) {
        let kind = match &parameter.values {
            Values::Degree | Values::Integer(..) => "int".to_owned(),
            Values::Numbers | Values::Integers => "int | str | Sequence[int]".to_owned(),
            Values::Names(names) => format!("Literal[\"{}\"]", names.join("\", \"")),
            Values::Text => "str".to_owned(),
        };
        keys += &format!("    {}: {kind}\n", parameter.name);
        let of = if parameter.of.is_empty() { String::new() } else { format!(" Of {}.", parameter.takers()) };
        doc += &format!("        {}: {}.{of}\n", parameter.name, parameter.help());
    }
    let page = format!(
        "\"\"\"The parameters of `generate`, from lab/sweep/src/parameter.rs.\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from collections.abc import Sequence\n\
         from typing import Literal, TypedDict\n\n\n\
         class Parameters(TypedDict, total=False):\n    \"\"\"\n{doc}    \"\"\"\n\n{keys}"
    );
    diagnostic::snapshot::fresh(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/rpu/_parameters.py"),
        page,
    );
}

#[test]
fn parameters_have_different_names_which_no_key_of_a_machine_has() {
    let names: BTreeSet<&str> = PARAMETERS.iter().map(|parameter| parameter.name).collect();
    assert_eq!(names.len(), PARAMETERS.len());
    assert!(PARAMETERS.iter().all(|parameter| sim::machine::key(parameter.name).is_none()));
}
