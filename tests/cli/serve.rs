//! The server of a sweep's page: its answers, and clients that send what they like.

use crate::common::{command, rpu, succeed};
use crate::pages::{SWEEP, browser, pictures, skip};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A server that ends with the test, and its address.
struct Served(Child, String);

impl Served {
    fn new(folder: &Path) -> Self {
        let mut server = command(folder);
        server.args(["serve", "d", "--port", "0"]).stderr(Stdio::piped());
        let mut server = server.spawn().expect("rpu starts");
        let mut line = String::new();
        BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("http://").and_then(|rest| rest.split(' ').next()).expect(&line);
        Self(server, address.to_owned())
    }
}

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
    let server = Served::new(folder.path());
    let address = server.1.clone();
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
    let hosts = ["example.org", "127.0.0.1.example.org:80", "localhost:", "localhost:http"];
    for host in hosts.map(|host| format!("Host: {host}\r\n")).iter().map(String::as_str).chain([""]) {
        assert!(get_from(host, "/").starts_with("HTTP/1.1 403"), "{host}");
    }
    assert!(get_from("Host: localhost\r\n", "/state").starts_with("HTTP/1.1 200"));
    let page = get("/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("12 more have not run yet"), "{page}");
    assert!(page.contains("<svg"), "{page}");
    assert!(get("/other").starts_with("HTTP/1.1 404"));
    // What browsers may do with any answer: the page asks this server alone, and nothing is taken for a script.
    for answer in [&page, &get("/state"), &get("/other"), &get_from("Host: example.org\r\n", "/")] {
        let (head, _) = answer.split_once("\r\n\r\n").expect("an empty line");
        assert!(head.lines().any(|line| line == "X-Content-Type-Options: nosniff"), "{head}");
        let policy =
            head.lines().find_map(|line| line.strip_prefix("Content-Security-Policy: ")).expect(head);
        assert!(
            policy.starts_with("default-src 'none'; ") && policy.ends_with("; connect-src 'self'"),
            "{policy}"
        );
    }
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
    // A request may come in parts, and a client that ends in the middle waits for no patience.
    let begin = Instant::now();
    for (rest, status) in
        [(format!("/state HTTP/1.1\r\nHost: {address}\r\n\r\n"), "200"), (String::new(), "403")]
    {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET ").unwrap();
        thread::sleep(Duration::from_millis(100));
        write!(stream, "{rest}").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
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

/// Seconds for which clients do what they like; `RPU_HOSTILE_SECONDS` sets another number.
fn hostile_time() -> Duration {
    let seconds = std::env::var("RPU_HOSTILE_SECONDS").map_or(3, |text| text.parse().expect("a number"));
    Duration::from_secs(seconds)
}

/// One attempt to occupy the server. Connections stay in `held`, some hundreds of them.
fn annoy(address: &str, random: &mut SplitMix64, held: &mut Vec<TcpStream>) {
    let Ok(mut stream) = TcpStream::connect(address) else { return };
    let _ = stream.set_write_timeout(Some(Duration::from_millis(20)));
    let mut bytes = vec![0; 1 << (random.next_u64() % 16)];
    random.fill_bytes(&mut bytes);
    let whole = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let head = &whole.as_bytes()[..random.next_u64() as usize % whole.len()];
    let parts: [&[u8]; 8] = [
        b"",
        &bytes,
        head,
        whole.as_bytes(),
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: ",
        b"\r\n\r\n",
        b"GET /state HTTP/1.1\nHost: \xff\n\n",
    ];
    for _ in 0..1 + random.next_u64() % 3 {
        let _ = stream.write_all(parts[random.next_u64() as usize % parts.len()]);
    }
    match random.next_u64() % 4 {
        0 => {}
        1 => _ = stream.set_nonblocking(true).and_then(|()| stream.read(&mut bytes)),
        _ => held.push(stream),
    }
    if held.len() > 300 {
        held.drain(..100);
    }
    thread::sleep(Duration::from_millis(random.next_u64() % 8));
}

/// The time until a client has the whole of an answer.
fn patience(address: &str, path: &str) -> Duration {
    let begin = Instant::now();
    loop {
        let answer = TcpStream::connect(address).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).map(|_| answer)
        });
        match answer {
            Ok(answer) if answer.starts_with("HTTP/1.1 200") => return begin.elapsed(),
            // The server may have taken it for one of the others.
            Ok(_) | Err(_) => assert!(begin.elapsed() < Duration::from_secs(1), "{answer:?}"),
        }
    }
}

#[test]
fn clients_that_send_what_they_like_neither_end_the_server_nor_delay_others() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), SWEEP).unwrap();
    succeed(folder.path(), &["sweep", "s.toml", "--out", "d", "--progress", "none"]);
    let mut server = Served::new(folder.path());
    let (address, end) = (server.1.clone(), Instant::now() + hostile_time());
    let attempts = AtomicUsize::new(0);
    let (mut slowest, mut answers) = (Duration::ZERO, 0);
    thread::scope(|scope| {
        for seed in 0..3 {
            let (address, attempts) = (&address, &attempts);
            scope.spawn(move || {
                let (mut random, mut held) = (SplitMix64::seed_from_u64(seed), Vec::new());
                while Instant::now() < end {
                    annoy(address, &mut random, &mut held);
                    attempts.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while Instant::now() < end {
            slowest = slowest.max(patience(&address, ["/", "/state"][answers % 2]));
            answers += 1;
            thread::sleep(Duration::from_millis(50));
        }
    });
    let attempts = attempts.into_inner();
    println!("{attempts} connections of others, {answers} answers, the slowest in {slowest:?}");
    assert!(server.0.try_wait().unwrap().is_none(), "the server ended");
    assert!(attempts > 100 && answers > 5, "{attempts} attempts, {answers} answers");
    assert!(slowest < Duration::from_secs(1), "an answer took {slowest:?}");
}
