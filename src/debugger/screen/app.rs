//! The state of the screen, and the effects of keys on it.

use super::command::{self, Action};
use crate::debugger::location::Location;
use crate::debugger::number::Format;
use crate::debugger::session::{Session, Stop};
use crate::debugger::target::Target;
use b512_asm::Space;
use diagnostic::Diagnostic;
use sim::timing::Cycle;

/// A key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// A character.
    Char(char),
    /// Return.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Tabulator.
    Tab,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
}

/// A part of the screen that arrows scroll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Panel {
    Program,
    Registers,
    Memory,
}

/// The screen of a session.
#[derive(Debug)]
pub struct App {
    pub(crate) session: Session,
    pub(crate) title: String,
    pub(crate) focus: Panel,
    /// The chosen instruction of the program.
    pub(crate) cursor: usize,
    /// The first register on the screen: an index over all files of registers.
    pub(crate) register: usize,
    /// The first lane on the screen.
    pub(crate) lane: usize,
    /// The first word of the VDM on the screen.
    pub(crate) word: u32,
    pub(crate) format: Format,
    /// The command that is being typed.
    pub(crate) prompt: Option<String>,
    pub(crate) message: String,
    /// The first line on the page of keys and commands, if it is shown.
    pub(crate) help: Option<u16>,
    done: bool,
}

/// The keys and their effects.
pub(crate) const KEYS: [(&str, &str); 12] = [
    ("s", "execute an instruction"),
    ("p", "go back by an instruction"),
    ("c", "continue to a breakpoint, a change of a watched value, a wrong coefficient, or the end"),
    ("r", "the same backwards"),
    (". ,", "next and previous cycle"),
    ("< >", "beginning and end"),
    ("b", "breakpoint at the chosen instruction"),
    ("f", "form of numbers: hexadecimal, decimal, centred"),
    ("Tab", "choose a panel; arrows scroll it, left and right its lanes"),
    (":", "a command"),
    ("?", "this page"),
    ("q", "quit"),
];

/// Rows that PageUp and PageDown move.
const PAGE: usize = 16;
/// Words of memory in a row of the screen.
pub(crate) const ROW_WORDS: u32 = 4;

impl App {
    /// The screen of a session; `title` names the file and the machine.
    pub fn new(session: Session, title: impl Into<String>) -> Self {
        let outputs = session.source().program.symbols.iter().filter(|symbol| symbol.space == Space::Vdm);
        let word = outputs.map(|symbol| symbol.start).min().unwrap_or(0);
        Self {
            session,
            title: title.into(),
            focus: Panel::Program,
            cursor: 0,
            register: 0,
            lane: 0,
            word,
            format: Format::default(),
            prompt: None,
            message: "? explains the keys".to_owned(),
            help: None,
            done: false,
        }
    }

    /// Whether the user has left.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The session.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The effect of a key.
    pub fn key(&mut self, key: Key) {
        if let Some(text) = &mut self.prompt {
            match key {
                Key::Char(character) => text.push(character),
                Key::Backspace => _ = text.pop(),
                Key::Escape => self.prompt = None,
                Key::Enter => {
                    let text = self.prompt.take().unwrap_or_default();
                    self.command(&text);
                }
                Key::Tab | Key::Up | Key::Down | Key::Left | Key::Right | Key::PageUp | Key::PageDown => {}
            }
            return;
        }
        if let Some(first) = self.help {
            self.help = match key {
                Key::Up | Key::PageUp => Some(first.saturating_sub(1)),
                Key::Down | Key::PageDown => Some(first.saturating_add(1)),
                Key::Char(_)
                | Key::Enter
                | Key::Escape
                | Key::Backspace
                | Key::Tab
                | Key::Left
                | Key::Right => None,
            };
            return;
        }
        match key {
            Key::Char(character) => self.character(character),
            Key::Tab => {
                self.focus = match self.focus {
                    Panel::Program => Panel::Registers,
                    Panel::Registers => Panel::Memory,
                    Panel::Memory => Panel::Program,
                }
            }
            Key::Up => self.scroll(-1),
            Key::Down => self.scroll(1),
            Key::PageUp => self.scroll(-(PAGE as isize)),
            Key::PageDown => self.scroll(PAGE as isize),
            Key::Left => self.lane = self.lane.saturating_sub(1),
            Key::Right => self.choose_lane(self.lane + 1),
            Key::Enter | Key::Escape | Key::Backspace => {}
        }
    }

    fn character(&mut self, character: char) {
        let cycle = self.session.cycle();
        let stop = match character {
            's' => self.session.step(),
            'p' => self.session.back(),
            'c' => self.session.resume(),
            'r' => self.session.reverse(),
            '.' => self.session.go_to_cycle(cycle + 1),
            ',' => self.session.go_to_cycle(Cycle(cycle.0.saturating_sub(1))),
            '<' => self.session.go_to(0),
            '>' => self.session.go_to(usize::MAX),
            other => return self.setting(other),
        };
        self.show(stop);
    }

    /// The keys that do not move.
    fn setting(&mut self, character: char) {
        match character {
            'b' => {
                let cursor = self.cursor;
                let breakpoints = self.session.breakpoints();
                let is_set = breakpoints.insert(cursor) || !breakpoints.remove(&cursor);
                let name = self.session.source().name(cursor);
                self.message = format!("{} breakpoint at {name}", if is_set { "new" } else { "no" });
            }
            'f' => {
                self.format = self.format.next();
                self.message = format!("numbers are {}", self.format.name());
            }
            ':' => self.prompt = Some(String::new()),
            '?' => self.help = Some(0),
            'q' => self.done = true,
            other => self.message = format!("unknown key `{other}`; ? explains the keys"),
        }
    }

