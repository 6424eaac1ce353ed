//! What an instruction asks of the machine: pipe, registers, occupancy, latency, SRAM accesses.

use crate::machine::{BankMapping, Machine, Placement, VbarPaths, VrfPorts};
use b512_asm::isa::RegList;
use b512_asm::reg::{LANE_BITS, REGISTERS, VECTOR_LENGTH};
use b512_asm::{AReg, AddressMode, Instr, Pipe, Program, VReg};
use std::collections::HashMap;

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
    /// Cycles between its beats.
    pub(super) interval: u32,
    /// The SRAMs that it accesses; empty where ports are ideal.
    pub(super) srams: SramUses,
}

/// The accesses of an instruction to one SRAM, in each beat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SramUse {
    pub(super) sram: u8,
    pub(super) reads: u8,
    pub(super) writes: u8,
}

/// Up to five SRAMs: a butterfly has five registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SramUses {
    uses: [SramUse; 5],
    len: u8,
}

impl SramUses {
    fn entry(&mut self, sram: u8) -> &mut SramUse {
        let len = usize::from(self.len);
        let at = self.uses[..len].iter().position(|u| u.sram == sram).unwrap_or_else(|| {
            self.uses[len] = SramUse { sram, ..SramUse::default() };
            self.len += 1;
            len
        });
        &mut self.uses[at]
    }
}

impl std::ops::Deref for SramUses {
    type Target = [SramUse];
    fn deref(&self) -> &[SramUse] {
        &self.uses[..usize::from(self.len)]
    }
}

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
    pub fn without_writes(mut self) -> Self {
        self.srams.uses.iter_mut().for_each(|u| u.writes = 0);
        self
    }

    /// For each SRAM that it accesses: its number, and the cycles for which it needs it.
    pub fn sram_cycles(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let beats = self.occupancy / self.interval;
        self.srams.iter().map(move |u| (usize::from(u.sram), beats * u32::from(u.reads + u.writes)))
    }
}

/// Turns instructions into [`Work`] for one machine, in program order.
///
/// It follows the address registers, whose contents are known before the run: a program has no
/// branches and cannot write the scalar data memory.
pub struct Decoder<'m> {
    machine: &'m Machine,
    addresses: [u32; REGISTERS],
    vbar_cycles: HashMap<(AddressMode, bool, u32), u32>,
}

impl<'m> Decoder<'m> {
    /// A decoder with every address register at 0.
    pub fn new(machine: &'m Machine) -> Self {
        Self { machine, addresses: [0; REGISTERS], vbar_cycles: HashMap::new() }
    }

