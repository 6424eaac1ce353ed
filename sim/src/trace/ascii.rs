//! A text timeline, one row per instruction, with its text at the left.

use super::{Row, Trace};
use crate::timing::{Cause, Cycle};
use std::io::{self, Write};
use std::ops::Range;

/// The longest line, in characters.
const WIDTH: usize = 120;
/// The fewest columns of the timeline, beside a long text of an instruction.
const LEAST_COLUMNS: usize = 40;
/// The columns that a mark of the last cycles takes beyond them.
const MARGIN: usize = 4;

/// The letters of a timeline.
const LEGEND: &str = "\
f fetch, s scalar load, b busy register, q full queue; D dispatch, = in its queue,
e in its pipe, - in the pipe's later stages, C complete";

impl Trace<'_> {
    /// Writes the timeline of at most `count` instructions, starting at index `from`. Columns are
    /// cycles, starting when the first of them reaches the front end. Where lines would be too
    /// long, the timeline continues below, with the instructions that have something there.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn write_ascii(&self, from: usize, count: usize, out: &mut impl Write) -> io::Result<()> {
        let rows: Vec<_> = self.rows().skip(from).take(count).collect();
        let Some(start) = rows.iter().map(|row| row.arrival).min() else {
            let all = self.rows().count();
            return if from < all {
                writeln!(out, "none of the {all} instructions: a timeline of 0 was asked for")
            } else {
                writeln!(out, "no instructions from {from} on: the program has {all}")
            };
        };
        let end = rows.iter().map(Row::end).max().unwrap_or(start);
        let columns = (end - start) as usize + 1;
        let names: Vec<(String, String)> =
            rows.iter().map(|row| (row.index.to_string(), self.text(row.index))).collect();
        let index_width = names.iter().map(|(index, _)| index.len()).max().unwrap_or(0);
        let text_width = names.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
        let lines: Vec<String> = rows.iter().map(|row| line(row, start, columns)).collect();

        let room = WIDTH.saturating_sub(index_width + text_width + 4 + MARGIN).max(LEAST_COLUMNS);
        for first in (0..columns).step_by(room) {
            let shown = first..columns.min(first + room);
            if first > 0 {
                writeln!(out)?;
            }
            let scale = scale(start.0 + first as u64..start.0 + shown.end as u64);
            writeln!(out, "{:index_width$}  {:text_width$}  {scale}", "", "")?;
            for (line, (index, text)) in lines.iter().zip(&names) {
                let part = line[shown.clone()].trim_end();
                if !part.is_empty() {
                    writeln!(out, "{index:>index_width$}  {text:text_width$}  {part}")?;
                }
            }
        }
        writeln!(out, "{LEGEND}")
    }
}

/// A mark at every ten of these cycles, if there is room before the next and before the end.
fn scale(cycles: Range<u64>) -> String {
    let mut scale = String::new();
    for cycle in cycles.clone().filter(|cycle| cycle % 10 == 0) {
        let (at, mark) = ((cycle - cycles.start) as usize, cycle.to_string());
        let is_free = at >= scale.len() + usize::from(!scale.is_empty());
        if is_free && at + mark.len() <= (cycles.end - cycles.start) as usize + MARGIN {
            scale = format!("{scale:at$}{mark}");
        }
    }
    scale
}

/// The cells of an instruction, in ASCII.
fn line(row: &Row<'_>, start: Cycle, columns: usize) -> String {
    let mut cells = vec![' '; columns];
    let mut draw = |from: Cycle, to: Cycle, letter: char| {
        if from < to {
            cells[(from - start) as usize..(to - start) as usize].fill(letter);
        }
    };
    let timestamps = row.timestamps;
    for wait in row.waits {
        let letter = match wait.cause {
            Cause::Fetch => 'f',
            Cause::Scalar => 's',
            Cause::Busy(_) => 'b',
            Cause::Queue(_) => 'q',
            Cause::Issue | Cause::Drain => unreachable!("neither holds an instruction back"),
        };
        draw(wait.from, wait.to, letter);
    }
    draw(timestamps.dispatch, timestamps.issue, '=');
    draw(timestamps.issue, row.pipe_free(), 'e');
    draw(row.pipe_free(), timestamps.complete, '-');
    draw(timestamps.dispatch, timestamps.dispatch + 1, 'D');
    draw(timestamps.complete, timestamps.complete + 1, 'C');
    cells.into_iter().collect()
}
