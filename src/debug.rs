//! `rpu debug`

use crate::data::{self, NamedFile, named_file};
use crate::failure::Failure;
use crate::program::ProgramArgs;
use crate::run_failure::failure_of;
use crate::signals;
use debugger::{App, Key, Listing, Session};
use lab_run::inputs_of;
use lab_run::program::ProgramFile;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use sim::Machine;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Coefficients of an input, as for `rpu run`. Other inputs keep the program's initial data, or are drawn
    /// from the seed
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = named_file)]
    inputs: Vec<NamedFile>,
    /// Seed of random inputs
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let (file, machine) = args.program.load()?;
    let title = format!("{} | {}", file.name(), machine.name);
    let session = session(&file, &machine, &args.inputs, args.seed)?;
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let help = "use `rpu run --dump v0..v7 --at LINE` in a script";
        return Err(Failure::wrong("the debugger needs a terminal", help));
    }
    let stop = signals::watch()?;
    end_with_the_terminal();
    ratatui::run(|terminal| show(&mut App::new(session, title), terminal, &stop))
        .map_err(|error| Failure::wrong(format_args!("the terminal fails: {error}"), None))?;
    if stop.load(Ordering::Relaxed) { Err(signals::stopped(None)) } else { Ok(()) }
}

/// A session of a program with data for its inputs.
pub(crate) fn session(
    file: &ProgramFile,
    machine: &Machine,
    inputs: &[NamedFile],
    seed: u64,
) -> Result<Session, Failure> {
    let given = data::read(inputs)?;
    let words =
        inputs_of(&file.program, machine, &given, seed).map_err(|error| failure_of(error, file, inputs))?;
    let source = Listing::new(file.program.clone(), file.lines());
    Session::new(source, machine, words).map_err(|error| Failure::wrong(error, None))
}

/// Exits when the terminal closes even if SIGHUP is ignored; crossterm would busy-loop on the end of the input.
fn end_with_the_terminal() {
    #[cfg(unix)]
    std::thread::spawn(|| {
        use rustix::event::{PollFd, PollFlags, poll};
        let stdin = io::stdin();
        // Without events to wait for, only the end of the terminal is reported.
        while poll(&mut [PollFd::new(&stdin, PollFlags::empty())], None).is_err() {}
        std::process::exit(1);
    });
}

/// The longest time until a signal is noticed.
const WAIT: Duration = Duration::from_millis(200);

/// Draws the screen and reads keys until the user leaves or a signal arrives.
fn show(app: &mut App, terminal: &mut DefaultTerminal, stop: &AtomicBool) -> io::Result<()> {
    // From the first poll on, a change of the terminal's size is an event; without it, one during the first draw is lost.
    event::poll(Duration::ZERO)?;
    let mut has_changed = true;
    while !app.is_done() && !stop.load(Ordering::Relaxed) {
        if has_changed {
            terminal.draw(|frame| app.draw(frame))?;
        }
        has_changed = event::poll(WAIT)?;
        if !has_changed {
            continue;
        }
        let Event::Key(pressed) = event::read()? else { continue };
        if pressed.kind == KeyEventKind::Release {
            continue;
        }
        if pressed.code == KeyCode::Char('c') && pressed.modifiers.contains(KeyModifiers::CONTROL) {
            break;
        }
        if let Some(key) = key(pressed.code) {
            app.key(key);
        }
    }
    Ok(())
}

fn key(code: KeyCode) -> Option<Key> {
    match code {
        KeyCode::Char(character) => Some(Key::Char(character)),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Escape),
        KeyCode::Backspace => Some(Key::Backspace),
        KeyCode::Tab => Some(Key::Tab),
        KeyCode::Up => Some(Key::Up),
        KeyCode::Down => Some(Key::Down),
        KeyCode::Left => Some(Key::Left),
        KeyCode::Right => Some(Key::Right),
        KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::PageDown => Some(Key::PageDown),
        _ => None,
    }
}
