//! Errors of this crate. Errors of parameter sets are diagnostics, since they have a location in a file.

use crate::scale::Scale;
use thiserror::Error;

/// Options that a program or a parameter set does not allow.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Error {
    /// The set has too few moduli for the level, or the level is 0.
    #[error("invalid level {level}: the set `{set}` has levels 1 to {levels}")]
    Level {
        /// The level.
        level: usize,
        /// The name of the set.
        set: String,
        /// The largest level.
        levels: usize,
    },
    /// Nothing is left after a rescale.
    #[error("`{program}` at level 1 has no modulus to drop; the lowest level is 2")]
    NothingToDrop {
        /// The name of the program.
        program: &'static str,
    },
    /// A sum of ciphertexts with different scales.
    #[error(
        "the {operation} of `{program}` has operands of the scales {} and {}: multiply one of them by their quotient first",
        scales[0], scales[1]
    )]
    Scales {
        /// The name of the program.
        program: &'static str,
        /// The operation.
        operation: &'static str,
        /// The scales of its operands.
        scales: Box<[Scale; 2]>,
    },
    /// A bootstrap without parameters.
    #[error("the set `{set}` has no bootstrap")]
    NoBootstrap {
        /// The name of the set.
        set: String,
    },
    /// Too few moduli for a program.
    #[error(
        "the set `{set}` has no room for `{program}` at level {level}: it uses up {} moduli and must leave {left}",
        needed - left
    )]
    NoRoom {
        /// The name of the set.
        set: String,
        /// The name of the program.
        program: &'static str,
        /// The lowest level.
        needed: usize,
        /// The moduli that must be left.
        left: usize,
        /// The level.
        level: usize,
    },
    /// Slots that a bootstrap cannot have.
    #[error(
        "invalid number of slots {slots}: the bootstrap of this set takes a power of two from {least} to {most}"
    )]
    PackedSlots {
        /// The slots.
        slots: usize,
        /// The fewest, so that each matrix has a stage.
        least: usize,
        /// n/2.
        most: usize,
    },
    /// Too few slots for a program.
    #[error("`{program}` needs {needed} slots, but n = {} has {slots}", 2 * slots)]
    Slots {
        /// The name of the program.
        program: &'static str,
        /// The least number of slots.
        needed: usize,
        /// The slots of the set.
        slots: usize,
    },
    /// A row of data that does not fill the slots evenly.
    #[error("invalid number of features {features}: not a power of two up to {most}")]
    Features {
        /// The places of a row.
        features: usize,
        /// The slots.
        most: usize,
    },
    /// A program whose rescales cannot be left out.
    #[error("`{program}` needs its rescales")]
    NeedsRescales {
        /// The name of the program.
        program: &'static str,
    },
    /// The program does not have the option.
    #[error("`{program}` has no option `{option}`")]
    Option {
        /// The name of the program.
        program: &'static str,
        /// The name of the option.
        option: &'static str,
    },
    /// The level has too few moduli for the layers, or there are no layers.
    #[error(
        "invalid number of layers {layers}: each drops two moduli, so level {level} allows at most {most}"
    )]
    Layers {
        /// The layers.
        layers: usize,
        /// The moduli q in use.
        level: usize,
        /// The most layers.
        most: usize,
    },
    /// The network has no such number of convolutions.
    #[error("invalid number of layers {layers}: the network has {most} convolutions")]
    Convolutions {
        /// The layers.
        layers: usize,
        /// The most layers.
        most: usize,
    },
    /// The dataflow has no tiles.
    #[error("the dataflow `{dataflow}` has no tiles")]
    Tile {
        /// The name of the dataflow.
        dataflow: &'static str,
    },
    /// A rotation by zero slots, or by more than there are.
    #[error("invalid rotation {rotation}: not from 1 to {} in either direction", slots - 1)]
    Rotation {
        /// The slots to rotate by.
        rotation: i64,
        /// The number of slots, n/2.
        slots: u64,
    },
    /// The program makes one rotation.
    #[error("`{program}` makes one rotation, but {count} are given")]
    OneRotation {
        /// The name of the program.
        program: &'static str,
        /// The number of rotations.
        count: usize,
    },
}
