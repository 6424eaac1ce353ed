//! The pages of sweeps and runs, in a headless browser if there is one.
//!
//! `npm install` in `tests/pages` provides it, or `RPU_BROWSER` names another folder with `node_modules`.
//! Without Node or the browser, the tests say so and check the files only.

use crate::common::{command, repository, rpu, succeed};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
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

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_running_sweep_is_served() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), SWEEP).unwrap();
    // One of two shards: the sweep is not complete.
    succeed(folder.path(), &["sweep", "s.toml", "--out", "d", "--shard", "1/2", "--progress", "none"]);
    let mut server = command(folder.path());
    server.args(["serve", "d", "--port", "0"]).stderr(Stdio::piped());
    let mut server = Served(server.spawn().expect("rpu starts"));
    let mut line = String::new();
    BufReader::new(server.0.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address =
        line.strip_prefix("http://").and_then(|rest| rest.split(' ').next()).expect(&line).to_owned();
    let get_from = |host: &str, path: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let get = |path: &str| get_from(&format!("Host: {address}\r\n"), path);
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    // The name of another page's server, which resolves to this computer.
    for host in ["Host: example.org\r\n", "Host: 127.0.0.1.example.org:80\r\n", ""] {
        assert!(get_from(host, "/").starts_with("HTTP/1.1 403"), "{host}");
    }
    assert!(get_from("Host: localhost\r\n", "/state").starts_with("HTTP/1.1 200"));
    let page = get("/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("12 more have not run yet"), "{page}");
    assert!(get("/other").starts_with("HTTP/1.1 404"));
    // One client stops after half a request; another announces more than any memory.
    let mut unfinished = TcpStream::connect(&address).unwrap();
    write!(unfinished, "GET / HT").unwrap();
    for length in ["18446744073709551615", "100000000000"] {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 403");
    }
    let state = get("/state");

    let pictures = pictures(folder.path());
    let mut watching = browser("live", &format!("http://{address}/"), &pictures);
    let mut opened = String::new();
    if let Some(child) = &mut watching {
        // The page is open, or there is no browser.
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut opened).unwrap();
    }
    succeed(folder.path(), &["sweep", "s.toml", "--out", "d", "--shard", "2/2", "--progress", "none"]);
    assert_ne!(get("/state"), state);
    assert!(!get("/").contains("more have not run yet"));
    match watching.map(|mut child| child.wait().expect("node ends").code()) {
        Some(Some(0)) => assert_eq!(opened, "rows 12\n"),
        Some(Some(77)) | None => skip(if opened.is_empty() { "there is no `node`" } else { opened.trim() }),
        Some(status) => panic!("{status:?}: {opened}"),
    }
    let output = rpu(folder.path(), &["serve", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
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