    /// Decodes a whole program.
    pub fn program(machine: &'m Machine, program: &Program) -> Vec<Work> {
        let mut decoder = Self::new(machine);
        for &(reg, address) in &program.addresses {
            decoder.set_address(reg, address);
        }
        let mut works = Vec::with_capacity(program.instructions.len());
        for instr in &program.instructions {
            works.push(decoder.decode(instr));
            if let Instr::Aload { rt, offset } = *instr {
                let word = program.sdm.word(offset.words());
                decoder.set_address(rt, u32::try_from(word).unwrap_or(u32::MAX));
            }
        }
        works
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
            interval: 1,
            srams: SramUses::default(),
        }
    }

    fn lanes(&self, instr: &Instr, initiation_interval: u32, latency: u32) -> Work {
        let beats = VECTOR_LENGTH as u32 / self.machine.hple.count;
        self.on_registers(instr, 0, beats, initiation_interval, latency)
    }

    fn vbar(&mut self, instr: &Instr, base: AReg, offset: u32, mode: AddressMode, store: bool) -> Work {
        let address = self.addresses[base.index()].saturating_add(offset);
        let cycles = self.vbar_cycles(mode, address, store);
        let path = u8::from(store && self.machine.vbar.paths == VbarPaths::Split);
        self.on_registers(instr, path, cycles, 1, self.machine.vbar.latency_cycles)
    }

    fn on_registers(
        &self,
        instr: &Instr,
        path: u8,
        beats: u32,
        initiation_interval: u32,
        latency: u32,
    ) -> Work {
        let (reads, writes) = (instr.vector_reads(), instr.vector_writes());
        let srams = self.sram_uses(&reads, &writes);
        let (interval, latency) = interleave(&srams, beats, initiation_interval, latency);
        Work {
            pipe: instr.pipe(),
            path,
            scalar_load: false,
            reads,
            writes,
            occupancy: beats * interval,
            latency,
            interval,
            srams,
        }
    }

    fn sram_uses(&self, reads: &[VReg], writes: &[VReg]) -> SramUses {
        let mut uses = SramUses::default();
        if self.machine.vrf.ports == VrfPorts::Ideal || self.machine.ideal.vrf_ports {
            return uses;
        }
        let placement = self.machine.vrf.placement;
        for (i, reg) in reads.iter().enumerate().filter(|&(i, reg)| !reads[..i].contains(reg)) {
            debug_assert!(i < 3);
            uses.entry(placement.sram(*reg)).reads += 1;
        }
        for (_, reg) in writes.iter().enumerate().filter(|&(i, reg)| !writes[..i].contains(reg)) {
            uses.entry(placement.sram(*reg)).writes += 1;
        }
        uses
    }

    /// Cycles for which a load or store of 512 elements from `address` on holds the VBAR.
    pub fn vbar_cycles(&mut self, mode: AddressMode, address: u32, store: bool) -> u32 {
        let m = self.machine;
        let lanes = m.hple.count.min(m.vdm.banks);
        let beats = VECTOR_LENGTH as u32 / lanes;
        // Consecutive words fall on consecutive banks.
        let consecutive = mode == AddressMode::Linear && m.vdm.mapping == BankMapping::Interleaved;
        if m.ideal.bank_conflicts || consecutive {
            return beats * m.vbar.initiation_interval;
        }
        // Interleaved banks see the address modulo their number only.
        let relevant = match m.vdm.mapping {
            BankMapping::Interleaved => address % m.vdm.banks,
            BankMapping::Xor => address,
        };
        *self.vbar_cycles.entry((mode, store, relevant)).or_insert_with(|| {
            let ports = if m.vbar.paths == VbarPaths::Split { 1 } else { m.vdm.ports };
            let rounds: u32 = (0..beats)
                .map(|beat| {
                    let words = (beat * lanes..(beat + 1) * lanes)
                        .map(|lane| relevant.wrapping_add(mode.element(lane)));
                    most_loaded_bank(m, words, store).div_ceil(ports)
                })
                .sum();
            rounds * m.vbar.initiation_interval
        })
    }
}

/// The accesses of the bank that has the most, for the words of one beat.
fn most_loaded_bank(m: &Machine, words: impl Iterator<Item = u32>, store: bool) -> u32 {
    let mut words: Vec<u32> = words.collect();
    if !store {
        words.sort_unstable();
        words.dedup();
    }
    let mut accesses = vec![0; m.vdm.banks as usize];
    for word in words {
        accesses[m.vdm.mapping.bank(word, m.vdm.banks)] += 1;
    }
    accesses.into_iter().max().unwrap_or(0)
}

/// The interval between beats and the latency, such that the instruction does not collide with
/// itself. See "Ports of the vector register file" in the module's header.
fn interleave(srams: &SramUses, beats: u32, initiation_interval: u32, latency: u32) -> (u32, u32) {
    let most = |of: fn(&SramUse) -> u8| u32::from(srams.iter().map(of).max().unwrap_or(0));
    let interval = initiation_interval.max(most(|u| u.reads)).max(most(|u| u.writes));
    let both = |u: &&SramUse| u.reads > 0 && u.writes > 0;
    if latency >= beats * interval || !srams.iter().any(|u| both(&u)) {
        return (interval, latency);
    }
    let reads = u32::from(srams.iter().filter(both).map(|u| u.reads).max().unwrap_or(0));
    let writes = u32::from(srams.iter().filter(both).map(|u| u.writes).max().unwrap_or(0));
    let interval = interval.max(reads + writes);
    let latency = (latency..).find(|l| (reads..=interval - writes).contains(&(l % interval)));
    (interval, latency.expect("one residue in every interval fits"))
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
