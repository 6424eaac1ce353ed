//! Translation of instructions to [`MicroOp`]s.

use super::banks;
use super::micro_op::MicroOp;
use super::registers::{Accesses, RegSlots, Table};
use super::srams::{FourCycles, first, interleave, repeated, sram};
use super::units::{self, Unit};
use crate::machine::{BankMapping, Machine, SRAMS};
use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, AddressMode, Class, Instr, Isa, Log2, Op, PerPipe, Pipe, Program, VReg, VectorAccess};
use rustc_hash::FxHashMap;
use std::hint::select_unpredictable;

// A load or store has one of three modes with a value, or the mode without one.
const _: () = assert!(2 * (1 + 3 * (Log2::MAX as usize + 1)) <= u8::MAX as usize);

/// The machine-independent part of an instruction's decoding.
#[derive(Clone, Copy, Debug)]
struct Operands {
    op: Op,
    reads: RegSlots<3>,
    writes: RegSlots<2>,
    /// Bit set of all its registers.
    registers: u64,
    /// The addressing mode of a load or store.
    mode: AddressMode,
    /// The effective address of a load or store.
    address: u32,
    /// In a [`DecodedProgram`]: for a load or store, the number of its address mode and direction, from 1; 0
    /// for any other instruction.
    access: u8,
}

/// The contents of the address registers. They are known before the run, because a program has no
/// branches and cannot write the scalar data memory.
#[derive(Clone)]
struct Addresses([u32; REGISTERS]);

impl Addresses {
    fn at_start_of(program: &Program) -> Self {
        let mut addresses = [0; REGISTERS];
        for &(reg, address) in &program.addresses {
            addresses[reg.index()] = address;
        }
        Self(addresses)
    }

    /// Executes an address load; other instructions do not change the address registers.
    #[inline]
    fn follow(&mut self, instr: &Instr, program: &Program) {
        if let Instr::Aload { rt, offset } = *instr {
            let word = program.sdm.word(offset.words());
            // Addresses are 32 bits wide.
            self.0[rt.index()] = word as u32;
        }
    }

    fn address(&self, base: AReg, offset: u32) -> u32 {
        self.0[base.index()].wrapping_add(offset)
    }

    /// Decodes the operands of the next instruction.
    #[inline]
    fn operands(&self, instr: &Instr) -> Operands {
        let (reads, writes) = RegSlots::of(instr);
        let (mode, address) = match instr.vector_access() {
            Some(VectorAccess { base, offset, mode, .. }) => (mode, self.address(base, offset.words())),
            None => (AddressMode::Linear, 0),
        };
        let registers = reads.mask() | writes.mask();
        Operands { op: instr.op(), reads, writes, registers, mode, address, access: 0 }
    }
}

/// A program after the machine-independent part of decoding.
///
/// Points of a sweep with the same program share it.
#[derive(Clone, Debug)]
pub struct DecodedProgram {
    operands: Vec<Operands>,
    /// The meaning of [`Operands::access`]: the address mode, and whether the access is a store.
    /// Their number fits a byte.
    accesses: Vec<(AddressMode, bool)>,
    /// Instruction counts by operation.
    counts: [u64; Op::ALL.len()],
    /// For each pipe, the number of instructions that read each register, and that write it.
    uses: PerPipe<Accesses>,
}

impl DecodedProgram {
    /// Decodes a program.
    pub fn of(program: &Program) -> Self {
        let mut addresses = Addresses::at_start_of(program);
        let mut decoded = Self {
            operands: Vec::with_capacity(program.instructions.len()),
            accesses: Vec::new(),
            counts: [0; Op::ALL.len()],
            uses: PerPipe::from_fn(|_| Accesses::default()),
        };
        for instr in &program.instructions {
            let operands = addresses.operands(instr);
            addresses.follow(instr, program);
            decoded.push(operands);
        }
        decoded
    }

    fn push(&mut self, mut operands: Operands) {
        let pipe = operands.op.pipe();
        self.counts[operands.op as usize] += 1;
        let uses = &mut self.uses[pipe];
        for reg in operands.reads.indices() {
            uses.reads[reg] += 1;
        }
        for reg in operands.writes.indices() {
            uses.writes[reg] += 1;
        }
        if pipe == Pipe::LoadStore {
            let of_this_kind = (operands.mode, is_store(operands.op));
            let known = self.accesses.iter().position(|&known| known == of_this_kind);
            let number = known.unwrap_or_else(|| {
                self.accesses.push(of_this_kind);
                self.accesses.len() - 1
            });
            operands.access = number as u8 + 1;
        }
        self.operands.push(operands);
    }

