//! A text timeline, one row per instruction, with its text at the left.

use super::{Row, Trace};
use crate::timing::{Cause, Cycle};
use std::io::{self, Write};

/// The letters of a timeline.
const LEGEND: &str = "\
f fetch, s scalar load, b busy register, q full queue; D dispatch, = in its queue,
e in its pipe, - in the pipe's later stages, C complete";

impl Trace<'_> {
    /// Writes the timeline of at most `count` instructions, starting at index `from`. Columns are
    /// cycles, starting when the first of them reaches the front end.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn write_ascii(&self, from: usize, count: usize, out: &mut impl Write) -> io::Result<()> {
        let rows: Vec<_> = self.rows().skip(from).take(count).collect();
        let Some(start) = rows.iter().map(|row| row.arrival).min() else {
            return writeln!(out, "no instructions from {from} on");
        };
        let end = rows.iter().map(Row::end).max().unwrap_or(start);
        let columns = (end - start) as usize + 1;
        let names: Vec<(String, String)> =
            rows.iter().map(|row| (row.index.to_string(), self.text(row.index))).collect();
        let index_width = names.iter().map(|(index, _)| index.len()).max().unwrap_or(0);
        let text_width = names.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);

        // A mark every ten cycles if there is room before the next.
        let mut scale = String::new();
        for cycle in (start.0..=end.0).filter(|cycle| cycle % 10 == 0) {
            let at = (cycle - start.0) as usize;
            if at >= scale.len() + usize::from(!scale.is_empty()) {
                scale = format!("{scale:at$}{cycle}");
            }
        }
        writeln!(out, "{:index_width$}  {:text_width$}  {scale}", "", "")?;
        for (row, (index, text)) in rows.iter().zip(&names) {
            let line = line(row, start, columns);
            writeln!(out, "{index:>index_width$}  {text:text_width$}  {}", line.trim_end())?;
        }
        writeln!(out, "{LEGEND}")
    }
}

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
    draw(timestamps.complete, timestamps.complete + 1, 'C');
    draw(timestamps.dispatch, timestamps.dispatch + 1, 'D');
    cells.into_iter().collect()
}
