//! The command line as scripts and people use it.

mod architecture;
mod book;
mod cluster;
mod common;
mod crosscheck;
mod gate;
mod generated;
mod inspect;
mod library;
#[cfg(target_os = "linux")]
mod limits;
mod machine;
mod pages;
#[cfg(unix)]
mod paths;
mod programs;
mod progress;
mod refuse;
mod ring;
mod schema;
mod show;
mod streams;
mod sweep;
#[cfg(unix)]
mod terminal;
