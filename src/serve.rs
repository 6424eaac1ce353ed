//! `rpu serve`

use crate::failure::Failure;
use crate::signals;
use lab_sweep::outputs::Outputs;
use lab_sweep::{JournalError, Results, is_sweep, journal_state};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tiny_http::{Header, Method, Request, Response, Server};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of a sweep or of an exploration, which may still be running
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Port on the loopback interface; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 8512)]
    port: u16,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if !is_sweep(&args.folder) {
        return Err(JournalError::NoSweep { folder: args.folder.clone() }.into());
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let server = Server::http(address).map_err(|error| {
        Failure::wrong(format_args!("cannot listen on {address}: {error}"), "choose another --port, or 0")
    })?;
    let stopped = signals::watch()?;
    note!("http://{} shows {}; Ctrl-C ends it", server.server_addr(), args.folder.display());
    while !stopped.load(Ordering::Relaxed) {
        // A request that cannot be read is the browser's concern.
        if let Ok(Some(request)) = server.recv_timeout(Duration::from_millis(200)) {
            answer(&args.folder, request);
        }
    }
    Ok(())
}

/// Answers a request. Each answer builds the page from the journals as they are.
fn answer(folder: &Path, request: Request) {
    let (status, kind, body) = match (request.method(), request.url()) {
        // A page elsewhere could give its own name to this computer's address, and read the answer.
        _ if !is_for_this_computer(&request) => {
            (403, "text/plain", "the host must be localhost or 127.0.0.1\n".to_owned())
        }
        (Method::Get | Method::Head, "/") => match page(folder) {
            Ok(page) => (200, "text/html; charset=utf-8", page),
            Err(error) => (500, "text/plain; charset=utf-8", error),
        },
        (Method::Get | Method::Head, "/state") => (200, "text/plain", journal_state(folder).to_string()),
        _ => (404, "text/plain", "not found\n".to_owned()),
    };
    let header = |name: &str, value: &str| {
        Header::from_bytes(name.as_bytes(), value.as_bytes()).expect("the header is ASCII")
    };
    let response = Response::from_string(body)
        .with_status_code(status)
        .with_header(header("Content-Type", kind))
        .with_header(header("Cache-Control", "no-store"));
    // The browser may have left.
    let _ = request.respond(response);
}

/// Whether a request names this computer as its host.
fn is_for_this_computer(request: &Request) -> bool {
    let host = request.headers().iter().find(|header| header.field.equiv("Host"));
    host.is_some_and(|host| {
        let host = host.value.as_str();
        let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
        name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1"
    })
}

fn page(folder: &Path) -> Result<String, String> {
    // Before the records, so that a later record changes it.
    let state = journal_state(folder).to_string();
    let results = Results::merge(&[folder]).map_err(|error| error.to_string())?;
    Outputs::new(&results).live_page(&state).map_err(|error| error.to_string())
}
