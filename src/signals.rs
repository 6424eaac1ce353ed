//! Signals that end long work.
//!
//! After SIGINT or SIGTERM, the work ends with the points in progress. A second signal ends the process at
//! once.

use crate::failure::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The signals that have arrived.
struct Watch {
    stop: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Catches the signals from now on. The flag is set when one arrives.
pub(crate) fn watch() -> Result<Arc<AtomicBool>, Failure> {
    if let Some(watch) = WATCH.get() {
        return Ok(Arc::clone(&watch.stop));
    }
    let watch = new().map_err(|error| Failure::wrong(format_args!("cannot catch signals: {error}"), None))?;
    Ok(Arc::clone(&WATCH.get_or_init(|| watch).stop))
}

fn new() -> io::Result<Watch> {
    let watch = Watch { stop: Arc::default(), signal: Arc::default() };
    for signal in [SIGINT, SIGTERM] {
        // In this order, so that only a second signal finds the flag set.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&watch.stop))?;
        flag::register_usize(signal, Arc::clone(&watch.signal), signal as usize)?;
        flag::register(signal, Arc::clone(&watch.stop))?;
    }
    Ok(watch)
}

/// The failure of work with a journal that a signal has stopped.
pub(crate) fn interrupted() -> Failure {
    stopped(Some("the same command continues; all results so far are in the journal"))
}

/// The failure of a command that a signal has stopped.
pub(crate) fn stopped(help: Option<&'static str>) -> Failure {
    let number = WATCH.get().map_or(0, |watch| watch.signal.load(Ordering::Relaxed));
    let signal = i32::try_from(number).unwrap_or(SIGINT);
    let name = if signal == SIGTERM { "SIGTERM" } else { "SIGINT" };
    Failure::Interrupted { status: 128 + signal as u8, name, help }
}
