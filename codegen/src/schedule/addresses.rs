//! The memory map, and instructions that refer to it.

use crate::code::{Code, ConstantId, Inst, MemRef, ScalarId};
use arrayvec::ArrayVec;
use b512_asm::{AReg, Direction, Instr, MReg, Offset, Operand, OperandKind, SReg, VReg};
use thiserror::Error;

/// A scheduling error.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ScheduleError {
    /// A word offset exceeds the address field of the instruction.
    #[error(
        "a load or store at word {0} of its buffer or of the SDM does not fit the 20 bits of the address field"
    )]
    Offset(u32),
}

/// The memory map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// The address register of each buffer, by buffer index.
    pub buffers: Vec<AReg>,
    /// The address register of the table of constants.
    pub table: AReg,
    /// The table's word of each constant, by constant index.
    pub constants: Vec<u32>,
    /// The address register of the spill memory.
    pub spills: AReg,
    /// The modulus register of each tower, by tower index; `None` if the code needs no moduli.
    pub moduli: Vec<Option<MReg>>,
    /// The word of the SDM of each scalar, by scalar index.
    pub scalars: Vec<u32>,
}

impl Addresses {
    /// An instruction of the code with the registers of its vector operands, in operand order, and of its
    /// scalar.
    ///
    /// # Errors
    /// Returns an error if a buffer is too large for the address field.
    ///
    /// # Panics
    /// Panics if there are too few registers.
    pub(crate) fn instr(
        &self,
        inst: &Inst,
        sources: &[VReg],
        results: &[VReg],
        scalar: Option<SReg>,
    ) -> Result<Instr, ScheduleError> {
        let (mut sources, mut results) = (sources.iter(), results.iter());
        let mut operands: ArrayVec<Operand, 6> = ArrayVec::new();
        for spec in inst.op.info().operands {
            operands.push(match (spec.kind, spec.direction) {
                (OperandKind::VReg, Direction::Write) => {
                    Operand::VReg(*results.next().expect("one per result"))
                }
                (OperandKind::VReg, _) => Operand::VReg(*sources.next().expect("one per source")),
                (OperandKind::SReg, _) => Operand::SReg(scalar.expect("one per scalar operand")),
                (OperandKind::MReg, _) => {
                    Operand::MReg(self.moduli[inst.tower.index()].expect("one per tower with arithmetic"))
                }
                (OperandKind::AReg, _) => Operand::AReg(self.buffers[memory(inst).buffer.index()]),
                (OperandKind::Offset, _) => Operand::Offset(offset(memory(inst).word)?),
                (OperandKind::Mode, _) => Operand::Mode(memory(inst).mode),
                (OperandKind::Map, _) => Operand::Map(inst.map.expect("one per map")),
            });
        }
        Ok(inst.op.with_operands(&operands).expect("the operands follow the table"))
    }

    /// The load of a constant.
    ///
    /// # Errors
    /// Returns an error if the table is too large for the address field.
    pub(crate) fn load_constant(
        &self,
        code: &Code,
        constant: ConstantId,
        vd: VReg,
    ) -> Result<Instr, ScheduleError> {
        let offset = offset(self.constants[constant.index()])?;
        let mode = code.constants[constant.index()].mode(code.isa);
        Ok(Instr::Vload { vd, base: self.table, offset, mode })
    }

    /// The load of a scalar.
    ///
    /// # Errors
    /// Returns an error if its word of the SDM does not fit the address field.
    pub(crate) fn load_scalar(&self, scalar: ScalarId, rt: SReg) -> Result<Instr, ScheduleError> {
        Ok(Instr::Sload { rt, offset: offset(self.scalars[scalar.index()])? })
    }
}

fn memory(inst: &Inst) -> MemRef {
    inst.memory.expect("loads and stores have a memory reference")
}

pub(super) fn offset(words: u32) -> Result<Offset, ScheduleError> {
    Offset::new(words).ok_or(ScheduleError::Offset(words))
}
