//! Errors of this crate. Errors of parameter sets are diagnostics, since they have a location in a file.

use crate::dataflow::DATAFLOWS;
use crate::program::all_options;
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
    #[error("the {operation} of `{program}` at level 1 has no modulus to drop; the lowest level is 2")]
    NothingToDrop {
        /// The name of the program.
        program: String,
        /// The operation.
        operation: &'static str,
    },
    /// An operand with too few moduli.
    #[error("the {operation} of `{program}` needs an operand of level {needed}, found level {level}")]
    TooLow {
        /// The name of the program.
        program: String,
        /// The operation.
        operation: &'static str,
        /// The level of the operand.
        level: usize,
        /// The lowest level that it may have.
        needed: usize,
    },
    /// A bootstrap of a message with another scale than the set's.
    #[error(
        "the bootstrap of `{program}` has an operand of the scale {}, messages have {}: rescale it first",
        scales[0], scales[1]
    )]
    BootstrapScale {
        /// The name of the program.
        program: String,
        /// The operand's scale, and the set's.
        scales: Box<[Scale; 2]>,
    },
    /// A second input or output of one name.
    #[error("`{program}` has a second {what} `{name}`")]
    Name {
        /// The name of the program.
        program: String,
        /// Input or output.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A polynomial that is a constant.
    #[error("the polynomial of `{program}` is a constant: its degree must be at least 1")]
    Degree {
        /// The name of the program.
        program: String,
    },
    /// A polynomial whose evaluation is beyond double precision.
    #[error("the coefficients of the polynomial of `{program}` add up to more than double precision holds")]
    Coefficients {
        /// The name of the program.
        program: String,
    },
    /// A linear transform without a diagonal, or with one of another number of slots.
    #[error("the linear transform `{name}` of `{program}` {reason}")]
    Matrix {
        /// The name of the program.
        program: String,
        /// The name of the transform.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A sum of ciphertexts with different scales.
    #[error(
        "the {operation} of `{program}` has operands of the scales {} and {}: multiply one of them by their quotient first",
        scales[0], scales[1]
    )]
    Scales {
        /// The name of the program.
        program: String,
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
    /// A bootstrap that computes nothing with the set's parameters, or with those that options replace.
    #[error("the bootstrap of the set `{set}`: {reason}")]
    Bootstrap {
        /// The name of the set.
        set: String,
        /// The option at fault, if one is given.
        option: &'static str,
        /// What is wrong.
        reason: Box<str>,
        /// What would be right.
        remedy: Box<str>,
    },
    /// Levels that a bootstrap cannot leave.
    #[error("invalid number of levels {left} after a bootstrap: the set `{set}` leaves 1 to {most}")]
    LevelsOut {
        /// The name of the set.
        set: String,
        /// The levels.
        left: usize,
        /// The most levels.
        most: usize,
    },
    /// Levels after a bootstrap of which the moduli of messages cannot be left out.
    #[error(
        "a bootstrap of the set `{set}` cannot leave {left} levels: the level has other terminal moduli than the highest of messages"
    )]
    LevelBetween {
        /// The set.
        set: String,
        /// The levels.
        left: usize,
    },
    /// A digit that is larger than P once moduli are left out.
    #[error("the set `{set}` has a digit above P if a bootstrap leaves {left} levels")]
    LargeDigit {
        /// The name of the set.
        set: String,
        /// The levels.
        left: usize,
    },
    /// A program with too many lines, or with calls of too many.
    #[error("`{program}` is too long: {reason}")]
    TooLong {
        /// The name of the program.
        program: String,
        /// What is too much.
        reason: String,
    },
    /// Too few levels for a program.
    #[error(
        "the set `{set}` has no room for `{program}` at level {level}: it uses up {} levels and must leave {left}",
        needed - left
    )]
    NoRoom {
        /// The name of the set.
        set: String,
        /// The name of the program.
        program: String,
        /// The lowest level.
        needed: usize,
        /// The levels that must be left.
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
        program: String,
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
    /// A bootstrap of fewer slots than a row of data has: it would add up weights.
    #[error(
        "`{program}` with bootstraps of {slots} slots would add up weights: a row has {features} features"
    )]
    FewSlots {
        /// The name of the program.
        program: String,
        /// The slots of a bootstrap.
        slots: usize,
        /// The places of a row.
        features: usize,
    },
    /// A program of CKKS for a set of BGV.
    #[error("`{program}` is of CKKS, and the set `{set}` of BGV: it has `plaintext_modulus = {t}`")]
    Bgv {
        /// The name of the program.
        program: String,
        /// The name of the set.
        set: String,
        /// The plaintext modulus, of up to 64 bits as in the schema of sets.
        t: u64,
    },
    /// A level of BGV whose moduli do not hold a plaintext.
    #[error(
        "the moduli of level {level} have a product of 2^{bits}, and the plaintext modulus of the set `{set}` is {t}"
    )]
    Plaintexts {
        /// The name of the set.
        set: String,
        /// The level of an input or of an output.
        level: usize,
        /// log2 of the product of its moduli, rounded down.
        bits: u64,
        /// The plaintext modulus, of up to 64 bits as in the schema of sets.
        t: u64,
    },
    /// A program whose rescales cannot be left out.
    #[error("`{program}` needs its rescales")]
    NeedsRescales {
        /// The name of the program.
        program: String,
    },
    /// The program does not have the option.
    #[error("`{program}` has no option `{option}`")]
    Option {
        /// The name of the program.
        program: String,
        /// The name of the option.
        option: String,
    },
    /// The option does not have the value.
    #[error("invalid value for `{option}`: {reason}")]
    OptionValue {
        /// The name of the option.
        option: String,
        /// What is wrong.
        reason: String,
    },
    /// An option that changes nothing.
    #[error("`{option}` has no effect: `{program}` {reason}")]
    NoEffect {
        /// The name of the program.
        program: String,
        /// The name of the option.
        option: &'static str,
        /// What the program lacks.
        reason: &'static str,
    },
    /// A program with the name of another one.
    #[error("a second program `{program}`: choose another name")]
    KnownProgram {
        /// The name of the program.
        program: String,
    },
    /// A program that was added too late.
    #[error("the program `{program}` is added after programs were added or used: add all at once, first")]
    LateProgram {
        /// The name of the program.
        program: String,
    },
    /// The level has too few moduli for the layers, or there are no layers.
    #[error(
        "invalid number of layers {layers}: each uses up two levels, so level {level} allows at most {most}"
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
        program: String,
        /// The number of rotations.
        count: usize,
    },
}