    /// Shows the position, and the reason for the stop.
    fn show(&mut self, stop: Stop) {
        let position = self.session.position();
        self.cursor = position.min(self.session.end().saturating_sub(1));
        let source = self.session.source();
        let before = position.checked_sub(1).map_or(String::new(), |before| source.name(before));
        self.message = match stop {
            Stop::Done => String::new(),
            Stop::Start => "the beginning of the program".to_owned(),
            Stop::End => "the end of the program".to_owned(),
            Stop::Breakpoint => format!("breakpoint at {}", source.name(position)),
            Stop::Changed(target) => format!("{before} has changed {target}"),
            Stop::Wrong(wrong) => format!("{before} has stored the first wrong coefficient: {wrong}"),
            Stop::Fault(error) => format!("fault at {}: {}", source.name(position), error.fault),
        };
    }

    fn scroll(&mut self, rows: isize) {
        let instructions = self.session.source().program.instructions.len();
        match self.focus {
            Panel::Program => {
                self.cursor = self.cursor.saturating_add_signed(rows).min(instructions.saturating_sub(1));
            }
            Panel::Registers => {
                let last = 4 * b512_asm::reg::REGISTERS - 1;
                self.register = self.register.saturating_add_signed(rows).min(last);
            }
            Panel::Memory => {
                let words = rows.unsigned_abs() as u32 * ROW_WORDS;
                self.word = match rows < 0 {
                    true => self.word.saturating_sub(words),
                    false => self.word.saturating_add(words).min(b512_asm::reg::MAX_VDM_WORDS - ROW_WORDS),
                };
            }
        }
    }

    fn choose_lane(&mut self, lane: usize) {
        let lanes = self.session.source().program.isa.vector_length() as usize;
        self.lane = lane.min(lanes - 1);
    }

    fn command(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.message.clear();
        if let Err(error) = command::parse(text).and_then(|(action, argument)| self.act(action, argument)) {
            self.message = error.to_string();
        }
    }

    fn act(&mut self, action: Action, argument: &str) -> Result<(), Diagnostic> {
        match action {
            Action::Break => {
                let all = argument.parse::<Location>()?.resolve(self.session.source())?;
                self.message = match all[..] {
                    [one] => format!("breakpoint at {}", self.session.source().name(one)),
                    _ => format!("{} breakpoints", all.len()),
                };
                self.session.breakpoints().extend(all);
            }
            Action::Delete if argument == "all" => self.session.breakpoints().clear(),
            Action::Delete => {
                let all = argument.parse::<Location>()?.resolve(self.session.source())?;
                self.session.breakpoints().retain(|index| !all.contains(index));
            }
            Action::Watch => {
                let targets = Target::parse(argument, &self.session.source().program)?;
                self.session.watches().extend(targets);
            }
            Action::Unwatch => self.session.watches().clear(),
            Action::Check => match self.session.wrong().cloned() {
                Some(wrong) => {
                    self.session.go_to(wrong.position);
                    self.show(Stop::Wrong(wrong));
                }
                None if self.session.has_compared() => {
                    self.message = "every coefficient that was compared is right".to_owned();
                }
                None => {
                    let error = Diagnostic::new("there is nothing to compare with");
                    return Err(error.with_help("add `.computes`, or start with `--expect NAME=FILE`"));
                }
            },
            Action::GoTo => {
                let all = argument.parse::<Location>()?.resolve(self.session.source())?;
                let stop = self.session.go_to(all[0]);
                self.show(stop);
            }
            Action::Cycle => {
                let cycle = number(argument)?;
                let stop = self.session.go_to_cycle(Cycle(cycle));
                self.show(stop);
            }
            Action::Step => self.steps(number(argument)?, Session::step),
            Action::Back => self.steps(number(argument)?, Session::back),
            Action::Vdm => self.word = self.address(argument)?,
            Action::Lane => self.choose_lane(number(argument)?.try_into().unwrap_or(usize::MAX)),
            Action::Quit => self.done = true,
        }
        Ok(())
    }

    /// Several steps, until the last one or a reason to stop.
    fn steps(&mut self, count: u64, step: fn(&mut Session) -> Stop) {
        let mut stop = Stop::Done;
        for _ in 0..count {
            stop = step(&mut self.session);
            if stop != Stop::Done {
                break;
            }
        }
        self.show(stop);
    }

    /// The address in the VDM that a number or a symbol names.
    fn address(&self, text: &str) -> Result<u32, Diagnostic> {
        let digits = text.strip_prefix("0x");
        let address = digits.map_or_else(|| text.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok());
        if let Some(address) = address {
            return Ok(address.min(b512_asm::reg::MAX_VDM_WORDS - ROW_WORDS));
        }
        match Target::parse(text, &self.session.source().program)?.first() {
            Some(Target::Words { space: Space::Vdm, words, .. }) => Ok(words.start),
            _ => Err(Diagnostic::new(format!("`{text}` is not in the VDM"))),
        }
    }
}

fn number(text: &str) -> Result<u64, Diagnostic> {
    text.parse().map_err(|_| Diagnostic::new(format!("`{text}` is not a number")))
}
