//! Imports between the files of a crate run in no circle. A file `f.rs`, the files in `f/` and the root of
//! the crate may name each other.

use super::{code, sources, workspace};
use crate::common::repository;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The path of a module in its crate; the root has none.
type Module = Vec<String>;

/// The paths that begin with `start` in a source, and those in braces behind them.
fn paths(text: &str, start: &str) -> Vec<Module> {
    /// Reads `a::b` or `a::{b, c::d}`, and returns what is left.
    fn read<'t>(text: &'t str, before: &[String], found: &mut Vec<Module>) -> &'t str {
        let mut path = before.to_vec();
        let mut rest = text.trim_start();
        loop {
            if let Some(mut inside) = rest.strip_prefix('{') {
                while !inside.trim_start().starts_with('}') {
                    let left = read(inside, &path, found);
                    let left = left.trim_start_matches(|c: char| c != ',' && c != '}');
                    inside = left.strip_prefix(',').unwrap_or(left);
                }
                return &inside.trim_start()[1..];
            }
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            path.push(name.to_owned());
            rest = &rest[name.len()..];
            match rest.strip_prefix("::") {
                Some(behind) => rest = behind,
                None => break,
            }
        }
        found.push(path);
        rest
    }
    let mut found = Vec::new();
    for (at, _) in text.match_indices(start) {
        let is_whole = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        if is_whole {
            read(&text[at..], &[], &mut found);
        }
    }
    found
}

/// The files of a crate, and for each the files that it imports.
fn imports(src: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let module = |path: &Path| {
        let path = path.strip_prefix(src).unwrap().with_extension("");
        let mut names: Module = path.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
        names.pop_if(|last| ["lib", "main", "mod"].contains(&&**last));
        names
    };
    let files: BTreeMap<Module, String> =
        sources(src).into_iter().map(|(path, text)| (module(&path), text)).collect();
    let import = |here: &Module, path: Module| {
        let up = path.iter().take_while(|name| *name == "super").count();
        let base = if path[0] == "crate" { &[][..] } else { &here[..here.len() - up] };
        let mut target: Module = base.iter().chain(&path[up.max(1)..]).cloned().collect();
        while !files.contains_key(&target) {
            target.pop();
        }
        let is_inside = target.starts_with(here) || here.starts_with(&target);
        (!is_inside).then_some(target)
    };
    let of_file = |(here, text): (&Module, &String)| {
        let text = code(text).collect::<Vec<_>>().join("\n");
        let all = ["crate::", "super::"].into_iter().flat_map(|start| paths(&text, start));
        (here.clone(), all.filter_map(|path| import(here, path)).collect())
    };
    files.iter().map(of_file).collect()
}

#[test]
fn files_import_each_other_in_no_circle() {
    let mut count = 0;
    for (name, here) in workspace() {
        // Benchmarks have no `src`.
        let src = Path::new(&repository(&here.folder)).join("src");
        let mut left = if src.is_dir() { imports(&src) } else { BTreeMap::new() };
        count += left.values().map(BTreeSet::len).sum::<usize>();
        // What imports nothing that is left is in no circle.
        loop {
            let present: BTreeSet<Module> = left.keys().cloned().collect();
            left.retain(|_, imported| {
                imported.retain(|target| present.contains(target));
                !imported.is_empty()
            });
            if left.len() == present.len() {
                break;
            }
        }
        let left: Vec<String> =
            left.iter().map(|(file, to)| format!("{} -> {to:?}", file.join("/"))).collect();
        assert!(left.is_empty(), "`{name}` has a circle, or leads to one: {left:#?}");
    }
    assert!(count > 1000, "{count} imports");
}

#[test]
fn paths_in_braces_are_found() {
    let found =
        paths("use crate::a::{b::C, d::{e, f as g}, self};\nlet x = crate::h(crate::i::J);", "crate::");
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    let expected =
        ["crate::a::b::C", "crate::a::d::e", "crate::a::d::f", "crate::a::self", "crate::h", "crate::i::J"];
    assert_eq!(found, expected);
}
