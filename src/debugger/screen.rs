//! The screen of a session.

mod app;
mod command;
mod draw;

pub use app::{App, Key};