    /// The instruction count of each pipe.
    pub(super) fn instructions(&self) -> PerPipe<u64> {
        let mut instructions = PerPipe::default();
        for (op, count) in Op::ALL.iter().zip(self.counts) {
            instructions[op.pipe()] += count;
        }
        instructions
    }

    /// Accesses to each register in cycles, on a machine without bank conflicts.
    pub(super) fn register_cycles(&self, machine: &Machine) -> Accesses {
        let mut cycles = Accesses::default();
        for (pipe, uses) in self.uses.iter() {
            let beats = u64::from(units::beats(machine, pipe));
            for reg in VReg::all() {
                cycles.reads[reg.into()] += uses.reads[reg.into()] * beats;
                cycles.writes[reg.into()] += uses.writes[reg.into()] * beats;
            }
        }
        cycles
    }

    /// The number of scalar loads, each of which occupies the front end.
    pub(super) fn scalar_loads(&self) -> u64 {
        let counts = Op::ALL.iter().zip(self.counts);
        counts.filter(|(op, _)| op.class() == Class::ScalarLoad).map(|(_, count)| count).sum()
    }

    /// The micro-operations of the instructions on a machine.
    pub fn micro_ops(&self, machine: &Machine) -> Vec<MicroOp> {
        let mut decoder = Decoder::new(machine);
        if decoder.address_matters() {
            let micro_op = |operands| decoder.micro_op_at_address(operands);
            return self.operands.iter().map(micro_op).collect();
        }
        let mut beats = [0; 1 << u8::BITS];
        for (beats, &(mode, store)) in beats[1..].iter_mut().zip(&self.accesses) {
            *beats = decoder.vbar_cycles(mode, 0, store);
        }
        let micro_op = |operands: &Operands| {
            let of_unit = decoder.units[operands.op as usize].beats;
            // Branch-free: loads and stores cannot be predicted.
            let of_access = beats[usize::from(operands.access)];
            let beats = select_unpredictable(operands.access == 0, of_unit, of_access);
            decoder.micro_op(operands, beats)
        };
        self.operands.iter().map(micro_op).collect()
    }
}

/// Whether an instruction writes the VDM.
#[inline]
const fn is_store(op: Op) -> bool {
    matches!(op.class(), Class::Store)
}

/// An instruction whose vector registers are not known yet, on one machine.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    op: Op,
    beats: u32,
}

/// Translates instructions to [`MicroOp`]s for one machine, in program order.
///
/// It tracks the address registers.
#[derive(Clone)]
pub struct Decoder<'m> {
    machine: &'m Machine,
    isa: Isa,
    /// The timing of each operation, by its number.
    units: [Unit; Op::ALL.len()],
    /// The SRAM of each register; empty if ports are ideal.
    srams: Table<FourCycles>,
    writes_have_a_port: bool,
    addresses: Addresses,
    /// Cached results of [`Decoder::vbar_cycles`].
    vbar_cycles: FxHashMap<(AddressMode, bool, u32), u32>,
}

impl<'m> Decoder<'m> {
    /// A decoder with every address register at 0.
    pub fn new(machine: &'m Machine) -> Self {
        let mut srams = Table::new(0);
        if machine.sram_ports_are_limited() {
            for reg in VReg::all() {
                srams[reg.into()] = sram(machine.vrf.placement.sram(reg));
            }
        }
        Self {
            machine,
            isa: machine.instruction_set(),
            units: std::array::from_fn(|op| Unit::of(machine, Op::ALL[op].class())),
            srams,
            writes_have_a_port: machine.sram_writes_have_a_port(),
            addresses: Addresses([0; REGISTERS]),
            vbar_cycles: FxHashMap::default(),
        }
    }

    /// A decoder with the launch values of a program's address registers.
    pub(super) fn at_start_of(machine: &'m Machine, program: &Program) -> Self {
        Self { addresses: Addresses::at_start_of(program), ..Self::new(machine) }
    }

    /// Decodes a whole program.
    pub fn program(machine: &'m Machine, program: &Program) -> Vec<MicroOp> {
        DecodedProgram::of(program).micro_ops(machine)
    }

    /// Executes an address load; other instructions do not change the address registers.
    pub(super) fn follow(&mut self, instr: &Instr, program: &Program) {
        self.addresses.follow(instr, program);
    }

    /// Sets an address register.
    pub fn set_address(&mut self, reg: AReg, address: u32) {
        self.addresses.0[reg.index()] = address;
    }

    /// The micro-operation of the instruction.
    #[inline]
    pub fn decode(&mut self, instr: &Instr) -> MicroOp {
        let operands = self.addresses.operands(instr);
        self.micro_op_at_address(&operands)
    }

