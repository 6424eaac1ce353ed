//! `rpu debug`

use crate::data::{self, NamedFile, named_file};
use crate::failure::Failure;
use crate::numbers::whole;
use crate::program::ProgramArgs;
use crate::run_failure::failure_of;
use crate::signals;
use b512_asm::{Program, Role};
use debugger::{App, Key, Listing, Session, Target};
use lab_run::program::ProgramFile;
use lab_run::{admit, inputs_of};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use sim::Machine;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Coefficients of an input, as for `rpu run`. Other inputs keep the program's initial data, or are drawn
    /// from the seed
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = named_file())]
    inputs: Vec<NamedFile>,
    /// The words that an output should have at the end; other outputs are compared with the program's claims
    #[arg(long = "expect", value_name = "NAME=FILE", value_parser = named_file())]
    expected: Vec<NamedFile>,
    /// Debug a program that `rpu run` refuses, because of its defects or of an instruction that faults
    #[arg(long)]
    lenient: bool,
    /// Seed of random inputs
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let (file, machine) = args.program.load()?;
    let title = format!("{} | {}", file.name(), machine.name);
    if !args.lenient {
        admit(&file.program, &machine).map_err(|error| failure_of(error, &file, &[]))?;
    }
    let mut session = session(&file, &machine, &args.inputs, args.seed)?;
    let expected = expected(&file.program, &mut session, &args.expected)?;
    if !expected.is_empty() {
        session.expect(&expected);
    }
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

/// The words that outputs should have: those of files, else by the claims of the program.
fn expected(
    program: &Program,
    session: &mut Session,
    files: &[NamedFile],
) -> Result<BTreeMap<String, Vec<u128>>, Failure> {
    let mut expected = BTreeMap::new();
    for claim in &program.claims {
        let words = |name: &String| {
            let targets =
                Target::parse(name, program).expect("the assembler has checked the symbols of claims");
            session.value(&targets[0])
        };
        let inputs: Vec<Vec<u128>> = claim.inputs.iter().map(words).collect();
        let inputs: Vec<&[u128]> = inputs.iter().map(Vec::as_slice).collect();
        // Without a result, the claim says nothing about these inputs.
        let results = golden::evaluate(claim, &inputs).unwrap_or_default();
        expected.extend(claim.outputs.iter().cloned().zip(results));
    }
    let mut words = data::read(files)?;
    for file in files {
        let NamedFile { name, .. } = file;
        let symbol = program.symbol(name).filter(|symbol| symbol.role == Role::Output);
        let Some(symbol) = symbol else {
            return Err(Failure::wrong(format_args!("unknown output `{name}`"), None));
        };
        let words = words.remove(name).unwrap_or_default();
        if symbol.words as usize != words.len() {
            file.compare(&vec![0; symbol.words as usize], &words, (&[], 0))?;
        }
        expected.insert(name.clone(), words);
    }
    Ok(expected)
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
