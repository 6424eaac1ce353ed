//! The screen after scripted keys, and the session behind it.
//!
//! Each script is a list of keys; the screen after it is a file in `screens`. `BLESS=1` writes the
//! files, and the figure of the book.

mod session;
mod svg;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use rpu::debugger::{App, Format, Key, Listing, Location, Session, Stop, Target, rows};
use sim::timing::Cycle;
use sim::{Machine, MachineFile, Override};
use std::collections::BTreeMap;

const PROGRAM: &str = "\
.kernel scale
.input  x, 512
.output y, 512
.table  k, 1, sdm
.words  k { 5 }
.modulus m1, 0x3001

sload  s0, k
vload  v0, a0, x
vmuls  v1, v0, s0, m1
vadd   v2, v1, v0, m1
unpklo v3, v2, v1
vsub   v2, v2, v3, m1
vstore v2, a0, y
halt
";

fn lines(text: &str) -> Vec<usize> {
    let is_code = |line: &str| !line.starts_with('.') && !line.is_empty();
    text.lines().zip(1..).filter(|(line, _)| is_code(line)).map(|(_, number)| number).collect()
}

fn session_of(text: &str, machine: &Machine) -> Session {
    let program = b512_asm::assemble(text).unwrap();
    let inputs = BTreeMap::from([("x".to_owned(), (0..512).map(|i| i * i % 0x3001).collect())]);
    Session::new(Listing::new(program, Some(lines(text))), machine, inputs).unwrap()
}

fn session() -> Session {
    session_of(PROGRAM, &Machine::rpu_128x128())
}

/// The screen of usual size after keys.
fn screen(keys: &str) -> (App, Buffer) {
    screen_of((110, 30), keys)
}

/// The screen after keys: `\n` is Return, `\t` Tab, `^` and `_` the arrows up and down, `{` and `}` left and
/// right.
fn screen_of((columns, rows): (u16, u16), keys: &str) -> (App, Buffer) {
    let mut app = App::new(session(), "scale.b512 | rpu-128x128");
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    for character in keys.chars() {
        app.key(match character {
            '\n' => Key::Enter,
            '\t' => Key::Tab,
            '^' => Key::Up,
            '_' => Key::Down,
            '{' => Key::Left,
            '}' => Key::Right,
            other => Key::Char(other),
        });
        terminal.draw(|frame| app.draw(frame)).unwrap();
    }
    terminal.draw(|frame| app.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    (app, buffer)
}

/// The characters of a screen.
fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let row = |cells: &[Cell]| {
        let line: String = cells.iter().map(Cell::symbol).collect();
        line.trim_end().to_owned() + "\n"
    };
    buffer.content.chunks(width).map(row).collect()
}

