//! A part of a program, whose lines are executed in parallel as far as they do not depend on each other.

use super::{ExecuteError, Knowledge, Line};
use crate::data::{Inputs, Words};
use crate::{Limb, Liveness, RingProgram, Shape};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The origin of the words that a line reads.
#[derive(Clone, Copy)]
enum ReadFrom {
    /// The limb has them before the window.
    Before,
    /// The result of the line with this index in the window.
    Line(usize),
}

/// Some consecutive lines of a program.
pub(super) struct Window<'p> {
    program: &'p RingProgram,
    /// The index of the first line.
    start: usize,
    /// The sources of each line.
    sources: Vec<[Option<(Limb, ReadFrom)>; 2]>,
    /// The lines by depth: lines of one level depend on earlier levels only.
    levels: Vec<Vec<usize>>,
}

impl<'p> Window<'p> {
    pub(super) fn new(program: &'p RingProgram, lines: Range<usize>) -> Self {
        let mut writers: FxHashMap<Limb, usize> = FxHashMap::default();
        let (mut sources, mut depths) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
        let mut levels: Vec<Vec<usize>> = Vec::new();
        let start = lines.start;
        for (offset, operation) in program.operations()[lines].iter().enumerate() {
            let origin =
                |limb: Limb| (limb, writers.get(&limb).map_or(ReadFrom::Before, |&w| ReadFrom::Line(w)));
            let of = operation.sources().map(|source| source.map(origin));
            let above = |&(_, origin): &(Limb, ReadFrom)| match origin {
                ReadFrom::Before => 0,
                ReadFrom::Line(writer) => depths[writer] + 1,
            };
            let depth: usize = of.iter().flatten().map(above).max().unwrap_or(0);
            if levels.len() <= depth {
                levels.push(Vec::new());
            }
            levels[depth].push(offset);
            depths.push(depth);
            sources.push(of);
            writers.insert(operation.destination(), offset);
        }
        Self { program, start, sources, levels }
    }

    /// Executes the lines. `words` holds the limbs before the window, and after it on return; an input is
    /// there only between its first and its last use.
    ///
    /// # Errors
    /// Returns the error of the first line that has one.
    pub(super) fn execute(
        self,
        knowledge: &Knowledge<'_>,
        inputs: &Inputs<'_>,
        words: &mut [Option<Words>],
    ) -> Result<(), ExecuteError> {
        let last = self.last_values(inputs.liveness());
        let mut results: Vec<Option<Words>> = vec![None; self.sources.len()];
        let mut readers = self.readers(&last);
        let mut failure: Option<(usize, ExecuteError)> = None;
        for level in &self.levels {
            // Lines after one that failed do not matter, and may depend on it.
            let first_failed = failure.as_ref().map_or(usize::MAX, |&(offset, _)| offset);
            let lines = level.par_iter().filter(|&&offset| offset < first_failed);
            let new: Vec<_> = self
                .new_inputs(level, words)
                .into_par_iter()
                .map(|limb| (limb, inputs.words(limb)))
                .collect();
            new.into_iter().for_each(|(limb, made)| words[limb.index()] = made);
            let executed: Vec<_> = lines
                .map(|&offset| {
                    let source = |(limb, origin): (Limb, ReadFrom)| {
                        let words = match origin {
                            ReadFrom::Before => &words[limb.index()],
                            ReadFrom::Line(writer) => &results[writer],
                        };
                        (limb, words.as_ref().expect("a valid program writes limbs before it reads them"))
                    };
                    let sources = self.sources[offset].map(|known| known.map(source));
                    (offset, Line { knowledge, index: self.start + offset, sources }.execute())
                })
                .collect();
            for (offset, result) in executed {
                match result {
                    Ok(result) => results[offset] = Some(result).filter(|_| readers[offset] > 0),
                    Err(error) if failure.as_ref().is_none_or(|&(first, _)| offset < first) => {
                        failure = Some((offset, error));
                    }
                    Err(_) => {}
                }
                for (_, origin) in self.sources[offset].iter().flatten() {
                    if let ReadFrom::Line(writer) = *origin {
                        readers[writer] -= 1;
                        if readers[writer] == 0 {
                            results[writer] = None;
                        }
                    }
                }
            }
        }
        if let Some((_, error)) = failure {
            return Err(error);
        }
        for (limb, writer) in last {
            words[limb.index()] = writer.and_then(|writer| results[writer].take());
        }
        Ok(())
    }

    /// The inputs that no line has read before these lines.
    fn new_inputs(&self, lines: &[usize], words: &[Option<Words>]) -> Vec<Limb> {
        let sources = lines.iter().flat_map(|&offset| self.sources[offset].iter().flatten());
        let new = |&(limb, origin): &(Limb, ReadFrom)| match origin {
            ReadFrom::Before => Some(limb).filter(|limb| words[limb.index()].is_none()),
            ReadFrom::Line(_) => None,
        };
        let mut new: Vec<Limb> = sources.filter_map(new).collect();
        new.sort_unstable();
        new.dedup();
        new
    }

    /// The limbs that the window writes, or reads for the last time, and the line that writes the value that
    /// is read after the window.
    fn last_values(&self, liveness: &Liveness) -> FxHashMap<Limb, Option<usize>> {
        let mut last = FxHashMap::default();
        for offset in 0..self.sources.len() {
            let operation = &self.program.operations()[self.start + offset];
            let uses = liveness.after(self.start + offset);
            for (limb, next) in operation.sources().into_iter().zip(uses.sources) {
                if let Some(limb) = limb.filter(|_| next.is_dead()) {
                    last.insert(limb, None);
                }
            }
            last.insert(operation.destination(), Some(offset).filter(|_| !uses.destination.is_dead()));
        }
        last
    }

    /// The readers of each result: lines of the window, and what comes after it.
    fn readers(&self, last: &FxHashMap<Limb, Option<usize>>) -> Vec<u32> {
        let mut readers = vec![0; self.sources.len()];
        last.values().flatten().for_each(|&writer| readers[writer] += 1);
        for (_, origin) in self.sources.iter().flatten().flatten() {
            if let ReadFrom::Line(writer) = *origin {
                readers[writer] += 1;
            }
        }
        readers
    }
}
