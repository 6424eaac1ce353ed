//! Kanata logs, version 4, for the pipeline viewer Konata.
//!
//! Lane 0 has the stages of an instruction: `F` at the front end, `Ds` in its queue, a stage such as
//! `Xcompute` in its pipe, `Cm` from there until it completes. Each pipe has its own stage, so that Konata
//! gives it its own colour. Lane 1 has the causes of stalls. Konata draws the arrow of a dependency from the
//! end of the producer's stage to the start of the consumer's whose names have a capital X in them.

use super::Trace;
use crate::timing::Cycle;
use std::io::{self, Write};

/// Order of commands within a cycle: instructions begin, stages end, stages start, instructions end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Begin,
    EndStage,
    StartStage,
    Depend,
    Retire,
}

impl Trace<'_> {
    /// Writes a Kanata log.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn write_kanata(&self, out: &mut impl Write) -> io::Result<()> {
        let mut commands: Vec<(Cycle, Step, String)> = Vec::new();
        let producers = self.producers();
        for row in self.rows() {
            let id = row.index;
            let timestamps = row.timestamps;
            let text = format!(
                "I\t{id}\t{id}\t0\nL\t{id}\t0\t{id}: {}\nL\t{id}\t1\tdispatch {}, issue {}, complete {}",
                self.text(id),
                timestamps.dispatch,
                timestamps.issue,
                timestamps.complete
            );
            commands.push((row.arrival, Step::Begin, text));
            let mut stage = |lane: u8, name: &str, from: Cycle, to: Cycle| {
                if from < to {
                    commands.push((from, Step::StartStage, format!("S\t{id}\t{lane}\t{name}")));
                    commands.push((to, Step::EndStage, format!("E\t{id}\t{lane}\t{name}")));
                }
            };
            stage(0, "F", row.arrival, timestamps.dispatch);
            stage(0, "Ds", timestamps.dispatch, timestamps.issue);
            stage(0, &format!("X{}", row.micro_op.pipe.name()), timestamps.issue, row.pipe_free());
            stage(0, "Cm", row.pipe_free(), timestamps.complete);
            for wait in row.waits {
                stage(1, wait.cause.name(), wait.from, wait.to);
            }
            for producer in &producers[id] {
                commands.push((timestamps.issue, Step::Depend, format!("W\t{id}\t{producer}\t0")));
            }
            commands.push((row.end(), Step::Retire, format!("R\t{id}")));
        }
        // A stable sort, so that commands of one kind stay in program order.
        commands.sort_by_key(|(cycle, step, _)| (*cycle, *step));
        writeln!(out, "Kanata\t0004\nC=\t0")?;
        let mut now = Cycle::ZERO;
        let mut retired = 0;
        for (cycle, step, text) in &commands {
            if *cycle > now {
                writeln!(out, "C\t{}", *cycle - now)?;
                now = *cycle;
            }
            if *step == Step::Retire {
                writeln!(out, "{text}\t{retired}\t0")?;
                retired += 1;
            } else {
                writeln!(out, "{text}")?;
            }
        }
        Ok(())
    }
}
