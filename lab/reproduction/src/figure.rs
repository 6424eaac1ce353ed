//! A figure with its data.

use super::table::Table;

/// A reproduced figure of the paper.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Figure {
    /// Its number in the paper.
    pub number: u32,
    /// The caption: one sentence with numbers.
    pub caption: String,
    /// The drawing.
    pub drawing: plot::Figure,
    /// The data.
    pub table: Table,
}

impl Figure {
    /// The base name of its files.
    pub(super) fn name(&self) -> String {
        format!("fig{}", self.number)
    }
}
