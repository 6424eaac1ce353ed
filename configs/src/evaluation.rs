//! The sweeps of a figure of the paper: one for the paper's program on the machine that reproduces it, one
//! for our fastest program on the machine that the paper describes.

use crate::File;

/// Fig. 4 to 6.
pub const DESIGNS: &[File] = &[file!("sweeps", "paper-fig4"), file!("sweeps", "best-fig4")];
/// Fig. 7; the paper's program only.
pub const UNOPTIMISED: &[File] = &[file!("sweeps", "paper-fig7")];
/// Fig. 8.
pub const MULTIPLIERS: &[File] = &[file!("sweeps", "paper-fig8"), file!("sweeps", "best-fig8")];
/// Fig. 9.
pub const CROSSBARS: &[File] = &[file!("sweeps", "paper-fig9"), file!("sweeps", "best-fig9")];
/// Fig. 10.
pub const RINGS: &[File] = &[file!("sweeps", "paper-fig10"), file!("sweeps", "best-fig10")];
