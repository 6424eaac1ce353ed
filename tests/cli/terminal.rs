//! `rpu debug` in a terminal: a pseudo-terminal that a test types into, resizes and closes.

use crate::common::{command, process, succeed};
use pty_process::Size;
use pty_process::blocking::{Command, Pts, Pty, open};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::termios::{LocalModes, tcgetattr};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};
use vt100::Parser;

const PROGRAM: &str = ".kernel sums\n.input x, 512\n.output y, 512\n.modulus m1, 0x3001\n\n\
    vload v0, a0, x\nvadd v1, v0, v0, m1\nvadd v2, v1, v0, m1\nvstore v2, a0, y\nhalt\n";

/// The longest wait for an effect. A busy machine takes seconds to start a program.
const PATIENCE: Duration = Duration::from_secs(60);

/// The debugger wakes every 200 ms.
const SILENCE: Duration = Duration::from_millis(450);

/// The debugger's first message.
const MESSAGE: &str = "? explains the keys";

/// The command that debugs a small program.
fn debugger(folder: &Path) -> std::process::Command {
    std::fs::write(folder.join("sums.b512"), PROGRAM).unwrap();
    let mut debugger = command(folder);
    debugger.args(["debug", "sums.b512"]);
    debugger
}

fn length(cells: u16) -> NonZeroU16 {
    NonZeroU16::new(cells).expect("a terminal has cells")
}

/// A terminal with a debugger.
struct Terminal {
    /// The terminal's side, and the program's; `None` after it was closed.
    sides: Option<(Pty, Pts)>,
    child: Child,
    /// What a person would see.
    screen: Parser,
    /// All that was written.
    written: Vec<u8>,
}

impl Terminal {
    /// Starts the debugger of a small program, and waits for its first screen.
    fn debug(folder: &Path) -> Self {
        let mut terminal = Self::start(debugger(folder), 30, 110);
        terminal.wait_for_text(MESSAGE);
        terminal
    }

    /// Starts a debugger in a terminal of some rows and columns that shows `$ ` before it.
    fn start(command: std::process::Command, rows: u16, columns: u16) -> Self {
        let (pty, pts) = open().expect("a pseudo-terminal");
        let mut screen = Parser::new(length(rows), length(columns), 0);
        screen.process(b"$ ");
        fcntl_setfl(&pty, fcntl_getfl(&pty).expect("flags") | OFlags::NONBLOCK)
            .expect("reads that do not wait");
        pty.resize(Size::new(rows, columns)).expect("a size");
        let child = Command::from(command).spawn_borrowed(&pts).expect("the debugger starts");
        Self { sides: Some((pty, pts)), child, screen, written: Vec::new() }
    }

    fn pty(&self) -> &Pty {
        &self.sides.as_ref().expect("the terminal is open").0
    }

    fn modes(&self) -> LocalModes {
        let (_, pts) = self.sides.as_ref().expect("the terminal is open");
        tcgetattr(pts).expect("the modes of the terminal").local_modes
    }

