//! Regions: the stage and the operation on ciphertexts that ranges of lines belong to.
//!
//! A program has [regions](RingProgram::regions) for its own lines, and so has the body of each function. A
//! line of a text is an [operation](RingProgram::operations); in a program with functions, whose own text has
//! no operations, it is a call, counted as written: a call in a repeat is one line. Lines count from 0.
//!
//! Guaranteed of all regions of a text:
//!
//! * They are in order: by their first line, and of two with the same first line the outer one comes first.
//! * Two of them are disjoint, or one contains the other. So each line has at most one innermost region.
//! * None is empty, and none ends behind the text.
//! * Their names are not empty and have no line ends.
//!
//! Regions nest as their writer likes: a stage has operations, operations have parts, a bootstrap is a stage
//! with stages. The [`Owner`] of a region is its chain of names. The [expansion](RingProgram::flat) of a
//! program has the regions of its calls, each with those of the function inside. Regions do not change what a
//! program means: equal programs may have different ones.
//!
//! ```
//! use ring_program::{Region, RegionKind, Regions};
//!
//! let region = |lines, kind, name: &str| Region { lines, kind, name: name.into() };
//! let regions = Regions::new(
//!     vec![
//!         region(0..90, RegionKind::Stage, "eval-mod"),
//!         region(10..50, RegionKind::Operation, "product"),
//!         region(20..30, RegionKind::Operation, "key switch"),
//!     ],
//!     100,
//! )
//! .unwrap();
//! let owner = regions.owner(regions.innermost(25).unwrap());
//! assert_eq!((owner.stages, owner.operations), (vec!["eval-mod"], vec!["product", "key switch"]));
//! let segments: Vec<_> = regions.segments(100).map(|(lines, region)| (lines, region.map(|region|
//! region.index()))).collect();
//! assert_eq!(segments[..3], [(0..10, Some(0)), (10..20, Some(1)), (20..30, Some(2))]);
//! assert_eq!(segments[5..], [(90..100, None)]);
//! ```

use crate::{FunctionIndex, RingProgram, Step};
use std::ops::Range;
use std::sync::Arc;

/// What a region is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RegionKind {
    /// A part of the computation, such as `eval-mod` or `iteration 1`.
    Stage,
    /// An operation on ciphertexts or a part of one, such as `rotation by 8` or `giant step 2`.
    Operation,
}

impl RegionKind {
    /// All kinds, with their keys in manifests.
    pub const ALL: [(&'static str, Self); 2] = [("stage", Self::Stage), ("operation", Self::Operation)];
}

/// A range of lines with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// The lines, from 0.
    pub lines: Range<usize>,
    /// Stage or operation.
    pub kind: RegionKind,
    /// The name.
    pub name: Arc<str>,
}

/// The index of a region among those of its text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegionIndex(u32);

impl RegionIndex {
    /// The index as a number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of a region and of those around it, the outermost first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Owner<'r> {
    /// The stages.
    pub stages: Vec<&'r str>,
    /// The operations.
    pub operations: Vec<&'r str>,
}

/// The regions of a text, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Regions {
    list: Vec<Region>,
    /// For each region, the innermost one around it.
    parents: Vec<Option<RegionIndex>>,
}

/// A list of regions that a text cannot have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the region `{name}` of the lines {} to {} {reason}", lines.start, lines.end)]
pub struct RegionFault {
    /// The index of the wrong region.
    pub index: usize,
    name: Arc<str>,
    lines: Range<usize>,
    reason: String,
    /// What would be right.
    pub help: &'static str,
}

