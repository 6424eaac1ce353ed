//! `rpu`: the command line, with the built-in programs.

use std::process::ExitCode;

fn main() -> ExitCode {
    rpu::run(&[])
}