impl Error {
    /// The options at fault, the most likely first: `set` and `n` are those of the parameter set. None of a
    /// circuit's operations.
    pub fn options(&self) -> Vec<&str> {
        match self {
            Self::Level { .. } | Self::TooLow { .. } | Self::Plaintexts { .. } => vec!["level"],
            Self::NothingToDrop { .. } => vec!["level", "rescale"],
            Self::Layers { .. } => vec!["layers", "level"],
            Self::Convolutions { .. } => vec!["layers"],
            Self::TooLong { .. } => vec!["rotations", "iterations", "blocks", "layers"],
            Self::Tile { .. } => vec!["tile", "dataflow"],
            Self::Rotation { .. } | Self::OneRotation { .. } => vec!["rotations"],
            Self::NoBootstrap { .. } | Self::Bgv { .. } => vec!["set"],
            Self::Bootstrap { option, .. } => vec![option, "set"],
            Self::NoRoom { .. } => vec!["level", "levels_out", "set"],
            Self::Slots { .. } => vec!["n", "set"],
            Self::PackedSlots { .. } => vec!["slots"],
            Self::LevelsOut { .. } | Self::LevelBetween { .. } | Self::LargeDigit { .. } => {
                vec!["levels_out"]
            }
            Self::Features { .. } => vec!["features"],
            Self::NoEffect { option, .. } => vec![option],
            Self::FewSlots { .. } => vec!["slots", "features"],
            Self::NeedsRescales { .. } => vec!["rescale"],
            Self::Option { option, .. } | Self::OptionValue { option, .. } => vec![option],
            Self::Scales { .. }
            | Self::BootstrapScale { .. }
            | Self::Name { .. }
            | Self::Degree { .. }
            | Self::Coefficients { .. }
            | Self::Matrix { .. }
            | Self::KnownProgram { .. }
            | Self::LateProgram { .. } => Vec::new(),
        }
    }

