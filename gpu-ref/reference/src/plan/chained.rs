//! Launches of [`Feature::Chained`].

use super::Plan;
use crate::device::{Argument, Kernel, Launch, Shape};
#[cfg(doc)]
use crate::recipe::Feature;
use crate::recipe::{CHAIN_BYTES, Pass};
use crate::{Batch, Layout, Word};

/// Most polynomials and limbs of a launch, so that their blocks fit a grid.
pub(super) const UNITS: usize = 1 << 16;

impl<W: Word> Plan<W> {
    /// A launch on some polynomials in place: of `data` and itself with one table, or of both factors of a
    /// product with both tables. The marks of the first factor count the blocks.
    pub(super) fn chained_launch<'a>(
        &'a self,
        kernel: &'a Kernel,
        data: [&Batch<W>; 2],
        tables: &[&Batch<W>],
        part: Layout,
    ) -> Launch<'a> {
        let factors = tables.len();
        // Steps over columns, and those behind the first.
        let (column_steps, behind) = if factors == 1 { (1, 1) } else { (3, 2) };
        let passes = self.recipe.passes();
        let [columns, rows] =
            [&passes[0], &passes[1]].map(|pass: &Pass| pass.blocks_each(self.recipe.log_n()));
        let count = part.count * self.moduli.len();
        let lag = (CHAIN_BYTES / ((size_of::<W>() * factors) << self.recipe.log_n())).max(1);
        let mut arguments: Vec<_> =
            data.iter().map(|batch| Argument::address(self.region(batch, part).start)).collect();
        arguments.extend(tables.iter().map(|table| table.pointer()));
        arguments.extend([self.constants.pointer(), self.rows(part)]);
        arguments.extend([part.count, count, lag].map(|number| Argument::from(number as u32)));
        arguments.push(data[0].marks_at(part.first));
        let writes = data[..factors].iter().map(|batch| self.region(batch, part)).collect();
        let shape = Shape {
            grid: [(column_steps * columns + rows) * (count + behind * lag) as u32, 1, 1],
            threads: passes[0].threads(),
            shared: self.recipe.shared_bytes(&passes[0]),
            mode: self.mode(),
        };
        debug_assert!(count <= UNITS);
        Launch { kernel, shape, arguments, reads: Vec::new(), writes, workspace: None }
    }
}
