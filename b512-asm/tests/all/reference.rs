//! Files generated from the instruction table: `docs/isa.md`, and a grammar for editors.

use b512_asm::Op;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

#[test]
fn the_committed_reference_is_fresh() {
    diagnostic::snapshot::fresh(repository("docs/isa.md"), b512_asm::reference());
}

/// The directives, as the explanation of error B007 lists them.
const DIRECTIVES: [&str; 13] = [
    "kernel", "isa", "const", "input", "output", "table", "scratch", "words", "modulus", "address",
    "computes", "repeat", "end",
];

/// The TextMate grammar of assembly text. Editors read this form, and so do sites that show code.
fn grammar() -> String {
    let mnemonics: Vec<&str> = Op::ALL.iter().map(|op| op.info().mnemonic).collect();
    let rules = [
        ("comment.line.b512", "(//|#).*$".to_owned()),
        ("keyword.control.directive.b512", format!("^\\s*\\.({})\\b", DIRECTIVES.join("|"))),
        ("support.function.mnemonic.b512", format!("^\\s*({})\\b", mnemonics.join("|"))),
        ("variable.language.register.b512", "\\b[vsam](6[0-3]|[1-5]?[0-9])\\b".to_owned()),
        ("keyword.other.mode.b512", "\\b(linear|strided|skip|repeated|vdm|sdm|at)\\b".to_owned()),
        ("constant.numeric.b512", "\\b(0x[0-9A-Fa-f_]+|[0-9][0-9_]*)\\b".to_owned()),
    ];
    let rule = |(scope, pattern): &(&str, String)| {
        let pattern = pattern.replace('\\', "\\\\");
        format!("    {{ \"name\": \"{scope}\", \"match\": \"{pattern}\" }}")
    };
    let rules: Vec<String> = rules.iter().map(rule).collect();
    format!(
        "{{\n  \"name\": \"B512 assembly\",\n  \"scopeName\": \"source.b512\",\n  \"fileTypes\": [\"b512\"],\n  \
         \"patterns\": [\n{}\n  ]\n}}\n",
        rules.join(",\n")
    )
}

#[test]
fn the_grammar_for_editors_is_fresh() {
    diagnostic::snapshot::fresh(repository("docs/editors/b512.tmLanguage.json"), grammar());
}

#[test]
fn the_grammar_knows_every_directive_of_the_kernels() {
    let mut used = BTreeSet::new();
    for name in ["vadd", "mul1024", "ntt1024", "ntt1024_spiral"] {
        let text = std::fs::read_to_string(repository(&format!("kernels-b512/{name}.b512"))).unwrap();
        let directives = text.lines().filter_map(|line| line.trim_start().strip_prefix('.'));
        used.extend(directives.map(|line| line.split_whitespace().next().unwrap().to_owned()));
    }
    assert!(used.len() >= 5, "{used:?}");
    assert!(used.iter().all(|name| DIRECTIVES.contains(&name.as_str())), "{used:?}");
}