    /// What would be right. `option` writes the name of an option as users do: `--level`.
    pub fn help(&self, option: impl Fn(&str) -> String) -> String {
        match self {
            Self::Level { .. } => format!("leave {} out, or choose a level of the set", option("level")),
            Self::NothingToDrop { program, .. } if program == "hmult" => {
                format!("choose a higher {}, or {} none", option("level"), option("rescale"))
            }
            Self::NothingToDrop { .. } | Self::TooLow { .. } => format!("choose a higher {}", option("level")),
            Self::Option { option: name, .. } => {
                let all = all_options();
                match all.iter().find(|(spec, _)| spec.name == name) {
                    Some((_, programs)) => format!("{} is for {}", option(name), programs.join(", ")),
                    None => "`rpu gen program --list` has all options".to_owned(),
                }
            }
            Self::Convolutions { .. } => format!("choose fewer {}, at least 1", option("layers")),
            Self::Layers { .. } => {
                format!("choose fewer {}, or a higher {}", option("layers"), option("level"))
            }
            Self::TooLong { .. } => {
                let [rotations, iterations, blocks, layers] =
                    ["rotations", "iterations", "blocks", "layers"].map(option);
                format!("choose fewer {rotations}, {iterations}, {blocks} or {layers}")
            }
            Self::Tile { .. } => {
                let with: Vec<_> =
                    DATAFLOWS.iter().filter(|flow| flow.has_tiles).map(|flow| flow.name).collect();
                format!("{} is for the dataflow {}", option("tile"), with.join(" or "))
            }
            Self::Rotation { .. } => "give other rotations, such as 1,2,-3".to_owned(),
            Self::OneRotation { .. } => "give one number, or use hoisted-rotations".to_owned(),
            Self::NoBootstrap { .. } => {
                "choose a set with a bootstrap, such as lattigo-n16qp1546, or add the table [bootstrap] to its file"
                    .to_owned()
            }
            Self::Bootstrap { remedy, .. } => remedy.to_string(),
            Self::Plaintexts { .. } => {
                format!("choose a higher {}, or a set with a smaller `plaintext_modulus`", option("level"))
            }
            Self::Bgv { .. } => "choose another set, or leave `plaintext_modulus` out of its file".to_owned(),
            Self::NoRoom { needed, .. } => format!("choose a {} of at least {needed}", option("level")),
            Self::Slots { needed, .. } => format!("choose a ring degree of at least {}", 2 * needed),
            Self::PackedSlots { .. } => format!("choose other {}", option("slots")),
            Self::LevelsOut { .. } | Self::LevelBetween { .. } | Self::LargeDigit { .. } => {
                format!("choose other {}", option("levels_out"))
            }
            Self::NoEffect { option: name, .. } => format!("leave {} out", option(name)),
            Self::Features { .. } => format!("choose other {}", option("features")),
            Self::FewSlots { features, .. } => {
                format!("choose {} of at least {features}, or fewer {}", option("slots"), option("features"))
            }
            Self::NeedsRescales { .. } => format!("choose {} merged or separate", option("rescale")),
            Self::OptionValue { .. } => "`rpu gen program --list` has the values of options".to_owned(),
            Self::Scales { .. }
            | Self::BootstrapScale { .. }
            | Self::Name { .. }
            | Self::Degree { .. }
            | Self::Coefficients { .. }
            | Self::Matrix { .. }
            | Self::KnownProgram { .. }
            | Self::LateProgram { .. } => "the generator is wrong: report it".to_owned(),
        }
    }
}
