//! The server of a sweep's page, as its clients see it.

use lab_sweep::Server;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 64;
/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// Longer than a new connection is safe from others, shorter than a client has for its request.
const WAIT: Duration = Duration::from_secs(5);

/// Ends a server with its test, also after a failure.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn connections_have_a_limit_and_end_with_their_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let (server, stopped) = (Arc::new(Server::default()), AtomicBool::new(false));
    let connect = || TcpStream::connect(address).unwrap();
    // Each connection has a thread with a share of the server.
    let held = || Arc::strong_count(&server) - 1;
    let until = |expected: usize| {
        let begin = Instant::now();
        while held() != expected {
            assert!(begin.elapsed() < WAIT, "{} connections, not {expected}", held());
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    std::thread::scope(|scope| {
        let _stop = Stop(&stopped);
        scope.spawn(|| server.run(&listener, &stopped));
        let first = connect();
        until(1);
        for _ in 0..MAX_CONNECTIONS {
            let mut stream = connect();
            write!(stream, "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
        }
        // A head has a length after which nothing more is read.
        let mut long = connect();
        long.write_all(&[b'x'; MAX_HEAD]).unwrap();
        long.set_read_timeout(Some(WAIT)).unwrap();
        let mut answer = String::new();
        long.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
        drop(long);
        // Those that were answered are gone; the first is there.
        until(1);
        let others: Vec<TcpStream> = (1..MAX_CONNECTIONS + 20).map(|_| connect()).collect();
        let mut end = [0];
        first.set_read_timeout(Some(WAIT)).unwrap();
        assert_eq!((&first).read(&mut end).unwrap(), 0, "the oldest ends for others");
        std::thread::sleep(Duration::from_millis(200));
        until(MAX_CONNECTIONS);
        drop(others);
        until(0);
    });
}