    /// Types.
    fn keys(&self, keys: &str) {
        self.pty().write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Shows what the debugger has written.
    fn show(&mut self) {
        let mut bytes = [0; 4096];
        while let Some((pty, _)) = &self.sides {
            match { pty }.read(&mut bytes) {
                Ok(number @ 1..) => {
                    self.screen.process(&bytes[..number]);
                    self.written.extend_from_slice(&bytes[..number]);
                }
                _ => break,
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }

    /// Waits until the screen fulfils a condition.
    #[track_caller]
    fn wait_for(&mut self, what: &str, condition: impl Fn(&vt100::Screen) -> bool) {
        let start = Instant::now();
        while !condition(self.screen.screen()) {
            let text = self.screen.screen().contents();
            assert!(start.elapsed() < PATIENCE, "the screen never shows {what}:\n{text}");
            self.show();
        }
    }

    /// Waits for a time in which the debugger wakes twice and writes nothing.
    #[track_caller]
    fn wait_for_silence(&mut self) {
        let start = Instant::now();
        let mut last = start;
        while last.elapsed() < SILENCE {
            assert!(start.elapsed() < PATIENCE, "the debugger draws without a reason");
            let written = { self.pty() }.read(&mut [0; 4096]);
            if written.is_ok_and(|number| number > 0) {
                last = Instant::now();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[track_caller]
    fn wait_for_text(&mut self, text: &str) {
        self.wait_for(text, |screen| screen.contents().contains(text));
    }

    /// Waits until the debugger ends.
    #[track_caller]
    fn wait_for_end(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("the state of the debugger") {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "the debugger does not end");
            self.show();
        }
    }

    /// Checks that the terminal is as it was before the debugger.
    #[track_caller]
    fn check_restored(&mut self) {
        self.wait_for("the text from before the debugger", |screen| {
            screen.contents().starts_with('$') && !screen.alternate_screen() && !screen.hide_cursor()
        });
        let modes = self.modes();
        assert!(modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG), "{modes:?}");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // After a failed assertion.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn keys_move_through_the_program_and_quitting_restores_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::debug(folder.path());
    terminal.wait_for_text("sums.b512");
    let modes = terminal.modes();
    assert!(!modes.intersects(LocalModes::ECHO | LocalModes::ICANON), "keys arrive one by one: {modes:?}");
    terminal.keys("c");
    terminal.wait_for_text("the end of the program");
    terminal.keys("<");
    terminal.wait_for("the beginning", |screen| !screen.contents().contains("the end of the program"));
    terminal.keys(":watch v1\rc");
    terminal.wait_for_text("has changed v1");
    // Arrows are sequences of bytes.
    terminal.keys("?");
    terminal.wait_for_text("execute an instruction");
    terminal.keys("\x1b[D");
    terminal.wait_for("the program again", |screen| !screen.contents().contains("execute an instruction"));
    terminal.keys("q");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.check_restored();
}

/// Keys that have no character arrive as such.
#[test]
fn each_key_has_its_effect() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::debug(folder.path());
    // Backspace takes a character back, escape the whole command.
    terminal.keys(":watch v2\x7f1\rc");
    terminal.wait_for_text("has changed v1");
    terminal.keys("<:goto 3");
    terminal.wait_for_text("goto 3");
    terminal.keys("\x1b");
    terminal.wait_for("no command", |screen| !screen.contents().contains("goto"));
    // An arrow or a page moves the cursor, where `b` sets a breakpoint; lanes are chosen from the left.
    for (keys, place) in
        [("\x1b[B", "line 7"), ("\x1b[A", "line 6"), ("\x1b[6~", "line 10"), ("\x1b[5~", "line 6")]
    {
        terminal.keys(&format!("{keys}b"));
        terminal.wait_for_text(&format!("breakpoint at {place}"));
    }
    let lane = |screen: &vt100::Screen| screen.contents().contains("lanes from 1 on");
    assert!(!lane(terminal.screen.screen()));
    terminal.keys("\x1b[C");
    terminal.wait_for("lane 1", lane);
    terminal.keys("\x1b[D");
    terminal.wait_for("lane 0", |screen| !lane(screen));
    // In the panel of registers, the cursor of the program stays.
    terminal.keys("\t\x1b[Bb");
    terminal.wait_for_text("new breakpoint at line 6");
}

/// Outputs are compared with the words of files, else with the program's claims.
#[test]
fn the_first_wrong_coefficient_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let list = |word: fn(u32) -> u32| format!("{:?}", (0..512).map(word).collect::<Vec<_>>());
    for (name, words) in
        [("x", list(|i| i)), ("right", list(|i| 3 * i)), ("wrong", list(|i| 3 * i + i / 511))]
    {
        std::fs::write(folder.path().join(format!("{name}.json")), words).unwrap();
    }
    let claim = |by: &str| format!(".computes y = muls(x), n=512, modulus=0x3001, by={by}\n");
    for (claim, file, message) in [
        (claim("2"), None, "the first wrong coefficient: y+1 is 0x3 and should be 0x2"),
        (claim("3"), None, "every coefficient that was compared is right"),
        (claim("2"), Some("y=right.json"), "every coefficient that was compared is right"),
        (
            String::new(),
            Some("y=wrong.json"),
            "the first wrong coefficient: y+511 is 0x5fd and should be 0x5fe",
        ),
        (String::new(), None, "there is nothing to compare with"),
    ] {
        let mut command = debugger(folder.path());
        std::fs::write(folder.path().join("sums.b512"), PROGRAM.replacen("\n\n", &format!("\n{claim}\n"), 1))
            .unwrap();
        command
            .args(["--lenient", "--input", "x=x.json"])
            .args(file.iter().flat_map(|file| ["--expect", file]));
        let mut terminal = Terminal::start(command, 30, 110);
        terminal.wait_for_text(MESSAGE);
        terminal.keys(":check\r");
        terminal.wait_for_text(message);
    }
}

/// A bar shows one decimal of a rate below 10, and none of others.
#[test]
fn bars_show_rates_that_people_read() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "kernel = 'add'\nn = 1024\nplan = 'kl'\n[grid]\nhple.count = [16, 32, 64, 128]\n";
    std::fs::write(folder.path().join("s.toml"), sweep).unwrap();
    let mut command = command(folder.path());
    command.args(["sweep", "s.toml", "-j", "1"]);
    let mut terminal = Terminal::start(command, 30, 110);
    terminal.wait_for_text("wrote out/pareto.png");
    let written = String::from_utf8_lossy(&terminal.written);
    let rates: Vec<&str> = written.split_whitespace().filter_map(|word| word.strip_suffix("/s,")).collect();
    assert!(!rates.is_empty(), "{written}");
    for rate in rates {
        assert_eq!(rate.contains('.'), rate.parse::<f64>().expect("a number") < 10.0, "{rate}");
    }
}

/// Errors have colours on a terminal, unless the user does not want them.
#[test]
fn colours_are_for_terminals() {
    let folder = tempfile::tempdir().unwrap();
    for (wish, coloured) in [(None, true), (Some(""), true), (Some("1"), false)] {
        let mut command = command(folder.path());
        command.args(["explain", "B999"]);
        wish.map(|wish| command.env("NO_COLOR", wish));
        let mut terminal = Terminal::start(command, 30, 110);
        terminal.wait_for_text("unknown code `B999`");
        let default = vt100::Color::Default;
        let is_coloured = (0..110).any(|column| {
            (0..30).any(|row| {
                terminal.screen.screen().cell(row, column).is_some_and(|cell| cell.fgcolor() != default)
            })
        });
        assert_eq!(is_coloured, coloured, "{wish:?}");
        assert_eq!(terminal.wait_for_end().code(), Some(2));
    }
}

#[test]
fn the_screen_follows_the_size_of_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::debug(folder.path());
    for (rows, columns) in [(45, 150), (3, 12), (1, 1), (24, 80)] {
        terminal.screen.screen_mut().set_size(length(rows), length(columns));
        terminal.pty().resize(Size::new(rows, columns)).unwrap();
        // The frame's right edge, or the text of a message, is in the last column of some row.
        terminal.wait_for(&format!("{rows} rows of {columns}"), |screen| {
            let in_last_column = |row| screen.cell(row, columns - 1).is_some_and(|cell| cell.has_contents());
            columns < 80 || (0..rows).any(in_last_column)
        });
        terminal.keys("s");
    }
    terminal.wait_for_text("sums.b512");
    terminal.keys("q");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.check_restored();
}

#[test]
fn a_debugger_without_keys_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sums.b512"), PROGRAM).unwrap();
    let mut shell = process("sh", folder.path());
    let script = "exec \"$0\" debug sums.b512 < /dev/null";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_rpu")]);
    let mut terminal = Terminal::start(shell, 30, 110);
    terminal.wait_for_text("the debugger needs a terminal");
    assert_eq!(terminal.wait_for_end().code(), Some(2));
}

