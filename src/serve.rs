//! `rpu serve`

use crate::failure::Failure;
use crate::files;
use crate::numbers::whole;
use crate::signals;
use lab_sweep::Server;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of a sweep or of an exploration, which may still be running
    #[arg(value_name = "DIR", value_parser = files::folder())]
    folder: PathBuf,
    /// Port on the loopback interface; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 8512, value_parser = whole::<u16>)]
    port: u16,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let server = Arc::new(Server::new(&args.folder)?);
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
    server.run(&listener, &stopped);
    Ok(())
}