    #[inline]
    fn micro_op_at_address(&mut self, operands: &Operands) -> MicroOp {
        let beats = self.beats(operands);
        self.micro_op(operands, beats)
    }

    #[inline]
    fn beats(&mut self, operands: &Operands) -> u32 {
        let unit = self.units[operands.op as usize];
        if unit.pipe == Pipe::LoadStore {
            self.vbar_cycles(operands.mode, operands.address, is_store(operands.op))
        } else {
            unit.beats
        }
    }

    /// The cycles for which an instruction holds its pipe at least.
    pub fn least_occupancy(&self, op: Op) -> u32 {
        let unit = self.units[op as usize];
        unit.beats * unit.initiation_interval
    }

    /// The part of an instruction's micro-operation that does not depend on its vector registers.
    pub fn template(&mut self, instr: &Instr) -> Template {
        let operands = self.addresses.operands(instr);
        Template { op: operands.op, beats: self.beats(&operands) }
    }

    /// The micro-operation of an instruction with these vector sources and destinations, each in operand
    /// order.
    #[inline]
    pub fn with_registers(&self, template: Template, sources: &[VReg], results: &[VReg]) -> MicroOp {
        let Template { op, beats } = template;
        let (reads, writes) = (RegSlots::from_slice(sources), RegSlots::from_slice(results));
        let registers = reads.mask() | writes.mask();
        let (mode, address, access) = (AddressMode::Linear, 0, 0);
        self.micro_op(&Operands { op, reads, writes, registers, mode, address, access }, beats)
    }

    /// The micro-operation of an instruction with `beats` beats.
    #[inline(always)]
    fn micro_op(&self, &Operands { op, reads, writes, registers, .. }: &Operands, beats: u32) -> MicroOp {
        let unit = self.units[op as usize];
        let (beat_reads, beat_writes) = (self.beat_accesses(&reads), self.beat_accesses(&writes));
        let (interval, latency) = interleave(
            beat_reads,
            beat_writes,
            beats,
            unit.initiation_interval,
            unit.latency,
            self.writes_have_a_port,
        );
        let occupancy = beats * interval;
        MicroOp {
            pipe: unit.pipe,
            path: unit.path,
            scalar_load: unit.scalar_load,
            reads,
            writes,
            registers,
            occupancy,
            latency,
            bank_conflicts: beats - unit.beats,
            interval,
            sram_reads: repeated(beat_reads, interval) & first(occupancy),
            sram_writes: repeated(beat_writes, interval) & first(occupancy),
        }
    }

    /// The SRAM accesses in each cycle of a beat that reaches each of `registers` once.
    #[inline]
    fn beat_accesses<const N: usize>(&self, registers: &RegSlots<N>) -> FourCycles {
        let mut beat = 0;
        for reg in registers.indices() {
            // An instruction has at most three operands in one direction, so one cycle is unused.
            let mut access = self.srams[reg];
            while beat & access != 0 {
                access <<= SRAMS;
            }
            beat |= access;
        }
        beat
    }

    /// Whether the beats of a load or store depend on its address.
    fn address_matters(&self) -> bool {
        !self.machine.ideal.bank_conflicts && self.machine.vdm.mapping == BankMapping::Xor
    }

    /// Cycles for which a load or store at `address` occupies the VBAR.
    pub fn vbar_cycles(&mut self, mode: AddressMode, address: u32, store: bool) -> u32 {
        let m = self.machine;
        // Consecutive words are in consecutive banks.
        let consecutive = mode == AddressMode::Linear && m.vdm.mapping == BankMapping::Interleaved;
        if m.ideal.bank_conflicts || consecutive {
            return units::beats(m, Pipe::LoadStore);
        }
        let address = banks::representative(m.vdm.mapping, self.isa, mode, address);
        *self
            .vbar_cycles
            .entry((mode, store, address))
            .or_insert_with(|| banks::rounds(m, mode, address, store) * m.vbar.initiation_interval)
    }

    /// Adds the accesses of an instruction to each bank of the VDM to `accesses`, one entry per
    /// bank. The address registers hold their values before the instruction.
    pub(super) fn add_bank_accesses(&self, instr: &Instr, accesses: &mut [u64]) {
        if let Some((VectorAccess { store, mode, .. }, address)) = self.access(instr) {
            banks::count(self.machine, mode, address, store, accesses);
        }
    }

    /// The access of a load or store with its effective address. The address registers hold their values
    /// before the instruction.
    pub(super) fn access(&self, instr: &Instr) -> Option<(VectorAccess, u32)> {
        let access = instr.vector_access()?;
        Some((access, self.addresses.address(access.base, access.offset.words())))
    }
}
