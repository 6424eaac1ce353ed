//! The debugger's terminal: it draws screens, and reads keys.

use crate::debugger::{App, Key, Session};
use crate::failure::Failure;
use crate::signals;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Shows a session until the user leaves it.
pub(super) fn show(session: Session, title: String) -> Result<(), Failure> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let help = "use `rpu run --dump v0..v7 --at LINE` in a script";
        return Err(Failure::wrong("the debugger needs a terminal", help));
    }
    let stop = signals::watch()?;
    end_with_the_terminal();
    ratatui::run(|terminal| answer(&mut App::new(session, title), terminal, &stop))
        .map_err(|error| Failure::wrong(format_args!("the terminal fails: {error}"), None))?;
    if stop.load(Ordering::Relaxed) { Err(signals::stopped(None)) } else { Ok(()) }
}

/// Exits when the terminal closes even if SIGHUP is ignored; crossterm would busy-loop on the end of the
/// input.
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
fn answer(app: &mut App, terminal: &mut DefaultTerminal, stop: &AtomicBool) -> io::Result<()> {
    // From the first poll on, a change of the terminal's size is an event; without it, one during the first
    // draw is lost.
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
