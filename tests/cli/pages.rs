//! The pages of sweeps and runs, in a headless browser if there is one.
//!
//! `npm install` in `tests/pages` provides it, or `RPU_BROWSER` names another folder with `node_modules`.
//! Without Node or the browser, the tests say so and check the files only.

use crate::common::{repository, succeed};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The folder for pictures: `RPU_PICTURES`, or a temporary one.
fn pictures(folder: &Path) -> PathBuf {
    std::env::var_os("RPU_PICTURES").map_or_else(|| folder.join("pictures"), PathBuf::from)
}

/// Starts the checks of a page in a browser; `None` without Node.
fn browser(kind: &str, url: &str, pictures: &Path) -> Option<Child> {
    let mut command = Command::new("node");
    command.args([&repository("tests/pages/browser.mjs"), kind, url]).arg(pictures);
    match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => Some(child),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::NotFound, "node: {error}");
            None
        }
    }
}

/// Runs the checks of a page.
fn check(kind: &str, url: &str, pictures: &Path) {
    let Some(child) = browser(kind, url, pictures) else { return skip("there is no `node`") };
    let output = child.wait_with_output().expect("node ends");
    let text = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => {}
        Some(77) => skip(text.trim()),
        _ => panic!("{kind}: {text}"),
    }
}

fn skip(why: &str) {
    // Past the test harness, which keeps the output of tests that pass.
    let _ = writeln!(std::io::stderr(), "NOT TESTED: pages in a browser: {why}; see tests/cli/pages.rs");
}

fn url(path: &Path) -> String {
    format!("file://{}", path.canonicalize().expect("the page").display())
}

const SWEEP: &str = "kernel = 'ntt'\nn = 1024\nplan = 'kl'\n[grid]\nhple.count = [16, 32, 64, 128]\n\
                     vdm.banks = [32, 64, 128]\nvdm.mapping = ['interleaved', 'xor']\n";

#[test]
fn the_page_of_a_sweep_is_interactive() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), SWEEP).unwrap();
    succeed(folder.path(), &["sweep", "s.toml", "--out", "d", "--progress", "none"]);
    let path = folder.path().join("d/report.html");
    // It works without a network.
    let page = fs::read_to_string(&path).unwrap().replace("http://www.w3.org/", "");
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert_eq!(page.matches("data-key=\"").count(), 24);
    check("sweep", &url(&path), &pictures(folder.path()));
}

/// A page cannot share the code of the command line, so both have one table of cases.
#[test]
fn pages_read_the_conditions_of_the_command_line() {
    let output = match Command::new("node").arg(repository("tests/pages/conditions.mjs")).output() {
        Ok(output) => output,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::NotFound, "node: {error}");
            return skip("there is no `node`");
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_page_of_a_run_has_a_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = repository("kernels-b512/ntt1024.b512");
    succeed(folder.path(), &["run", &kernel, "--page", "run.html", "-p", "vdm.banks=64"]);
    let path = folder.path().join("run.html");
    check("run", &url(&path), &pictures(folder.path()));
}

#[test]
fn the_page_of_a_ring_program_has_kernels_and_transfers() {
    let folder = tempfile::tempdir().unwrap();
    let set = "n = 1024\nq = [{ bits = 50, count = 4 }]\np = [{ bits = 50, count = 2 }]\ndigits = 2\nsecurity = \"none\"\n";
    fs::write(folder.path().join("small.toml"), set).unwrap();
    succeed(folder.path(), &["gen", "program", "hmult", "--set", "small.toml", "-o", "product.fhetch"]);
    succeed(folder.path(), &["run", "product.fhetch", "--check", "--page", "product.html"]);
    let path = folder.path().join("product.html");
    check("ring", &url(&path), &pictures(folder.path()));
}
