//! Errors of functional execution.

use crate::machine::FitError;
use b512_asm::reg::MAX_VDM_WORDS;
use b512_asm::{AReg, Feature, Instr, MReg, SReg, Space, VReg};
use diagnostic::counted;
use ring::modular::ModulusError;
use thiserror::Error;

/// A program that cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LoadError {
    /// The program does not fit the machine.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A word of a memory image that exceeds the word width.
    #[error("word {address} of the {} is {value:#x}, but the largest word is {max:#x} (`isa.word_bits`)", memory_name(*.space))]
    WordTooLarge {
        /// The memory.
        space: Space,
        /// The address of the word.
        address: u32,
        /// Its value.
        value: u128,
        /// The largest word.
        max: u128,
    },
    /// An initial modulus that exceeds the word width.
    #[error(
        "launch value {value:#x} for {register} is too large: the largest word is {max:#x} (`isa.word_bits`)"
    )]
    ModulusTooLarge {
        /// The register.
        register: MReg,
        /// Its value.
        value: u128,
        /// The largest word.
        max: u128,
    },
    /// An initial address that does not fit an address register.
    #[error("launch value {value} for {register} is too large: addresses are below {MAX_VDM_WORDS}")]
    AddressTooLarge {
        /// The register.
        register: AReg,
        /// Its value.
        value: u32,
    },
    /// An invalid initial modulus.
    #[error("invalid launch value for {register}: {source}")]
    Modulus {
        /// The register.
        register: MReg,
        /// The reason.
        source: ModulusError,
    },
}

/// A symbol that cannot be read or written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum AccessError {
    /// A symbol that the program does not declare.
    #[error("unknown symbol `{symbol}`; the program has: {}", known.join(", "))]
    UnknownSymbol {
        /// The name.
        symbol: String,
        /// The program's symbols.
        known: Vec<String>,
    },
    /// Data whose length differs from the symbol's.
    #[error("symbol `{symbol}` has {}, but {given} were given", counted(*words, "word", "words"))]
    Length {
        /// The name.
        symbol: String,
        /// The words of the symbol.
        words: usize,
        /// The number of words given.
        given: usize,
    },
    /// A word that exceeds the word width.
    #[error(
        "word {index} of symbol `{symbol}` is {value:#x}, but the largest word is {max:#x} (`isa.word_bits`)"
    )]
    WordTooLarge {
        /// The symbol's name.
        symbol: String,
        /// The index of the word in the symbol.
        index: usize,
        /// Its value.
        value: u128,
        /// The largest word.
        max: u128,
    },
}

/// A run that stopped at a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("instruction {index}, `{instr}`: {fault}")]
pub struct ExecuteError {
    /// The index of the instruction.
    pub index: usize,
    /// The instruction.
    pub instr: Instr,
    /// The fault.
    pub fault: Fault,
}

/// The reason why an instruction cannot execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// A vector load or store beyond the VDM.
    #[error("accesses words {first} to {last}, but the VDM has {words} words")]
    OutsideVdm {
        /// The first word that it accesses.
        first: u32,
        /// The last word that it accesses.
        last: u32,
        /// Words of the VDM.
        words: usize,
    },
    /// A scalar load beyond the SDM.
    #[error("reads word {word}, but the SDM has {words} words")]
    OutsideSdm {
        /// The word that it reads.
        word: u32,
        /// Words of the SDM.
        words: usize,
    },
    /// A modulus register that has not been set.
    #[error("{register} has no modulus: set it before the start or with `mload`")]
    ModulusUnset {
        /// The register.
        register: MReg,
    },
    /// An invalid modulus, loaded into a modulus register.
    #[error("invalid modulus for {register}: {source}")]
    Modulus {
        /// The register.
        register: MReg,
        /// The reason.
        source: ModulusError,
    },
    /// An invalid address, loaded into an address register.
    #[error("{register} cannot hold {value}: addresses are below {MAX_VDM_WORDS}")]
    AddressTooLarge {
        /// The register.
        register: AReg,
        /// The value.
        value: u128,
    },
    /// A vector operand of a compute instruction with a lane that is not reduced.
    #[error(
        "lane {lane} of {register} is {value:#x}, which is not below {modulus:#x}, the modulus in {modulus_register}"
    )]
    LaneNotBelowModulus {
        /// The operand.
        register: VReg,
        /// The first lane that is too large.
        lane: usize,
        /// Its value.
        value: u128,
        /// The instruction's modulus register.
        modulus_register: MReg,
        /// The modulus.
        modulus: u128,
    },
    /// A multiplicand with a lane that is not reduced, on a machine that requires reduced ones.
    #[error(
        "lane {lane} of the multiplicand {register} is {value:#x}, which is not below {modulus:#x}, the modulus in \
         {modulus_register}; `law.operands = \"word\"` accepts it"
    )]
    MultiplicandNotBelowModulus {
        /// The operand.
        register: VReg,
        /// The first lane that is too large.
        lane: usize,
        /// Its value.
        value: u128,
        /// The instruction's modulus register.
        modulus_register: MReg,
        /// The modulus.
        modulus: u128,
    },
    /// A scalar operand of a compute instruction that is not reduced.
    #[error("{register} is {value:#x}, which is not below {modulus:#x}, the modulus in {modulus_register}")]
    ScalarNotBelowModulus {
        /// The operand.
        register: SReg,
        /// Its value.
        value: u128,
        /// The instruction's modulus register.
        modulus_register: MReg,
        /// The modulus.
        modulus: u128,
    },
    /// An instruction of an extension that the machine does not implement.
    #[error("the machine lacks the extension (`isa.{0}`)")]
    Extension(Feature),
}

impl Fault {
    /// The same fault, for a multiplicand.
    pub(super) fn of_multiplicand(self) -> Self {
        if let Self::LaneNotBelowModulus { register, lane, value, modulus_register, modulus } = self {
            return Self::MultiplicandNotBelowModulus { register, lane, value, modulus_register, modulus };
        }
        self
    }
}

fn memory_name(space: Space) -> &'static str {
    match space {
        Space::Vdm => "VDM",
        Space::Sdm => "SDM",
    }
}