impl Regions {
    /// The regions of a text of `lines` lines.
    ///
    /// # Errors
    /// Returns the first region that is empty, has no name, ends behind the text, or is out of order, or that
    /// overlaps another one.
    pub fn new(list: Vec<Region>, lines: usize) -> Result<Self, RegionFault> {
        let (mut parents, mut open) = (Vec::new(), Vec::<RegionIndex>::new());
        for (index, region) in list.iter().enumerate() {
            let Region { lines: Range { start, end }, ref name, .. } = *region;
            while open.last().is_some_and(|open| list[open.index()].lines.end <= start) {
                open.pop();
            }
            let before = index.checked_sub(1).map(|before| &list[before]);
            let around = open.last().map(|open| &list[open.index()]);
            let fault = if !diagnostic::is_line(name) {
                Some(("has no name of one line".to_owned(), "name the stage or the operation"))
            } else if start >= end {
                Some(("is empty".to_owned(), "a region ends behind its last line, and has one line at least"))
            } else if end > lines {
                let help = "lines count from 0: operations of a text, calls of a program with functions";
                Some((format!("ends behind the text, which has {lines} lines"), help))
            } else if let Some(before) = before.filter(|before| {
                (before.lines.start, std::cmp::Reverse(before.lines.end)) > (start, std::cmp::Reverse(end))
            }) {
                let help = "list regions by their first line, and the outer one first";
                Some((
                    format!("comes after the region `{}`, which begins later or is inside", before.name),
                    help,
                ))
            } else if let Some(around) = around.filter(|around| around.lines.end < end) {
                let Range { start, end } = around.lines;
                let reason = format!("overlaps the region `{}` of the lines {start} to {end}", around.name);
                Some((reason, "two regions are disjoint, or one contains the other"))
            } else {
                None
            };
            if let Some((reason, help)) = fault {
                return Err(RegionFault { index, name: name.clone(), lines: start..end, reason, help });
            }
            parents.push(open.last().copied());
            open.push(RegionIndex(index as u32));
        }
        Ok(Self { list, parents })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All regions, in order.
    pub fn as_slice(&self) -> &[Region] {
        &self.list
    }

    /// All regions, in order.
    pub fn into_vec(self) -> Vec<Region> {
        self.list
    }

    /// The region with an index.
    ///
    /// # Panics
    /// Panics if `index` is of other regions.
    pub fn get(&self, index: RegionIndex) -> &Region {
        &self.list[index.index()]
    }

    /// The innermost region around a region.
    ///
    /// # Panics
    /// Panics if `index` is of other regions.
    pub fn parent(&self, index: RegionIndex) -> Option<RegionIndex> {
        self.parents[index.index()]
    }

    /// The regions with a line, the outermost first.
    pub fn path(&self, line: usize) -> Vec<RegionIndex> {
        let mut path: Vec<_> =
            std::iter::successors(self.innermost(line), |&index| self.parent(index)).collect();
        path.reverse();
        path
    }

    /// The innermost region with a line.
    pub fn innermost(&self, line: usize) -> Option<RegionIndex> {
        let begun = self.list.partition_point(|region| region.lines.start <= line);
        let last = RegionIndex(begun.checked_sub(1)? as u32);
        // The last region that has begun is the innermost one, or is inside it.
        std::iter::successors(Some(last), |&index| self.parent(index))
            .find(|&index| self.get(index).lines.end > line)
    }

    /// The names of a region and of those around it.
    ///
    /// # Panics
    /// Panics if `index` is of other regions.
    pub fn owner(&self, index: RegionIndex) -> Owner<'_> {
        let mut owner = Owner::default();
        for index in std::iter::successors(Some(index), |&index| self.parent(index)) {
            let Region { kind, name, .. } = self.get(index);
            match kind {
                RegionKind::Stage => owner.stages.push(name),
                RegionKind::Operation => owner.operations.push(name),
            }
        }
        owner.stages.reverse();
        owner.operations.reverse();
        owner
    }

