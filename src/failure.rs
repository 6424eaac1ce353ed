//! What ends a command early, and how it is told.

use crate::diagnostics;
use annotate_snippets::{Group, Level, Renderer};
use b512_asm::Diagnostics;
use sim::ConfigError;
use std::fmt::Display;
use std::io::{self, IsTerminal};

/// Why a command ends without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command could be carried out, and its result is a failure: status 1.
    Work(String),
    /// The command, a file or a configuration is wrong: status 2.
    Wrong {
        /// What is wrong.
        message: String,
        /// What would be right.
        help: Option<String>,
    },
    /// A machine, technology or sweep file is wrong, or an option that stands for one: status 2.
    Config(ConfigError),
    /// An assembly text is wrong: status 2.
    Source {
        /// The file's name.
        file: String,
        /// Its text.
        text: String,
        /// The errors.
        diagnostics: Diagnostics,
    },
    /// Whoever read the output has had enough: not an error.
    BrokenPipe,
}

impl Failure {
    /// Something wrong, with what would be right.
    pub(crate) fn wrong(message: impl Display, help: impl Into<Option<&'static str>>) -> Self {
        Self::Wrong { message: message.to_string(), help: help.into().map(str::to_owned) }
    }

    /// The exit status.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Work(_) => 1,
            Self::Wrong { .. } | Self::Config(_) | Self::Source { .. } => 2,
            Self::BrokenPipe => 0,
        }
    }

    /// Tells the user, in colour on a terminal.
    pub(crate) fn print(&self) {
        let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        eprintln!("{}", self.render(colour).trim_end());
    }

    fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let bare = |message: &str, help: Option<&str>| {
            let group = Group::with_title(Level::ERROR.primary_title(message));
            renderer.render(&[match help {
                Some(help) => group.element(Level::HELP.message(help)),
                None => group,
            }])
        };
        match self {
            Self::Work(message) => bare(message, None),
            Self::Wrong { message, help } => bare(message, help.as_deref()),
            Self::Config(ConfigError { file, text, span: Some(span), message, help }) => {
                let title = Level::ERROR.primary_title(message.as_str());
                renderer.render(&[diagnostics::place(title, file, text, span, help.as_deref())])
            }
            Self::Config(ConfigError { file, message, help, .. }) => {
                bare(&format!("{file}: {message}"), help.as_deref())
            }
            Self::Source { file, text, diagnostics } => diagnostics::render(file, text, diagnostics, colour),
            Self::BrokenPipe => String::new(),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}
