//! The check that a program fits a machine.

use super::Machine;
use b512_asm::{Feature, Program, Space};
use thiserror::Error;

/// The reason why a program cannot run on a machine.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FitError {
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
         (`vdm.size_mib`, 65,536 words a MiB; `sdm.size_kib`, 64 words a KiB)"
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
