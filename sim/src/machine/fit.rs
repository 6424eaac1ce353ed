//! The check that a program fits a machine.

use super::{Machine, schema};
use b512_asm::{Feature, FeatureSet, Isa, Program, Space};
use thiserror::Error;

/// The reason why a program cannot run on a machine.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FitError {
    /// Another vector length or word width.
    #[error(
        "the program is for vectors of {} words of {} bits, but the machine has vectors of {} words of {} bits; \
         set `isa.vector_length` to {} and `isa.word_bits` to {}",
        needed.vector_length(), needed.word_bits(), available.vector_length(), available.word_bits(),
        needed.vector_length(), needed.word_bits()
    )]
    InstructionSet {
        /// Vector length and word width of the program.
        needed: Isa,
        /// Vector length and word width of the machine.
        available: Isa,
    },
    /// More instructions than the instruction memory holds.
    #[error(
        "the program has {needed} instructions, but the instruction memory holds {capacity}; \
         {}", at_least(&[("frontend.instruction_memory_kib", needed.div_ceil(INSTRUCTIONS_PER_KIB) as u64)])
    )]
    Instructions {
        /// Instructions of the program.
        needed: usize,
        /// Instructions that fit.
        capacity: usize,
    },
    /// Data beyond the end of a memory.
    #[error(
        "the program needs {needed} words of the {memory}, but the machine has {capacity}; {}",
        larger(*memory, *needed, *isa)
    )]
    Data {
        /// The memory.
        memory: Space,
        /// One past the last word that the program names.
        needed: u64,
        /// Words of the memory.
        capacity: u32,
        /// Vector length and word width of the machine.
        isa: Isa,
    },
    /// An instruction of an extension that the machine lacks.
    #[error("instruction {index}, `{mnemonic}`, needs an extension that the machine lacks (`isa.{feature}`)")]
    Extension {
        /// Index of the instruction in the program.
        index: usize,
        /// Its name.
        mnemonic: &'static str,
        /// The extension.
        feature: Feature,
    },
}

/// Instructions in a KiB of the instruction memory.
pub(super) const INSTRUCTIONS_PER_KIB: usize = 128;

/// The setting that makes a memory large enough.
fn larger(memory: Space, words: u64, isa: Isa) -> String {
    let bytes = isa.bytes(words);
    at_least(&[match memory {
        Space::Vdm => ("vdm.size_mib", bytes.div_ceil(1 << 20)),
        Space::Sdm => ("sdm.size_kib", bytes.div_ceil(1 << 10)),
    }])
}

/// The remedy for a machine that has too little: the least values of these keys that suffice together. If a
/// key takes no such value, there is no such machine.
pub fn at_least(values: &[(&str, u64)]) -> String {
    let beyond = values.iter().find_map(|&(path, value)| {
        let most = schema::find(path)?.kind.most().filter(|&most| value > most)?;
        Some(format!("no machine has as much: `{path}` is at most {most}"))
    });
    let settings = values.iter().map(|(path, value)| format!("`{path}` to {value} or more"));
    beyond.unwrap_or_else(|| format!("set {}", settings.collect::<Vec<_>>().join(" and ")))
}

/// The parts of a machine that limit the programs that it can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resources {
    /// Lanes and word width.
    pub isa: Isa,
    /// Extensions of the instruction set.
    pub features: FeatureSet,
    /// Instructions that the instruction memory holds.
    pub instructions: usize,
    /// Words of the VDM.
    pub vdm_words: u32,
    /// Words of the SDM.
    pub sdm_words: u32,
}

impl Machine {
    /// Checks that a program fits the machine's vectors, memories and instruction set.
    ///
    /// # Errors
    /// Returns the first mismatch, with the sizes that are needed and available.
    pub fn check_fits(&self, program: &Program) -> Result<(), FitError> {
        self.resources().check(program)
    }

    /// What limits the programs that the machine can run.
    pub fn resources(&self) -> Resources {
        Resources {
            isa: self.instruction_set(),
            features: self.features(),
            instructions: self.instruction_capacity(),
            vdm_words: self.vdm_words(),
            sdm_words: self.sdm_words(),
        }
    }
}

impl Resources {
    /// Whether every program that fits `others` fits these.
    pub(super) fn include(&self, others: &Self) -> bool {
        self.isa == others.isa
            && self.features.includes(others.features)
            && self.instructions >= others.instructions
            && self.vdm_words >= others.vdm_words
            && self.sdm_words >= others.sdm_words
    }

    pub(crate) fn check(&self, program: &Program) -> Result<(), FitError> {
        if program.isa != self.isa {
            return Err(FitError::InstructionSet { needed: program.isa, available: self.isa });
        }
        let (needed, capacity) = (program.instructions.len(), self.instructions);
        if needed > capacity {
            return Err(FitError::Instructions { needed, capacity });
        }
        for (memory, capacity) in [(Space::Vdm, self.vdm_words), (Space::Sdm, self.sdm_words)] {
            let image = program.image(memory);
            let symbols = program.symbols.iter().filter(|symbol| symbol.space == memory);
            let end = symbols.map(|symbol| u64::from(symbol.start) + u64::from(symbol.words)).max();
            let segments = image.segments.iter();
            let image_end =
                segments.map(|segment| u64::from(segment.start) + segment.words.len() as u64).max();
            let needed = end.max(image_end).unwrap_or(0);
            if needed > u64::from(capacity) {
                return Err(FitError::Data { memory, needed, capacity, isa: self.isa });
            }
        }
        for (index, instr) in program.instructions.iter().enumerate() {
            let info = instr.op().info();
            if let Some(feature) = info.feature.filter(|&feature| !self.features.contains(feature)) {
                return Err(FitError::Extension { index, mnemonic: info.mnemonic, feature });
            }
        }
        Ok(())
    }
}