    /// All `lines` lines of the text in order, each range with its innermost region.
    pub fn segments(&self, lines: usize) -> impl Iterator<Item = (Range<usize>, Option<RegionIndex>)> + '_ {
        let (mut at, mut next) = (0, 0);
        std::iter::from_fn(move || {
            if at >= lines {
                return None;
            }
            while self.list.get(next).is_some_and(|region| region.lines.start <= at) {
                next += 1;
            }
            let innermost = self.innermost(at);
            let end = innermost.map_or(lines, |index| self.get(index).lines.end);
            let end = self.list.get(next).map_or(end, |region| region.lines.start.min(end));
            let segment = (std::mem::replace(&mut at, end)..end, innermost);
            Some(segment)
        })
    }
}

/// Regions under construction: each begins and ends where the text is at that time.
#[derive(Clone, Default, Debug)]
pub struct RegionWriter {
    list: Vec<Region>,
    open: Vec<usize>,
}

impl RegionWriter {
    /// Begins a region inside those that are open. `line` is the number of lines so far.
    pub fn begin(&mut self, kind: RegionKind, name: impl Into<Arc<str>>, line: usize) {
        self.open.push(self.list.len());
        self.list.push(Region { lines: line..line, kind, name: name.into() });
    }

    /// Ends the innermost open region. One without lines is left out.
    ///
    /// # Panics
    /// Panics if none is open.
    pub fn end(&mut self, line: usize) {
        let index = self.open.pop().expect("a region is open");
        self.list[index].lines.end = line;
        if self.list[index].lines.is_empty() {
            // Those inside it were empty too.
            self.list.truncate(index);
        }
    }

    /// The number of open regions.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The regions, those that are open ended at the last of `lines` lines.
    ///
    /// # Panics
    /// Panics if a region was begun or ended behind `lines`, or not in order.
    pub fn finish(mut self, lines: usize) -> Regions {
        while !self.open.is_empty() {
            self.end(lines);
        }
        Regions::new(self.list, lines).expect("regions were begun and ended in the order of lines")
    }
}

impl RingProgram {
    /// The regions of the program's own lines; see [the module](crate::region).
    pub fn regions(&self) -> &Regions {
        &self.regions
    }

    /// The lines of the program's own text: operations, or calls as written.
    pub fn own_lines(&self) -> usize {
        fn calls(steps: &[Step]) -> usize {
            let calls = |step: &Step| match step {
                Step::Call(_) => 1,
                Step::Repeat(_, steps) => calls(steps),
            };
            steps.iter().map(calls).sum()
        }
        self.operations.len() + calls(&self.steps)
    }

    /// Replaces the regions of the program's own lines, or of a function's.
    ///
    /// # Errors
    /// Returns the first region that the text cannot have.
    ///
    /// # Panics
    /// Panics if `function` is of another program that has more functions.
    pub fn set_regions(
        &mut self,
        function: Option<FunctionIndex>,
        regions: Vec<Region>,
    ) -> Result<(), RegionFault> {
        let text = match function {
            None => self,
            Some(function) => &mut self.functions[function.index()].body,
        };
        text.regions = Regions::new(regions, text.own_lines())?;
        Ok(())
    }

    /// The regions of the [expansion](Self::flat). Calls of one region that follow each other are in one
    /// region.
    pub(crate) fn flat_regions(&self) -> Regions {
        let (mut writer, mut line) = (RegionWriter::default(), 0);
        let mut open: Vec<RegionIndex> = Vec::new();
        for (call, written) in self.written_calls() {
            let path = self.regions.path(written);
            let common = open.iter().zip(&path).take_while(|(open, new)| open == new).count();
            open.drain(common..).for_each(|_| writer.end(line));
            for &index in &path[common..] {
                let Region { kind, name, .. } = self.regions.get(index);
                writer.begin(*kind, name.clone(), line);
            }
            open = path;
            let body = self.function(call.function).body();
            // The writer ends the last one first; each has an end of its own.
            let inner = body.regions.as_slice();
            for Region { lines, kind, name } in inner {
                writer.begin(*kind, name.clone(), line + lines.start);
            }
            inner.iter().rev().for_each(|region| writer.end(line + region.lines.end));
            line += body.operations.len();
        }
        writer.finish(line)
    }
}
