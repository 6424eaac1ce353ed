//! What an instruction asks of the machine: pipe, registers, occupancy, latency, SRAM accesses.

use super::vrf::{CYCLES, FourCycles, first, sram};
use crate::machine::{BankMapping, Machine, Placement, VbarPaths, VrfPorts};
use b512_asm::isa::RegList;
use b512_asm::reg::{LANE_BITS, REGISTERS, VECTOR_LENGTH};
use b512_asm::{AReg, AddressMode, Instr, Pipe, Program, VReg};
use rustc_hash::FxHashMap;

/// SRAMs of a slice of the vector register file.
pub const SRAMS: usize = 16;

/// One instruction as the cycle model sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// The pipe that executes it.
    pub pipe: Pipe,
    /// Which half of a split VBAR it takes: 0 for loads, 1 for stores; 0 everywhere else.
    pub path: u8,
    /// Whether it holds the front end as a scalar load does.
    pub scalar_load: bool,
    /// Its vector sources.
    pub reads: RegList,
    /// Its vector destinations.
    pub writes: RegList,
    /// Cycles for which it holds its pipe.
    pub occupancy: u32,
    /// Cycles from issue to its first write.
    pub latency: u32,
    /// Cycles of the occupancy that are there because banks of the VDM conflict.
    pub bank_conflicts: u32,
    /// Cycles between its beats.
    pub(super) interval: u32,
    /// Its beats: `occupancy / interval`.
    beats: u32,
    /// The registers of `reads`.
    pub(super) read_set: RegSet,
    /// The registers of `writes`.
    pub(super) write_set: RegSet,
    /// The SRAMs that it reads in each [step](Self::sram_step), from issue on; none where ports are
    /// ideal.
    pub(super) sram_reads: FourCycles,
    /// The same for writes, from its first write on.
    pub(super) sram_writes: FourCycles,
}

/// A set of vector registers, one bit each.
pub(super) type RegSet = u64;

const _: () = assert!(RegSet::BITS as usize == REGISTERS);

impl Work {
    /// Cycles from issue until its last source element has been read.
    pub fn read_cycles(&self) -> u32 {
        self.occupancy
    }

    /// Cycles from issue to completion.
    pub fn total_cycles(&self) -> u32 {
        self.latency + self.occupancy
    }

    /// The same without its writes to SRAMs.
    pub fn without_writes(self) -> Self {
        Self { sram_writes: 0, ..self }
    }

    /// Adds the cycles for which it needs each SRAM to `cycles`.
    pub fn add_sram_cycles(&self, cycles: &mut [u64; SRAMS]) {
        let beat = first(self.interval);
        for mut accesses in [self.sram_reads & beat, self.sram_writes & beat] {
            while accesses != 0 {
                cycles[accesses.trailing_zeros() as usize % SRAMS] += u64::from(self.beats);
                accesses &= accesses - 1;
            }
        }
    }

    /// The cycles after which its accesses to SRAMs repeat: as many beats as four cycles hold, at
    /// least one.
    pub(super) fn sram_step(&self) -> u32 {
        if self.interval <= CYCLES / 2 { CYCLES } else { self.interval }
    }
}

/// Turns instructions into [`Work`] for one machine, in program order.
///
/// It follows the address registers, whose contents are known before the run: a program has no
/// branches and cannot write the scalar data memory.
pub struct Decoder<'m> {
    machine: &'m Machine,
    addresses: [u32; REGISTERS],
    /// What [`Decoder::vbar_cycles`] has found already.
    vbar_cycles: FxHashMap<(AddressMode, bool, u32), u32>,
}

impl<'m> Decoder<'m> {
    /// A decoder with every address register at 0.
    pub fn new(machine: &'m Machine) -> Self {
        Self { machine, addresses: [0; REGISTERS], vbar_cycles: FxHashMap::default() }
    }

    /// A decoder with the address registers that the controlling core sets for a program.
    pub fn at_start_of(machine: &'m Machine, program: &Program) -> Self {
        let mut decoder = Self::new(machine);
        for &(reg, address) in &program.addresses {
            decoder.set_address(reg, address);
        }
        decoder
    }

    /// Decodes a whole program.
    pub fn program(machine: &'m Machine, program: &Program) -> Vec<Work> {
        let mut decoder = Self::at_start_of(machine, program);
        let mut works = Vec::with_capacity(program.instructions.len());
        for instr in &program.instructions {
            works.push(decoder.decode(instr));
            decoder.follow(instr, program);
        }
        works
    }

    /// Executes an address load; other instructions do not change the address registers.
    pub fn follow(&mut self, instr: &Instr, program: &Program) {
        if let Instr::Aload { rt, offset } = *instr {
            let word = program.sdm.word(offset.words());
            self.set_address(rt, u32::try_from(word).unwrap_or(u32::MAX));
        }
    }

