//! `rpu serve`
//!
//! The server answers two paths and reads no body, so it is a loop over connections and no library: `tiny_http` ends on a
//! length that it cannot allocate, and asynchronous servers are many times as large as the program.

use crate::failure::Failure;
use crate::signals;
use lab_sweep::outputs::Outputs;
use lab_sweep::{JournalError, Results, is_sweep, journal_state};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of a sweep or of an exploration, which may still be running
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Port on the loopback interface; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 8512)]
    port: u16,
}

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// The most connections at a time. Others wait.
const MAX_CONNECTIONS: usize = 16;
/// The time that a client has for its request, and for the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The bytes of an answer that are sent at a time.
const PART: usize = 64 << 10;
/// The time between looks at signals and connections.
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if !is_sweep(&args.folder) {
        return Err(JournalError::NoSweep { folder: args.folder.clone() }.into());
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?, listener))
    });
    let (address, listener) = listener.map_err(|error| {
        Failure::wrong(format_args!("cannot listen on {address}: {error}"), "choose another --port, or 0")
    })?;
    let stopped = signals::watch()?;
    note!("http://{address} shows {}; Ctrl-C ends it", diagnostic::path(&args.folder));
    let (folder, open) = (Arc::new(args.folder.clone()), Arc::new(AtomicUsize::new(0)));
    while !stopped.load(Ordering::Relaxed) {
        let has_room = open.load(Ordering::Relaxed) < MAX_CONNECTIONS;
        let Some((stream, _)) = has_room.then(|| listener.accept().ok()).flatten() else {
            std::thread::sleep(PAUSE);
            continue;
        };
        open.fetch_add(1, Ordering::Relaxed);
        let (folder, open) = (Arc::clone(&folder), Arc::clone(&open));
        std::thread::spawn(move || {
            // A client that leaves, or sends no request, is its own concern.
            let _ = answer(&folder, &stream);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
    Ok(())
}

/// Answers one request, and closes the connection. Each answer builds the page from the journals as they are.
fn answer(folder: &Path, mut stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let head = receive(stream, |bytes| bytes.windows(4).any(|end| end == b"\r\n\r\n"));
    let head = String::from_utf8_lossy(&head);
    let (first, fields) = head.split_once("\r\n").unwrap_or_default();
    let mut fields = fields.lines().filter_map(|line| line.split_once(':'));
    let host = fields.find(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, host)| host.trim());
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, kind, body) = match (method, path) {
        // A page elsewhere could give its own name to this computer's address, and read the answer.
        _ if !host.is_some_and(is_this_computer) => {
            ("403 Forbidden", "text/plain", "the host must be localhost or 127.0.0.1\n".to_owned())
        }
        ("GET" | "HEAD", "/") => match page(folder) {
            Ok(page) => ("200 OK", "text/html; charset=utf-8", page),
            Err(error) => ("500 Internal Server Error", "text/plain; charset=utf-8", error),
        },
        ("GET" | "HEAD", "/state") => ("200 OK", "text/plain", journal_state(folder).to_string()),
        _ => ("404 Not Found", "text/plain", "not found\n".to_owned()),
    };
    // The page has its script and its style within itself, and asks for nothing but its own state.
    let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                  connect-src 'self'";
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nContent-Security-Policy: {policy}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let body = if method == "HEAD" { "" } else { &*body };
    let end = Instant::now() + PATIENCE;
    for part in head.as_bytes().chunks(PART).chain(body.as_bytes().chunks(PART)) {
        stream.set_write_timeout(Some(left(end)?))?;
        stream.write_all(part)?;
    }
    stream.shutdown(Shutdown::Write)?;
    // A body that nobody reads would reset the connection before the client has the answer.
    receive(stream, |_| false);
    Ok(())
}

/// What a client sends until it is `complete`, the client ends it, or its length or its time is over.
fn receive(mut stream: &TcpStream, complete: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let (end, mut received, mut part) = (Instant::now() + PATIENCE, Vec::new(), [0; 1024]);
    while received.len() < MAX_HEAD && !complete(&received) {
        let read = left(end).and_then(|left| {
            stream.set_read_timeout(Some(left))?;
            stream.read(&mut part)
        });
        match read {
            Ok(read) if read > 0 => received.extend_from_slice(&part[..read]),
            Ok(_) | Err(_) => break,
        }
    }
    received
}

/// The time until `end`, or an error after it.
fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Whether a host, which may have a port, is this computer.
fn is_this_computer(host: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1"
}

fn page(folder: &Path) -> Result<String, String> {
    // Before the records, so that a later record changes it.
    let state = journal_state(folder).to_string();
    let results = Results::merge(&[folder]).map_err(|error| error.to_string())?;
    Outputs::new(&results).live_page(&state).map_err(|error| error.to_string())
}
