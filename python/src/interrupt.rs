//! Work that Ctrl-C ends.

use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The longest time until a signal is noticed.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// The result of work in a thread of its own, without the interpreter's lock. A signal ends the wait with the
/// exception of its handler; the thread then goes on, since a simulation cannot stop halfway, and its result
/// is dropped.
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

/// How far some work is, and whether it should end.
#[derive(Default)]
struct Watched {
    done: AtomicUsize,
    all: AtomicUsize,
    is_over: AtomicBool,
}

/// As [`wait`], for work that tells how far it is and ends when it is told to. `progress` is called with both
/// numbers.
pub(crate) fn watch<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(usize, usize) -> ControlFlow<()>) -> T + Send + 'static,
) -> PyResult<T> {
    let watched = Arc::new(Watched::default());
    let (sender, mut receiver) = channel();
    let own = Arc::clone(&watched);
    let thread = std::thread::spawn(move || {
        let result = work(&mut |done, all| {
            own.done.store(done, Ordering::Relaxed);
            own.all.store(all, Ordering::Relaxed);
            match own.is_over.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        drop(sender.send(result));
    });
    let mut told = 0;
    loop {
        let received = &mut receiver;
        match py.detach(move || received.recv_timeout(LOOK)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {
                let [done, all] = [&watched.done, &watched.all].map(|number| number.load(Ordering::Relaxed));
                let mut looked = py.check_signals();
                if let Some(progress) = progress.filter(|_| looked.is_ok() && done != told) {
                    told = done;
                    looked = progress.call1((done, all)).map(drop);
                }
                if let Err(error) = looked {
                    watched.is_over.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a thread without a panic sends its result"),
            },
        }
    }
}
