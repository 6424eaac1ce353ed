//! Scheduling in program order, which spills values if registers run out. The greedy scheduler falls
//! back to it if it makes no progress.

use super::addresses::offset;
use super::registers::Content;
use super::{Action, Candidate, Location, ResultRegs, ScheduleError, Scheduler, SourceRegs};
use crate::code::{InstId, ValueId};
use b512_asm::reg::REGISTERS;
use b512_asm::{AddressMode, Instr, Op, Operand, VReg};

impl Scheduler<'_> {
    /// Dispatches the first undispatched instruction in program order. Its predecessors are earlier
    /// in that order and have been dispatched.
    pub(super) fn next_in_program_order(&mut self) -> Result<(), ScheduleError> {
        while self.done.get(self.first_left).is_some_and(|&done| done) {
            self.first_left += 1;
        }
        self.dispatch(InstId(self.first_left as u32))
    }

    /// The value with the furthest next read, and its register, among registers outside `taken`.
    fn furthest_value(&self, taken: &[VReg]) -> Option<(ValueId, VReg)> {
        let next_read =
            |value: ValueId| self.graph.readers(value).iter().find(|id| !self.done[id.index()]).copied();
        let values = self.registers.values().into_iter().filter(|reg| !taken.contains(reg)).filter_map(
            |reg| match self.registers.content(reg) {
                Content::Value(value) => Some((next_read(value), value, reg)),
                Content::Free | Content::Constant(_) => None,
            },
        );
        values.max().map(|(_, value, reg)| (value, reg))
    }

    /// Stores a value to the spill memory and frees its register.
    fn spill(&mut self, value: ValueId, reg: VReg) -> Result<(), ScheduleError> {
        let slot = self.free_slots.pop().unwrap_or(self.out.spill_words);
        self.out.spill_words = self.out.spill_words.max(slot + self.code.isa.vector_length());
        let instr = self.spill_access(Op::Vstore, slot, reg)?;
        self.location[value.index()] = Location::Spilled(slot);
        self.spilled += 1;
        self.registers.set(reg, Content::Free);
        self.emit(instr, None);
        Ok(())
    }

    /// A load of a spilled value into a register.
    pub(super) fn reload(&mut self, value: ValueId, reg: VReg) -> Result<Candidate, ScheduleError> {
        let micro_op = self.decoder.decode(&self.reload_of(value, reg)?);
        Ok(Candidate { micro_op, action: Action::Reload(value, reg), issue: self.engine.now() })
    }

    /// The instruction that loads a spilled value into a register.
    pub(super) fn reload_of(&self, value: ValueId, reg: VReg) -> Result<Instr, ScheduleError> {
        let Location::Spilled(slot) = self.location[value.index()] else {
            unreachable!("only spilled values are reloaded");
        };
        self.spill_access(Op::Vload, slot, reg)
    }

    /// Dispatches all instructions in program order.
    pub(super) fn in_program_order(&mut self) -> Result<(), ScheduleError> {
        (0..self.code.insts.len()).try_for_each(|number| self.dispatch(InstId(number as u32)))
    }

    /// Dispatches an instruction, preceded by the spills, reloads, and loads of constants and scalars that
    /// it needs. All its predecessors must have been dispatched.
    fn dispatch(&mut self, id: InstId) -> Result<(), ScheduleError> {
        let inst = self.inst(id);
        // Registers of operands must not be reallocated.
        let mut sources = SourceRegs::new();
        let mut taken: Vec<VReg> = inst.sources.iter().filter_map(|value| self.register_of(value)).collect();
        for value in inst.sources.iter() {
            if let Location::Spilled(_) = self.location[value.index()] {
                let reg = self.first_register(&taken)?;
                taken.push(reg);
                let candidate = self.reload(value, reg)?;
                self.commit(candidate)?;
            }
            sources.push(self.register_of(value).expect("its producer has been dispatched"));
        }
        if let Some(constant) = inst.constant {
            if self.registers.copies(constant).is_empty() {
                let reg = self.first_register(&taken)?;
                let instr = self.addresses.load_constant(self.code, constant, reg)?;
                let micro_op = self.decoder.decode(&instr);
                let action = Action::Constant(constant, reg);
                self.commit(Candidate { micro_op, action, issue: self.engine.now() })?;
            }
            sources.extend(self.registers.copies(constant).into_iter().next());
        }
        if let Some(scalar) = inst.scalar.filter(|&scalar| self.scalars.register(scalar).is_none()) {
            self.load_scalar(scalar, self.scalars.place(scalar))?;
        }
        let mut results = ResultRegs::new();
        for _ in inst.results.iter() {
            let taken: Vec<VReg> = sources.iter().chain(&results).copied().collect();
            results.push(self.first_register(&taken)?);
        }
        let micro_op = self.micro_op(id, &sources, &results)?;
        let action = Action::Inst(id, sources, results);
        self.commit(Candidate { micro_op, action, issue: self.engine.now() })
    }

    /// The next free register in rotation. If no register outside `taken` is free, it evicts a
    /// constant or spills a value.
    fn first_register(&mut self, taken: &[VReg]) -> Result<VReg, ScheduleError> {
        let start = self.next_register;
        let rotation = (start..start + REGISTERS).map(|index| VReg::at(index % REGISTERS));
        let mut usable = rotation.filter(|reg| !taken.contains(reg));
        if let Some(free) = usable.clone().find(|&reg| self.registers.content(reg) == Content::Free) {
            return Ok(free);
        }
        let constant = usable.find(|&reg| matches!(self.registers.content(reg), Content::Constant(_)));
        if let Some(reg) = constant {
            self.registers.set(reg, Content::Free);
            return Ok(reg);
        }
        let (value, reg) = self.furthest_value(taken).expect("an instruction uses at most five registers");
        self.spill(value, reg)?;
        Ok(reg)
    }

    fn spill_access(&self, op: Op, slot: u32, reg: VReg) -> Result<Instr, ScheduleError> {
        let operands = [
            Operand::VReg(reg),
            Operand::AReg(self.addresses.spills),
            Operand::Offset(offset(slot)?),
            Operand::Mode(AddressMode::Linear),
        ];
        Ok(op.with_operands(&operands).expect("loads and stores have these operands"))
    }
}
