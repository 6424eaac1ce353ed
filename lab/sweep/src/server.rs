//! The server of a sweep's page, on the loopback interface.
//!
//! It answers two paths and reads no body. A loop over connections suffices, without a library: `tiny_http` ends on a
//! length that it cannot allocate, and asynchronous servers are many times as large as the program.

use crate::journal::{JournalError, is_sweep, journal_state};
use crate::outputs::Outputs;
use crate::results::Results;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// The most connections at a time. A new one ends the oldest that has not sent its request, or else the oldest.
const MAX_CONNECTIONS: usize = 64;
/// The time that a connection has before a new one may end it.
const GRACE: Duration = Duration::from_millis(50);
/// The time that a client has for its request, and for the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The bytes of an answer that are sent at a time.
const PART: usize = 64 << 10;
/// The time between looks at signals and connections.
const PAUSE: Duration = Duration::from_millis(20);

/// A folder, its page and the clients that are connected.
#[derive(Default)]
pub struct Server {
    folder: PathBuf,
    /// The last page with the state of the journals that it shows.
    page: Mutex<Option<(String, Arc<str>)>>,
    /// Held while a page is built.
    building: Mutex<()>,
    /// The oldest first.
    connections: Mutex<Vec<Arc<Connection>>>,
}

struct Connection {
    stream: TcpStream,
    begin: Instant,
    /// Whether the request is there and its answer is not yet sent.
    is_answering: AtomicBool,
}

/// An answer to a request.
pub struct Answer {
    /// The status, the fields, and the empty line after them.
    pub head: String,
    /// The body; empty if only the head was asked for.
    pub body: Arc<str>,
}

impl Server {
    /// A server of the page of a folder.
    ///
    /// # Errors
    /// Returns an error if the folder holds no sweep.
    pub fn new(folder: &Path) -> Result<Self, JournalError> {
        if is_sweep(folder) {
            Ok(Self { folder: folder.to_owned(), ..Self::default() })
        } else {
            Err(JournalError::NoSweep { folder: folder.to_owned() })
        }
    }

    /// Answers clients of a listener that does not block, until `stopped` is set.
    pub fn run(self: &Arc<Self>, listener: &TcpListener, stopped: &AtomicBool) {
        let is_stopped = || stopped.load(Ordering::Relaxed);
        while !is_stopped() {
            let Ok((stream, _)) = listener.accept() else {
                std::thread::sleep(PAUSE);
                continue;
            };
            while !self.make_room() && !is_stopped() {
                std::thread::sleep(PAUSE);
            }
            // Without a thread for it, the client is told so by the end of its connection.
            let _ = self.start(stream);
        }
    }

