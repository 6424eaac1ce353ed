//! What is drawn.
//!
//! ```text
//! file, machine, position, cycle
//! program        registers
//! watches        pipes
//! memory         busyboard
//! message
//! keys, or the command that is being typed
//! ```

use super::app::{App, KEYS, Panel, ROW_WORDS};
use super::command::COMMANDS;
use crate::debugger::pipeline::Holder;
use crate::debugger::target::Target;
use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, MReg, Pipe, SReg, Space, VReg};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};
use sim::timing::Cause;

/// The most watches on the screen.
const MAX_WATCHES: usize = 6;
/// Registers in a row of the busyboard.
const BOARD_ROW: usize = 32;

const CURRENT: Style = Style::new().fg(Color::Black).bg(Color::Yellow);
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);
const CHANGED: Style = Style::new().fg(Color::Yellow);
const QUIET: Style = Style::new().fg(Color::DarkGray);
const WRITTEN: Style = Style::new().fg(Color::Red);
const READ: Style = Style::new().fg(Color::Green);
const STOP: Style = Style::new().fg(Color::Red);

impl App {
    /// Draws the screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let [title, main, message, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(8),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let position = fitted(Line::from(self.title_line()), title.width);
        frame.render_widget(Paragraph::new(position).style(CHOSEN), title);
        frame.render_widget(Paragraph::new(self.message.as_str()).style(CHANGED), message);
        frame.render_widget(Paragraph::new(self.last_line(keys.width)), keys);
        if let Some(first) = &mut self.help {
            let lines = help(usize::from(main.width.saturating_sub(3)));
            let rows = usize::from(main.height.saturating_sub(2));
            // The last line stays at the bottom.
            *first = (*first).min(lines.len().saturating_sub(rows) as u16);
            let title =
                if lines.len() > rows { " Keys and commands; arrows scroll " } else { " Keys and commands " };
            let page = Paragraph::new(lines).scroll((*first, 0)).block(Block::bordered().title(title));
            return frame.render_widget(page, main);
        }
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(45), Constraint::Percentage(55)]).areas(main);
        let watches = self.session.watches().len().min(MAX_WATCHES) as u16;
        let [program, watched, memory] = Layout::vertical([
            Constraint::Min(4),
            Constraint::Length(if watches > 0 { watches + 2 } else { 0 }),
            Constraint::Length(8),
        ])
        .areas(left);
        let [registers, pipes, board] = Layout::vertical([
            Constraint::Min(4),
            Constraint::Length(Pipe::VECTOR.len() as u16 + 3),
            Constraint::Length((REGISTERS / BOARD_ROW) as u16 + 2),
        ])
        .areas(right);
        self.draw_program(frame, program);
        self.draw_watches(frame, watched);
        self.draw_memory(frame, memory);
        self.draw_registers(frame, registers);
        self.draw_pipes(frame, pipes);
        self.draw_board(frame, board);
    }

    fn title_line(&self) -> String {
        let session = &self.session;
        let (position, end) = (session.position(), session.end());
        let line = match session.source().line(position).filter(|_| position < end) {
            Some(line) => format!("line {line}, "),
            None => String::new(),
        };
        format!(
            " {line}{position} of {end} instructions executed | cycle {} of {} | {}",
            session.cycle(),
            session.pipeline().cycles(),
            self.title,
        )
    }

    /// The command that is being typed, or as many keys as fit.
    fn last_line(&self, width: u16) -> String {
        const KEYS: [&str; 10] = [
            "? help",
            "q quit",
            "s step",
            "p back",
            "c continue",
            "r reverse",
            ": command",
            "b breakpoint",
            ". , cycle",
            "f form",
        ];
        if let Some(text) = &self.prompt {
            return format!(":{text}_");
        }
        let mut line = String::new();
        for key in KEYS {
            let space = if line.is_empty() { "" } else { "  " };
            if line.len() + space.len() + key.len() > usize::from(width) {
                break;
            }
            line += space;
            line += key;
        }
        line
    }

    /// The frame of a panel, bright if the panel is chosen.
    fn block(&self, panel: Option<Panel>, title: String) -> Block<'static> {
        let style = if panel == Some(self.focus) { Style::new().add_modifier(Modifier::BOLD) } else { QUIET };
        Block::bordered().border_style(style).title(format!(" {title} "))
    }

    fn draw_program(&self, frame: &mut Frame<'_>, area: Rect) {
        let source = self.session.source();
        let instructions = &source.program.instructions;
        let height = usize::from(area.height.saturating_sub(2));
        // The chosen instruction is in the middle, if there are enough instructions around it.
        let first = self.cursor.saturating_sub(height / 2).min(instructions.len().saturating_sub(height));
        let listing = source.program.listing();
        let last = source.line(instructions.len().saturating_sub(1)).unwrap_or(instructions.len());
        let width = last.to_string().len() + 1;
        let line = |index: usize| {
            let number = source.line(index).map_or_else(|| format!("#{index}"), |line| line.to_string());
            let dot =
                if self.session.has_breakpoint(index) { Span::styled("●", STOP) } else { Span::raw(" ") };
            let arrow = if index == self.session.position() { "▶" } else { " " };
            let style = match (index == self.session.position(), index == self.cursor) {
                (true, _) => CURRENT,
                (false, true) => CHOSEN,
                (false, false) => Style::new(),
            };
            let text = format!("{number:>width$} {}", listing.text(&instructions[index]));
            Line::from(vec![dot, Span::raw(arrow), Span::styled(text, style)])
        };
        let lines = (first..instructions.len()).take(height).map(line).collect();
        let block = self.block(Some(Panel::Program), "Program".to_owned());
        draw_panel(frame, lines, block, area);
    }

    fn draw_watches(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let targets: Vec<Target> = self.session.watches().iter().take(MAX_WATCHES).cloned().collect();
        let lines = targets.iter().map(|target| self.value_line(target, target.to_string())).collect();
        draw_panel(frame, lines, self.block(None, "Watches".to_owned()), area);
    }

    fn draw_memory(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let height = u32::from(area.height.saturating_sub(2));
        let lines = (0..height).map(|row| self.memory_line(self.word + row * ROW_WORDS)).collect();
        let block = self.block(Some(Panel::Memory), format!("VDM from word {:#x} on", self.word));
        draw_panel(frame, lines, block, area);
    }

    fn memory_line(&mut self, word: u32) -> Line<'static> {
        let symbols = &self.session.source().program.symbols;
        let symbol = symbols.iter().find(|symbol| symbol.space == Space::Vdm && symbol.contains(word.into()));
        let name = symbol.map_or_else(
            || format!("{word:#x}"),
            |symbol| format!("{}+{}", symbol.name, word - symbol.start),
        );
        let target = Target::Words { name, space: Space::Vdm, words: word..word + ROW_WORDS };
        let name = format!("{:<10}", target.to_string());
        self.value_line(&target, name)
    }

    /// A name and the words of a value.
    fn value_line(&mut self, target: &Target, name: String) -> Line<'static> {
        let modulus = self.session.modulus(target);
        let words = self.session.value(target);
        // More do not fit any terminal.
        let texts = words.iter().take(200).map(|&word| format!(" {}", self.format.text(word, modulus)));
        Line::from(name + &texts.collect::<String>())
    }

    fn draw_registers(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let height = usize::from(area.height.saturating_sub(2));
        let busy = self.session.pipeline().busy(self.session.cycle());
        let all = 4 * REGISTERS;
        let lines = (self.register..all).take(height).map(|index| self.register_line(index, &busy)).collect();
        let title =
            format!("Registers with their rings, lanes from {} on, {}", self.lane, self.format.name());
        draw_panel(frame, lines, self.block(Some(Panel::Registers), title), area);
    }

    /// A register by its index over all files.
    fn register_line(&mut self, index: usize, busy: &[Option<Holder>; REGISTERS]) -> Line<'static> {
        let number = index % REGISTERS;
        let target = match index / REGISTERS {
            0 => Target::Vector(VReg::at(number)),
            1 => Target::Scalar(SReg::at(number)),
            2 => Target::Address(AReg::at(number)),
            _ => Target::Modulus(MReg::at(number)),
        };
        let state = match (&target, busy[number]) {
            (Target::Vector(_), Some(Holder { writes: true, .. })) => Span::styled("w", WRITTEN),
            (Target::Vector(_), Some(Holder { writes: false, .. })) => Span::styled("r", READ),
            _ => Span::raw(" "),
        };
        let modulus = self.session.modulus(&target);
        let words = self.session.value(&target);
        let first = if matches!(target, Target::Vector(_)) { self.lane } else { 0 };
        let texts =
            words.iter().skip(first).take(200).map(|&word| format!(" {}", self.format.text(word, modulus)));
        let texts = if words.is_empty() { " not set".to_owned() } else { texts.collect() };
        let ring = match &target {
            Target::Vector(register) => self.session.ring(*register),
            Target::Scalar(_) | Target::Address(_) | Target::Modulus(_) | Target::Words { .. } => None,
        };
        let ring = ring.map_or_else(String::new, |(register, _)| register.to_string());
        let written = self.session.position().checked_sub(1);
        let written = written.map(|index| &self.session.source().program.instructions[index]);
        let style =
            if written.is_some_and(|instr| target.may_be_written(instr)) { CHANGED } else { Style::new() };
        let name = Span::raw(format!("{:<3}", target.to_string()));
        Line::from(vec![name, state, Span::styled(format!(" {ring:<3}"), QUIET), Span::styled(texts, style)])
    }

    fn draw_pipes(&self, frame: &mut Frame<'_>, area: Rect) {
        let (pipeline, cycle) = (self.session.pipeline(), self.session.cycle());
        let pipes = pipeline.pipes(cycle);
        let source = self.session.source();
        let named = |title: &str, indices: &[usize]| {
            let names: String =
                indices.iter().map(|&index| format!(" {}", number(source.name(index)))).collect();
            if indices.is_empty() { String::new() } else { format!("{title}{names}") }
        };
        let mut lines: Vec<Line<'_>> = Pipe::VECTOR
            .iter()
            .map(|&pipe| {
                let state = &pipes[pipe];
                let executing = state.executing.first().map_or_else(
                    || Span::styled("idle", QUIET),
                    |&index| {
                        let mnemonic = source.program.instructions[index].op().info().mnemonic;
                        Span::raw(named(mnemonic, &state.executing))
                    },
                );
                let rest = named("; completing", &state.completing) + &named("; queue", &state.queued);
                let name = Span::raw(format!("{:<11}", pipe.label()));
                Line::from(vec![name, executing, Span::styled(rest, QUIET)])
            })
            .collect();
        let next = self.session.position();
        let front_end = match pipeline.wait(cycle) {
            Some(cause) => format!("{} waits: {}", number(source.name(next)), waiting(cause)),
            None if pipeline.dispatch(next) == cycle && next < self.session.end() => {
                let (issue, complete) = pipeline.issue_and_completion(next);
                format!("dispatches {}: issue {issue}, complete {complete}", number(source.name(next)))
            }
            None => "nothing left".to_owned(),
        };
        lines.push(Line::from(format!("front end  {front_end}")));
        draw_panel(frame, lines, self.block(None, format!("Pipes in cycle {cycle}")), area);
    }

    fn draw_board(&self, frame: &mut Frame<'_>, area: Rect) {
        let busy = self.session.pipeline().busy(self.session.cycle());
        let row = |row: usize| {
            let mut spans = vec![Span::styled(format!("v{:<3}", row * BOARD_ROW), QUIET)];
            spans.extend(busy[row * BOARD_ROW..][..BOARD_ROW].iter().enumerate().map(|(column, holder)| {
                let space = if column % 8 == 0 { " " } else { "" };
                match holder {
                    Some(Holder { writes: true, .. }) => Span::styled(format!("{space}w"), WRITTEN),
                    Some(Holder { writes: false, .. }) => Span::styled(format!("{space}r"), READ),
                    None => Span::styled(format!("{space}."), QUIET),
                }
            }));
            Line::from(spans)
        };
        let lines = (0..REGISTERS / BOARD_ROW).map(row).collect();
        let title = "Busyboard: w being written, r being read".to_owned();
        draw_panel(frame, lines, self.block(None, title), area);
    }
}

