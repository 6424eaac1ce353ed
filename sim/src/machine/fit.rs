//! The check that a program fits a machine.

use super::Machine;
use b512_asm::{Feature, Isa, Program, Space};
use thiserror::Error;

/// The reason why a program cannot run on a machine.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FitError {
    /// Another vector length or word width.
    #[error(
        "the program is for vectors of {} words of {} bits, the machine has vectors of {} words of {} bits \
         (`isa.vector_length`, `isa.word_bits`)",
        needed.vector_length(), needed.word_bits(), available.vector_length(), available.word_bits()
    )]
    InstructionSet {
        /// Vector length and word width of the program.
        needed: Isa,
        /// Those of the machine.
        available: Isa,
    },
    /// More instructions than the instruction memory holds.
    #[error(
        "the program has {needed} instructions, the instruction memory holds {capacity} \
         (`frontend.instruction_memory_kib`, 128 instructions a KiB)"
    )]
    Instructions {
        /// Instructions of the program.
        needed: usize,
        /// Instructions that fit.
        capacity: usize,
    },
    /// Data beyond the end of a memory.
    #[error(
        "the program's data takes {needed} words of the {memory}, which has {capacity} \
         (`vdm.size_mib`, `sdm.size_kib`, `isa.word_bits`)"
    )]
    Data {
        /// `VDM` or `SDM`.
        memory: &'static str,
        /// One past the last word that the program names.
        needed: u64,
        /// Words of the memory.
        capacity: u32,
    },
    /// An instruction of an extension that the machine does not have.
    #[error("instruction {index}, `{mnemonic}`, is an extension that the machine lacks (`isa.{feature}`)")]
    Extension {
        /// Index of the instruction in the program.
        index: usize,
        /// Its name.
        mnemonic: &'static str,
        /// The extension.
        feature: Feature,
    },
}

impl Machine {
    /// Whether a program fits the machine's memories and instruction set.
    ///
    /// # Errors
    /// Returns the first mismatch, with the sizes that are needed and available.
    pub fn check_fits(&self, program: &Program) -> Result<(), FitError> {
        if program.isa != self.instruction_set() {
            return Err(FitError::InstructionSet { needed: program.isa, available: self.instruction_set() });
        }
        let (needed, capacity) = (program.instructions.len(), self.instruction_capacity());
        if needed > capacity {
            return Err(FitError::Instructions { needed, capacity });
        }
        for (memory, space, image, capacity) in [
            ("VDM", Space::Vdm, &program.vdm, self.vdm_words()),
            ("SDM", Space::Sdm, &program.sdm, self.sdm_words()),
        ] {
            let symbols = program.symbols.iter().filter(|symbol| symbol.space == space);
            let end = symbols.map(|symbol| u64::from(symbol.start) + u64::from(symbol.words)).max();
            let needed = end.unwrap_or(0).max(image.end().into());
            if needed > u64::from(capacity) {
                return Err(FitError::Data { memory, needed, capacity });
            }
        }
        let features = self.features();
        for (index, instr) in program.instructions.iter().enumerate() {
            let info = instr.op().info();
            if let Some(feature) = info.feature.filter(|&feature| !features.contains(feature)) {
                return Err(FitError::Extension { index, mnemonic: info.mnemonic, feature });
            }
        }
        Ok(())
    }
}
