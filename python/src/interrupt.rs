//! Work that Ctrl-C ends.

use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The longest time until a signal is noticed.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// The result of work in a thread of its own, without the interpreter's lock. A signal ends the wait with the exception of its
/// handler; the thread then goes on, since a simulation cannot stop halfway, and its result is dropped.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let thread = std::thread::spawn(move || drop(sender.send(work())));
    loop {
        let received = &mut receiver;
        match py.detach(move || received.recv_timeout(LOOK)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a thread without a panic sends its result"),
            },
        }
    }
}