/// Draws the lines of a panel.
fn draw_panel(frame: &mut Frame<'_>, lines: Vec<Line<'_>>, block: Block<'_>, area: Rect) {
    let width = area.width.saturating_sub(2);
    let lines: Vec<Line<'_>> = lines.into_iter().map(|line| fitted(line, width)).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// A line that ends in `…` if it is longer than the screen is wide: a number that ends at an edge would look
/// whole.
fn fitted(mut line: Line<'_>, width: u16) -> Line<'_> {
    let width = usize::from(width);
    if line.width() <= width {
        return line;
    }
    let mut left = width.saturating_sub(1);
    for span in &mut line.spans {
        let length = span.content.chars().count();
        if length > left {
            span.content = span.content.chars().take(left).collect::<String>().into();
        }
        left -= length.min(left);
    }
    line.push_span("…");
    line
}

/// The name of an instruction without the word `line`.
fn number(name: String) -> String {
    name.strip_prefix("line ").map_or(name.clone(), str::to_owned)
}

/// A cause of waiting in words.
fn waiting(cause: Cause) -> String {
    match cause {
        Cause::Busy(pipe) => format!("a register is in use by {}", pipe.label()),
        Cause::Queue(pipe) => format!("the queue of {} is full", pipe.label()),
        Cause::Fetch => "for the front end's next instruction".to_owned(),
        Cause::Scalar => "for a scalar load".to_owned(),
        Cause::Issue | Cause::Drain => unreachable!("neither holds an instruction back"),
    }
}

/// Keys and commands, in lines of this width.
fn help(width: usize) -> Vec<Line<'static>> {
    let keys = KEYS.iter().flat_map(|(key, effect)| explained(&format!("  {key:<6} "), effect, width));
    let commands = COMMANDS.iter().flat_map(|command| {
        let usage = format!(":{} {}", command.name, command.argument);
        explained(&format!("  {usage:<32} "), command.effect, width)
    });
    keys.chain(std::iter::once(Line::default())).chain(commands).collect()
}

/// A text beside a name, in lines of this width.
fn explained(name: &str, text: &str, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![name.to_owned()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line from the start");
        if last.len() + word.len() > width && last.len() > name.len() {
            lines.push(format!("{:1$}{word} ", "", name.len()));
        } else {
            *last += &format!("{word} ");
        }
    }
    lines.into_iter().map(Line::from).collect()
}