#[test]
fn scripted_keys_give_these_screens() {
    for (name, keys) in [
        ("start", ""),
        ("help", "?"),
        ("stepped", "ssss"),
        ("back", "ssssp"),
        ("breakpoint", ":break y\nc"),
        ("watch", ":watch v2\n:watch y+0..3\ncc"),
        ("reverse", ":watch v2\n>r"),
        ("cycle", ":cycle 12\n."),
        ("memory", ">:vdm y\n\t\t_ff"),
        ("registers", "sss\t____}}ff"),
        ("wrong", ":brek y\n"),
        ("end", ">s"),
        ("prompt", ":goto 1"),
    ] {
        let path = format!("{}/tests/debugger/screens/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        diagnostic::snapshot::fresh(path, text(&screen(keys).1));
    }
    // The smallest usual terminal, where not all keys and commands fit.
    for (name, keys) in [("small", "ssss"), ("small-help", "?"), ("small-help-end", "?__________")] {
        let path = format!("{}/tests/debugger/screens/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        diagnostic::snapshot::fresh(path, text(&screen_of((80, 24), keys).1));
    }
}

#[test]
fn every_command_has_an_effect_or_a_message() {
    let message = |keys: &str| {
        let lines = text(&screen(keys).1);
        lines.lines().rev().nth(1).unwrap_or_default().to_owned()
    };
    for (keys, expected) in [
        (":break 99\n", "there is no instruction on line 99 or after it; the last one is on line 15"),
        (":break #8\n", "there is no instruction #8; the program has 8, from #0 on"),
        (":break z\n", "unknown symbol `z`; the program has: x, y, k"),
        (
            ":break %\n",
            "invalid location `%`; write a line of the text, `#` and the index of an instruction, a",
        ),
        (":break y\n", "breakpoint at line 14"),
        ("b", "new breakpoint at line 8"),
        ("bb", "no breakpoint at line 8"),
        (":break 9\n:delete all\nc", "the end of the program"),
        (":break 9\n:delete 9\nc", "the end of the program"),
        (":watch v2\n:unwatch all\nc", "the end of the program"),
        (
            ":watch v64\n",
            "invalid register `v64`: the last is v63; write a register such as v3, s0, a1 or m2",
        ),
        (
            ":watch y+512\n",
            "`y+512` is outside `y`, which has 512 words; write a register such as v3, s0, a1",
        ),
        (":watch v3..s5\n", "invalid range `v3..s5`"),
        (":watch\n", "write `watch v3|s0|a1|m2|y|y+5|y+0..7`"),
        (":vdm k\n", "`k` is not in the VDM"),
        (":cycle x\n", "`x` is not a number"),
        (":step 3\n", ""),
        (":step 30\n", "the end of the program"),
        (">:back 30\n", "the beginning of the program"),
        (":goto end\n", ""),
        ("p", "the beginning of the program"),
        ("z", "unknown key `z`; ? explains the keys"),
    ] {
        let found = message(keys);
        assert!(found.starts_with(expected) && found.is_empty() == expected.is_empty(), "{keys:?}: {found}");
    }
    let (app, _) = screen(":quit\n");
    assert!(app.is_done() && screen("q").0.is_done() && !screen("s").0.is_done());
}

#[test]
fn a_position_has_the_same_values_from_both_sides() {
    let (mut forwards, mut backwards) = (session(), session());
    let program = forwards.source().program.clone();
    let parse = |text: &str| Target::parse(text, &program).unwrap();
    let targets: Vec<Target> = [parse("v0..v3"), parse("y")].concat();
    assert_eq!(backwards.go_to(usize::MAX), Stop::Done);
    let mut states: Vec<Vec<Vec<u128>>> = Vec::new();
    for _ in 0..=forwards.end() {
        states.push(targets.iter().map(|target| forwards.value(target)).collect());
        forwards.step();
    }
    for state in states.iter().rev() {
        let values: Vec<Vec<u128>> = targets.iter().map(|target| backwards.value(target)).collect();
        assert_eq!(*state, values);
        backwards.back();
    }
    assert_eq!(backwards.back(), Stop::Start);
    let (v3, y) = (&states[8][3], &states[8][4]);
    assert!((0..512u128).all(|i| y[i as usize] == (6 * (i * i) + 0x3001 - v3[i as usize]) % 0x3001));
}

#[test]
fn backwards_stops_where_forwards_does() {
    let mut session = session();
    let targets = Target::parse("v2", &session.source().program).unwrap();
    session.watches().extend(targets);
    let indices = "11".parse::<Location>().unwrap().resolve(session.source()).unwrap();
    session.breakpoints().extend(indices);
    let mut forwards = Vec::new();
    while session.resume() != Stop::End {
        forwards.push(session.position());
    }
    assert_eq!(forwards, [3, 4, 6]);
    let mut backwards = Vec::new();
    while session.reverse() != Stop::Start {
        backwards.push(session.position());
    }
    backwards.reverse();
    assert_eq!(backwards, forwards);
}

#[test]
fn a_fault_stops_before_its_instruction() {
    let text = PROGRAM.replace("vadd   v2, v1, v0, m1", "vadd   v2, v1, v0, m2");
    let mut session = session_of(&text, &Machine::rpu_128x128());
    let Stop::Fault(error) = session.resume() else { panic!("m2 was never set") };
    assert_eq!((error.index, session.position()), (3, 3));
    assert_eq!(session.go_to(7), Stop::Fault(error));
    assert_eq!(session.back(), Stop::Done);
}

#[test]
fn residues_have_the_modulus_of_their_instruction() {
    let mut session = session();
    let program = session.source().program.clone();
    let target = |text: &str| Target::parse(text, &program).unwrap().remove(0);
    session.go_to(usize::MAX);
    assert_eq!(session.modulus(&target("v3")), Some(0x3001));
    assert_eq!((session.value(&target("m1")), session.value(&target("m2"))), (vec![0x3001], vec![]));
    let words = session.value(&target("v3"));
    assert_eq!(rows(&words[..4], Some(0x3001), Format::Centred, 80), ["0: 0 0 6 5"]);
}

/// Queues, busy registers and waits of every cycle follow from the timestamps of the cycle model.
#[test]
fn pipes_and_busyboard_agree_with_the_run() {
    for release in ["complete", "read"] {
        let change = Override::parse(&format!("frontend.source_release={release}")).unwrap();
        let machine = MachineFile::built_in("rpu-128x128", &[change]).unwrap();
        let session = session_of(PROGRAM, &machine);
        let (pipeline, program) = (session.pipeline(), &session.source().program);
        let timing = sim::timing::simulate(&machine, program);
        for cycle in (0..=timing.cycles.0).map(Cycle) {
            let (pipes, busy) = (pipeline.pipes(cycle), pipeline.busy(cycle));
            for (index, (instr, times)) in program.instructions.iter().zip(&timing.timestamps).enumerate() {
                let waits = times.dispatch < cycle && cycle <= times.issue && cycle < times.complete;
                assert_eq!(pipes[instr.pipe()].queued.contains(&index), waits, "{index} in {cycle}");
                let holds = times.dispatch < cycle && cycle < times.complete;
                for register in instr.vector_writes().iter() {
                    assert!(!holds || busy[register.index()].is_some_and(|holder| holder.writes));
                }
            }
            let next = pipeline.dispatched_before(cycle);
            let dispatches = timing.timestamps.get(next).is_some_and(|times| times.dispatch == cycle);
            let over = next == program.instructions.len();
            assert_eq!(pipeline.wait(cycle).is_some(), !dispatches && !over, "{cycle}");
        }
    }
}

/// The figure of the book.
#[test]
fn the_book_shows_the_screen() {
    let (_, buffer) = screen(":break 13\n:watch v2\ncf:cycle 30\n");
    let path = format!("{}/docs/book/src/img/debug.svg", env!("CARGO_MANIFEST_DIR"));
    diagnostic::snapshot::fresh(path, svg::picture(&buffer));
}