    /// The answer to the head of a request, whatever its bytes are.
    pub fn answer(&self, head: &[u8]) -> Answer {
        let head = String::from_utf8_lossy(head);
        let (first, fields) = head.split_once("\r\n").unwrap_or_default();
        let mut fields = fields.lines().filter_map(|line| line.split_once(':'));
        let host = fields.find(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, host)| host.trim());
        let mut words = first.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (status, kind, body) = match (method, path) {
            // A page elsewhere could give its own name to this computer's address, and read the answer.
            _ if !host.is_some_and(is_this_computer) => {
                ("403 Forbidden", "text/plain", "the host must be localhost or 127.0.0.1\n".into())
            }
            ("GET" | "HEAD", "/") => match self.page() {
                Ok(page) => ("200 OK", "text/html; charset=utf-8", page),
                Err(error) => ("500 Internal Server Error", "text/plain; charset=utf-8", error.into()),
            },
            ("GET" | "HEAD", "/state") => {
                ("200 OK", "text/plain", journal_state(&self.folder).to_string().into())
            }
            _ => ("404 Not Found", "text/plain", "not found\n".into()),
        };
        // The page has its script and its style within itself, and asks for nothing but its own state.
        let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      connect-src 'self'";
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nContent-Security-Policy: {policy}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        Answer { head, body: if method == "HEAD" { "".into() } else { body } }
    }

    /// Whether there is room for a connection, perhaps an old one's, which ends.
    fn make_room(&self) -> bool {
        let mut connections = lock(&self.connections);
        if connections.len() < MAX_CONNECTIONS {
            return true;
        }
        let states = connections
            .iter()
            .map(|connection| (connection.begin.elapsed(), connection.is_answering.load(Ordering::Relaxed)));
        let Some(oldest) = dispensable(&states.collect::<Vec<_>>()) else { return false };
        // Its thread then ends by itself.
        let _ = connections.remove(oldest).stream.shutdown(Shutdown::Both);
        true
    }

    /// Answers a client in a thread of its own.
    fn start(self: &Arc<Self>, stream: TcpStream) -> io::Result<()> {
        let is_answering = AtomicBool::new(false);
        let connection = Arc::new(Connection { stream, begin: Instant::now(), is_answering });
        lock(&self.connections).push(Arc::clone(&connection));
        let (server, own) = (Arc::clone(self), Arc::clone(&connection));
        let thread = std::thread::Builder::new().spawn(move || {
            // A client that leaves, or sends no request, is its own concern.
            let _ = serve(&server, &own);
            server.remove(&own);
        });
        thread.map(drop).inspect_err(|_| self.remove(&connection))
    }

    fn remove(&self, connection: &Arc<Connection>) {
        lock(&self.connections).retain(|other| !Arc::ptr_eq(other, connection));
    }

    /// The page of the journals. One is built at a time: until it is there, other clients get the last one, whose script asks
    /// again.
    fn page(&self) -> Result<Arc<str>, String> {
        let state = journal_state(&self.folder).to_string();
        let known = || lock(&self.page).clone();
        let is_fresh = |(of, _): &(String, Arc<str>)| *of == state;
        if let Some((_, page)) = known().filter(is_fresh) {
            return Ok(page);
        }
        let building = self.building.try_lock();
        let _building = match (building, known()) {
            (Ok(building), _) => building,
            (Err(_), Some((_, page))) => return Ok(page),
            (Err(_), None) => lock(&self.building),
        };
        if let Some((_, page)) = known().filter(is_fresh) {
            return Ok(page);
        }
        let page: Arc<str> = page(&self.folder, &state)?.into();
        *lock(&self.page) = Some((state, Arc::clone(&page)));
        Ok(page)
    }
}

/// The connection that ends for a new one, by its age and whether it is being answered: the oldest that is not, else the oldest.
/// Each has its [`GRACE`].
fn dispensable(connections: &[(Duration, bool)]) -> Option<usize> {
    let is_old = |(age, _): &(Duration, bool)| *age > GRACE;
    let idle = connections.iter().position(|connection| is_old(connection) && !connection.1);
    idle.or_else(|| connections.iter().position(is_old))
}

/// What a mutex holds, also after a panic of another thread.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers one request, and closes the connection.
fn serve(server: &Server, connection: &Connection) -> io::Result<()> {
    let mut stream = &connection.stream;
    stream.set_nonblocking(false)?;
    let head = receive(stream, |bytes| bytes.windows(4).any(|end| end == b"\r\n\r\n"));
    connection.is_answering.store(true, Ordering::Relaxed);
    let Answer { head, body } = server.answer(&head);
    let end = Instant::now() + PATIENCE;
    for part in head.as_bytes().chunks(PART).chain(body.as_bytes().chunks(PART)) {
        stream.set_write_timeout(Some(left(end)?))?;
        stream.write_all(part)?;
    }
    stream.shutdown(Shutdown::Write)?;
    connection.is_answering.store(false, Ordering::Relaxed);
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

/// The page of the journals, whose `state` was taken before they are read, so that a later record changes it.
fn page(folder: &Path, state: &str) -> Result<String, String> {
    let results = Results::merge(&[folder]).map_err(|error| error.to_string())?;
    Outputs::new(&results).live_page(state).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_connection_that_is_not_answered_ends_first() {
        let (new, old) = (GRACE, GRACE + Duration::from_millis(1));
        for (connections, expected) in [
            (&[(new, false), (new, true)][..], None),
            (&[(old, true), (old, true), (new, false)], Some(0)),
            (&[(old, true), (old, false), (old, false)], Some(1)),
            (&[(new, false), (old, true)], Some(1)),
            (&[], None),
        ] {
            assert_eq!(dispensable(connections), expected, "{connections:?}");
        }
    }
}
