//! Command failures and their rendering.

use crate::message::{Message, is_json};
use b512_asm::Code;
use diagnostic::{Diagnostic, Diagnostics, printable, render, render_message};
use sim::Override;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

/// The reasons why a command fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command ran, and its result is a failure: status 1.
    Work(String),
    /// The command, a file or a configuration is invalid: status 2.
    Wrong {
        /// The problem.
        message: String,
        /// The fix.
        help: Option<String>,
    },
    /// Files, or options that replace them, are invalid: status 2.
    Input(Diagnostics),
    /// A signal stopped the work; the results so far are in its journal.
    Interrupted {
        /// The exit status, 128 + the number of the signal.
        status: u8,
        /// The signal's name.
        name: &'static str,
        /// The way to go on.
        help: Option<&'static str>,
    },
    /// The reader closed the pipe: not an error.
    BrokenPipe,
}

impl Failure {
    /// Invalid input, with a hint.
    pub(crate) fn wrong(message: impl Display, help: impl Into<Option<&'static str>>) -> Self {
        Self::Wrong { message: message.to_string(), help: help.into().map(str::to_owned) }
    }

    /// The exit status.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Work(_) => 1,
            Self::Wrong { .. } | Self::Input(_) => 2,
            Self::Interrupted { status, .. } => *status,
            Self::BrokenPipe => 0,
        }
    }

    /// Reports the failure, in colour on a terminal.
    pub(crate) fn print(&self) {
        let text = if is_json() { printable(&self.json()).into_owned() } else { self.render(has_colour()) };
        tell(text.trim_end());
    }

    /// The failure as lines of JSON.
    fn json(&self) -> String {
        match self {
            Self::Work(message) => Message::error(message, None).line(),
            Self::Wrong { message, help } => Message::error(message, help.as_deref()).line(),
            Self::Input(errors) => {
                errors.iter().map(|error| Message::from(error).line() + "\n").collect::<String>()
            }
            Self::Interrupted { name, help, .. } => {
                Message::error(&format!("stopped by {name}"), *help).line()
            }
            Self::BrokenPipe => String::new(),
        }
    }

    fn render(&self, colour: bool) -> String {
        match self {
            Self::Work(message) => render_message(message, None, colour),
            Self::Wrong { message, help } => render_message(message, help.as_deref(), colour),
            Self::Input(errors) => render(errors, colour) + &hints(errors),
            Self::Interrupted { name, help, .. } => {
                render_message(&format!("stopped by {name}"), *help, colour)
            }
            Self::BrokenPipe => String::new(),
        }
    }
}

/// Reports a warning.
pub(crate) fn warn(warning: &Diagnostic) {
    if is_json() {
        tell(&printable(&Message::from(warning).line()));
    } else {
        tell(&(warning.render(has_colour()) + "\n"));
    }
}

/// Writes a rendered message to standard error, which may be closed. Its colours are no text of a file.
fn tell(message: &str) {
    let _ = writeln!(io::stderr(), "{}", message);
}

/// Whether messages have colours: on a terminal that shows them, unless the user wants none.
fn has_colour() -> bool {
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    io::stderr().is_terminal() && variable("NO_COLOR").is_empty() && variable("TERM") != "dumb"
}

/// The hints at commands that explain the errors of a program.
fn hints(errors: &Diagnostics) -> String {
    let unknown = errors.iter().any(|error| error.code == Some(Code::UnknownMnemonic.name()));
    let isa = if unknown { "`rpu isa` lists the instructions\n" } else { "" };
    let first = errors.iter().find_map(|error| error.code);
    let explain = first.map_or(String::new(), |code| format!("`rpu explain {code}` explains the error\n"));
    format!("\n{isa}{explain}")
}

impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Self {
        Diagnostics::from(error).into()
    }
}

impl From<Diagnostics> for Failure {
    /// Names overrides by their option.
    fn from(errors: Diagnostics) -> Self {
        Self::Input(errors.map(|error| match &*error.file {
            Override::SOURCE => Diagnostic { file: "-p".into(), ..error },
            _ => error,
        }))
    }
}
