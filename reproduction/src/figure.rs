//! A figure with its data.

use super::table::Table;

/// A figure of the paper, made again.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Figure {
    /// Its number in the paper.
    pub number: u32,
    /// What it shows, in one sentence of numbers.
    pub caption: String,
    /// The drawing.
    pub drawing: plot::Figure,
    /// The data.
    pub table: Table,
}

impl Figure {
    /// The name of its files, without their endings.
    pub(super) fn name(&self) -> String {
        format!("fig{}", self.number)
    }
}