    /// Sets an address register.
    pub fn set_address(&mut self, reg: AReg, address: u32) {
        self.addresses[reg.index()] = address;
    }

    /// The instruction's work.
    pub fn decode(&mut self, instr: &Instr) -> Work {
        let m = self.machine;
        let (mul, add) = (m.hple.multiplier_latency_cycles, m.hple.adder_latency_cycles);
        match *instr {
            Instr::Halt {} => self.scalar(false),
            Instr::Sload { .. } | Instr::Aload { .. } | Instr::Mload { .. } => self.scalar(true),
            Instr::Vload { base, offset, mode, .. } => self.vbar(instr, base, offset.words(), mode, false),
            Instr::Vstore { base, offset, mode, .. } => self.vbar(instr, base, offset.words(), mode, true),
            Instr::Vadd { .. } | Instr::Vsub { .. } | Instr::Vadds { .. } | Instr::Vsubs { .. } => {
                self.lanes(instr, m.hple.initiation_interval, add)
            }
            Instr::Vmul { .. } | Instr::Vmuls { .. } => self.lanes(instr, m.hple.initiation_interval, mul),
            Instr::Bfly { .. } | Instr::Gsbfly { .. } => {
                self.lanes(instr, m.hple.initiation_interval, mul + add)
            }
            Instr::Unpklo { .. } | Instr::Unpkhi { .. } | Instr::Pklo { .. } | Instr::Pkhi { .. } => {
                self.lanes(instr, m.sbar.initiation_interval, m.sbar.latency_cycles)
            }
        }
    }

    fn scalar(&self, load: bool) -> Work {
        Work {
            pipe: Pipe::Scalar,
            path: 0,
            scalar_load: load,
            reads: RegList::default(),
            writes: RegList::default(),
            occupancy: 0,
            latency: 0,
            bank_conflicts: 0,
            interval: 1,
            beats: 0,
            read_set: 0,
            write_set: 0,
            sram_reads: 0,
            sram_writes: 0,
        }
    }

    fn lanes(&self, instr: &Instr, initiation_interval: u32, latency: u32) -> Work {
        let beats = VECTOR_LENGTH as u32 / self.machine.hple.count;
        self.on_registers(instr, beats, initiation_interval, latency)
    }

    fn vbar(&mut self, instr: &Instr, base: AReg, offset: u32, mode: AddressMode, store: bool) -> Work {
        let address = self.address(base, offset);
        let cycles = self.vbar_cycles(mode, address, store);
        let without_conflicts = vbar_beats(self.machine) * self.machine.vbar.initiation_interval;
        let work = self.on_registers(instr, cycles, 1, self.machine.vbar.latency_cycles);
        Work {
            path: u8::from(store && self.machine.vbar.paths == VbarPaths::Split),
            bank_conflicts: cycles - without_conflicts,
            ..work
        }
    }

    fn on_registers(&self, instr: &Instr, beats: u32, initiation_interval: u32, latency: u32) -> Work {
        let (reads, writes) = (instr.vector_reads(), instr.vector_writes());
        let (beat_reads, beat_writes) = (self.beat_accesses(&reads), self.beat_accesses(&writes));
        let (interval, latency) = interleave(beat_reads, beat_writes, beats, initiation_interval, latency);
        let step = |beat: FourCycles| match interval {
            1 => beat * 0x0001_0001_0001_0001,
            2 => beat * 0x0000_0001_0000_0001,
            _ => beat,
        };
        let set = |regs: &[VReg]| regs.iter().fold(0, |set, reg| set | 1 << reg.index());
        Work {
            pipe: instr.pipe(),
            path: 0,
            scalar_load: false,
            reads,
            writes,
            occupancy: beats * interval,
            latency,
            bank_conflicts: 0,
            interval,
            beats,
            read_set: set(&reads),
            write_set: set(&writes),
            sram_reads: step(beat_reads),
            sram_writes: step(beat_writes),
        }
    }

    /// The SRAMs that the cycles of a beat access, to reach each of `regs` once.
    fn beat_accesses(&self, regs: &[VReg]) -> FourCycles {
        if self.machine.vrf.ports == VrfPorts::Ideal || self.machine.ideal.vrf_ports {
            return 0;
        }
        let mut beat = 0;
        for (i, &reg) in regs.iter().enumerate() {
            if regs[..i].contains(&reg) {
                continue;
            }
            // An instruction has three operands at most in one direction, so a cycle is left.
            let mut access = sram(self.machine.vrf.placement.sram(reg));
            while beat & access != 0 {
                access <<= SRAMS;
            }
            beat |= access;
        }
        beat
    }

