//! The playground: a B512 program, assembled, executed and timed in a web page, without a server.
//!
//! The page gives a text and gets JSON. Both pass through one buffer, whose address WebAssembly's linear
//! memory makes known to the script: [`text`] makes room for a text, [`run`] replaces it by the answer.
//! `cargo run -p rpu-lab-run --example page` writes the page.

mod answer;

use std::sync::{Mutex, MutexGuard, PoisonError};

static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn buffer() -> MutexGuard<'static, Vec<u8>> {
    BUFFER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a text of `bytes` bytes, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn text(bytes: usize) -> *mut u8 {
    let mut buffer = buffer();
    buffer.clear();
    buffer.resize(bytes, 0);
    buffer.as_mut_ptr()
}

/// Replaces the text by the answer for the first `instructions` instructions, and returns its length.
#[unsafe(no_mangle)]
pub extern "C" fn run(instructions: usize) -> usize {
    let mut buffer = buffer();
    let answer = answer::answer(&String::from_utf8_lossy(&buffer), instructions);
    *buffer = answer.to_string().into_bytes();
    buffer.len()
}

/// The address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_address() -> *const u8 {
    buffer().as_ptr()
}