/// A change of size before the end of the first draw is not lost. The first screen has more bytes than an
/// unread terminal accepts, so that its draw has begun but not ended.
#[test]
fn the_first_draw_follows_the_size_of_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(debugger(folder.path()), 300, 3000);
    poll(&mut [PollFd::new(terminal.pty(), PollFlags::IN)], None).expect("a screen");
    terminal.pty().resize(Size::new(45, 150)).unwrap();
    terminal.wait_for("45 rows", |screen| {
        let mut rows = screen.rows(0, 150);
        rows.nth(44).is_some_and(|row| row.contains("q quit")) && rows.all(|row| row.is_empty())
    });
}

/// Of a change of size and a key that arrive together, neither is lost.
#[test]
fn a_key_right_after_a_change_of_size_is_read() {
    const HELP: &str = "execute an instruction";
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::debug(folder.path());
    for number in 0..100 {
        let rows = 30 + number % 2;
        terminal.screen.screen_mut().set_size(length(rows), length(110));
        terminal.pty().resize(Size::new(rows, 110)).unwrap();
        // The debugger wakes for the size meanwhile, more or less.
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(number.into()) {}
        terminal.keys("?");
        terminal.wait_for_text(HELP);
        terminal.keys("\x1b[D");
        terminal.wait_for("the program again", |screen| !screen.contents().contains(HELP));
    }
}

#[test]
fn the_screen_is_drawn_only_after_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::debug(folder.path());
    terminal.wait_for_silence();
    terminal.keys("c");
    terminal.wait_for_text("the end of the program");
    terminal.wait_for_silence();
}

#[test]
fn control_c_and_signals_restore_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::debug(folder.path());
    terminal.keys("\x03");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.check_restored();

    let mut terminal = Terminal::debug(folder.path());
    let id = rustix::process::Pid::from_child(&terminal.child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(terminal.wait_for_end().code(), Some(143));
    terminal.check_restored();
    terminal.wait_for_text("stopped by SIGTERM");
}

#[test]
fn the_debugger_ends_with_its_terminal() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sums.b512"), PROGRAM).unwrap();
    // The second debugger ignores the signal of a closed terminal.
    for script in ["exec \"$0\" debug sums.b512", "trap '' HUP; exec \"$0\" debug sums.b512"] {
        let mut shell = process("sh", folder.path());
        shell.args(["-c", script, env!("CARGO_BIN_EXE_rpu")]);
        let mut terminal = Terminal::start(shell, 30, 110);
        terminal.wait_for_text(MESSAGE);
        terminal.sides = None;
        let status = terminal.wait_for_end();
        assert!(!status.success(), "{script}: {status}");
    }
}

#[test]
fn a_long_simulation_shows_that_it_works() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "program", "hmult", "--set", "ark", "-o", "p.fhetch"]);
    let mut run = command(folder);
    run.args(["run", "p.fhetch", "--timing-only", "--format", "json"]);
    let mut terminal = Terminal::start(run, 30, 110);
    terminal.wait_for("the time since the start", |screen| screen.contents().contains("dataflow oc, 0s"));
    assert!(terminal.wait_for_end().success());
    terminal.wait_for("the document alone", |screen| {
        let text = screen.contents();
        text.contains("\"simulator\"") && !text.contains("dataflow oc, ")
    });
}