    /// Cycles for which a load or store of 512 elements from `address` on holds the VBAR.
    pub fn vbar_cycles(&mut self, mode: AddressMode, address: u32, store: bool) -> u32 {
        let m = self.machine;
        // Consecutive words fall on consecutive banks.
        let consecutive = mode == AddressMode::Linear && m.vdm.mapping == BankMapping::Interleaved;
        if m.ideal.bank_conflicts || consecutive {
            return vbar_beats(m) * m.vbar.initiation_interval;
        }
        // The address only renames interleaved banks.
        let relevant = match m.vdm.mapping {
            BankMapping::Interleaved => 0,
            BankMapping::Xor => address,
        };
        *self.vbar_cycles.entry((mode, store, relevant)).or_insert_with(|| {
            let ports = if m.vbar.paths == VbarPaths::Split { 1 } else { m.vdm.ports };
            let mut accesses = vec![0; m.vdm.banks as usize];
            let mut rounds = 0;
            for beat in 0..vbar_beats(m) {
                accesses.fill(0);
                count_accesses(m, mode, relevant, store, beat, &mut accesses);
                rounds += accesses.iter().copied().max().unwrap_or(0).div_ceil(u64::from(ports)) as u32;
            }
            rounds * m.vbar.initiation_interval
        })
    }

    /// Adds the accesses of an instruction to each bank of the VDM to `accesses`, which has as many
    /// entries as there are banks. Address registers are those before the instruction.
    pub fn add_bank_accesses(&self, instr: &Instr, accesses: &mut [u64]) {
        let (base, offset, mode, store) = match *instr {
            Instr::Vload { base, offset, mode, .. } => (base, offset, mode, false),
            Instr::Vstore { base, offset, mode, .. } => (base, offset, mode, true),
            _ => return,
        };
        let address = self.address(base, offset.words());
        for beat in 0..vbar_beats(self.machine) {
            count_accesses(self.machine, mode, address, store, beat, accesses);
        }
    }

    fn address(&self, base: AReg, offset: u32) -> u32 {
        self.addresses[base.index()].saturating_add(offset)
    }
}

/// Elements that a beat moves between VDM and VRF.
fn vbar_lanes(m: &Machine) -> u32 {
    m.hple.count.min(m.vdm.banks)
}

/// Beats of a load or store.
fn vbar_beats(m: &Machine) -> u32 {
    VECTOR_LENGTH as u32 / vbar_lanes(m)
}

/// Adds the accesses that one beat of a load or store makes to each bank.
fn count_accesses(
    m: &Machine,
    mode: AddressMode,
    address: u32,
    store: bool,
    beat: u32,
    accesses: &mut [u64],
) {
    let lanes = vbar_lanes(m);
    // Lanes of a load that read the word of an earlier one share its access.
    let distinct = match mode {
        AddressMode::Repeated(block) if !store && block.value() < LANE_BITS => lanes.min(1 << block.value()),
        _ => lanes,
    };
    for lane in beat * lanes..beat * lanes + distinct {
        let word = address.wrapping_add(mode.element(lane));
        accesses[m.vdm.mapping.bank(word, m.vdm.banks)] += 1;
    }
}

/// The interval between beats and the latency, such that the instruction does not collide with
/// itself. See "Ports of the vector register file" in the module's header.
fn interleave(
    reads: FourCycles,
    writes: FourCycles,
    beats: u32,
    initiation_interval: u32,
    latency: u32,
) -> (u32, u32) {
    let (most_reads, most_writes) = (cycles_of(reads), cycles_of(writes));
    let interval = initiation_interval.max(most_reads).max(most_writes);
    let both = reads & writes & first(1);
    if both == 0 || latency >= beats * interval {
        return (interval, latency);
    }
    // The same of the SRAMs that are both read and written.
    let both = both * 0x0001_0001_0001_0001;
    let (reads, writes) = (cycles_of(reads & both), cycles_of(writes & both));
    let interval = interval.max(reads + writes);
    let latency = (latency..).find(|l| (reads..=interval - writes).contains(&(l % interval)));
    (interval, latency.expect("one residue in every interval fits"))
}

/// The cycles that the accesses of a beat take: the largest number of them to one SRAM.
fn cycles_of(beat: FourCycles) -> u32 {
    (FourCycles::BITS - beat.leading_zeros()).div_ceil(SRAMS as u32)
}

impl Placement {
    /// The SRAM, 0 to 15, that holds a register.
    pub const fn sram(self, reg: VReg) -> u8 {
        match self {
            Self::Mod => (reg.index() % SRAMS) as u8,
            Self::Div => (reg.index() / (REGISTERS / SRAMS)) as u8,
        }
    }
}

impl BankMapping {
    /// The bank, below `banks`, that holds a word of the VDM. `banks` is a power of two.
    pub const fn bank(self, word: u32, banks: u32) -> usize {
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

const _: () = assert!(1 << LANE_BITS == VECTOR_LENGTH);
