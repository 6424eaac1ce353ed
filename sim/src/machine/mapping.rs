//! The sizes of vectors and words, the SRAM of a vector register, and the bank of a word.

use super::{BankMapping, Machine, Placement};
use b512_asm::reg::REGISTERS;
use b512_asm::{Isa, VReg};

/// SRAMs in a slice of the vector register file.
pub const SRAMS: usize = 16;

impl Machine {
    /// The vector length and the word width of the machine's programs.
    ///
    /// # Panics
    /// Panics if the keys have invalid values. Machines from files do not.
    pub fn instruction_set(&self) -> Isa {
        match Isa::new(self.isa.vector_length, self.isa.word_bits) {
            Ok(isa) => isa,
            Err(_) => panic!("the machine has not been checked"),
        }
    }

    /// Elements of a vector register.
    pub fn vector_length(&self) -> u32 {
        self.isa.vector_length
    }
}

impl Placement {
    /// The SRAM, 0 to 15, that holds a register.
    #[inline]
    pub fn sram(self, reg: VReg) -> u8 {
        match self {
            Self::Mod => (reg.index() % SRAMS) as u8,
            Self::Div => (reg.index() / (REGISTERS / SRAMS)) as u8,
        }
    }

    /// The register in the SRAM that `reg` has under another placement. A program with its registers renamed
    /// so takes the same cycles under both.
    pub fn rename(self, reg: VReg, other: Self) -> VReg {
        const ROWS: usize = REGISTERS / SRAMS;
        let reg = reg.index();
        VReg::at(match (other, self) {
            (Self::Mod, Self::Mod) | (Self::Div, Self::Div) => reg,
            (Self::Mod, Self::Div) => reg % SRAMS * ROWS + reg / SRAMS,
            (Self::Div, Self::Mod) => reg % ROWS * SRAMS + reg / ROWS,
        })
    }
}

impl BankMapping {
    /// The bank, below `banks`, that holds a word of the VDM. `banks` is a power of two.
    pub fn bank(self, word: u32, banks: u32) -> usize {
        let bits = banks.trailing_zeros();
        let folded = match self {
            Self::Interleaved => word,
            Self::Xor if bits == 0 => 0,
            Self::Xor => {
                let (mut folded, mut rest) = (0, word);
                while rest != 0 {
                    folded ^= rest;
                    rest >>= bits;
                }
                folded
            }
        };
        (folded & (banks - 1)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_register_is_in_the_same_sram() {
        for (one, other) in [Placement::Mod, Placement::Div]
            .map(|one| [(one, Placement::Mod), (one, Placement::Div)])
            .concat()
        {
            let mut renamed: Vec<usize> = Vec::new();
            for reg in VReg::all() {
                let name = one.rename(reg, other);
                assert_eq!(one.sram(name), other.sram(reg));
                assert_eq!(other.rename(name, one), reg);
                renamed.push(name.index());
            }
            renamed.sort_unstable();
            assert!(renamed.into_iter().eq(0..REGISTERS));
        }
    }
}
