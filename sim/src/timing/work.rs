//! What an instruction asks of the machine: pipe, registers, occupancy, latency, SRAM accesses.

use super::vrf::{CYCLES, FourCycles, first, sram};
use crate::machine::{BankMapping, Machine, Placement, VbarPaths, VrfPorts};
use b512_asm::Isa;
use b512_asm::reg::{LANE_BITS, REGISTERS, VECTOR_LENGTH};
use b512_asm::{AReg, AddressMode, Direction, Instr, Log2, Op, Pipe, Program, VReg};
use rustc_hash::FxHashMap;
use std::hint::select_unpredictable;

/// SRAMs of a slice of the vector register file.
pub const SRAMS: usize = 16;

/// One instruction as the cycle model sees it.
// The bytes come first, so that they are read from within what a copy has just written at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Work {
    /// Its vector sources.
    pub reads: RegSlots<3>,
    /// Its vector destinations.
    pub writes: RegSlots<2>,
    /// The pipe that executes it.
    pub pipe: Pipe,
    /// Which half of a split VBAR it takes: 0 for loads, 1 for stores; 0 everywhere else.
    pub path: u8,
    /// Whether it holds the front end as a scalar load does.
    pub scalar_load: bool,
    /// All its registers, a bit for each.
    pub(super) registers: u64,
    /// The SRAMs that it reads in each [step](Self::sram_step), from issue on; none where ports are
    /// ideal.
    pub(super) sram_reads: FourCycles,
    /// The same for writes, from its first write on.
    pub(super) sram_writes: FourCycles,
    /// Cycles for which it holds its pipe.
    pub occupancy: u32,
    /// Cycles from issue to its first write.
    pub latency: u32,
    /// Cycles of the occupancy that are there because banks of the VDM conflict.
    pub bank_conflicts: u32,
    /// Cycles between its beats.
    pub(super) interval: u32,
}

/// Up to `N` vector registers, each once, in the order of the operands.
///
/// There are always `N` slots. Those left over hold a number beyond the registers, so that loops over
/// a table with a place for that number need no branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegSlots<const N: usize>([u8; N]);

/// What a slot without a register holds.
const NO_REGISTER: u8 = REGISTERS as u8;

// A set of registers is a word.
const _: () = assert!(REGISTERS == u64::BITS as usize);

// A load or store has one of three modes with a value, or the one without.
const _: () = assert!(2 * (1 + 3 * (Log2::MAX as usize + 1)) <= u8::MAX as usize);

impl<const N: usize> RegSlots<N> {
    const EMPTY: Self = Self([NO_REGISTER; N]);

    /// The registers.
    pub fn iter(&self) -> impl Iterator<Item = VReg> {
        self.0.into_iter().filter_map(VReg::new)
    }

    /// The places of the registers in a [`Table`].
    #[inline]
    pub(super) fn places(&self) -> [Place; N] {
        self.0.map(Place)
    }

    /// The registers, a bit for each.
    #[inline]
    pub(super) fn mask(&self) -> u64 {
        self.places().into_iter().fold(0, |mask, place| mask | place.bit())
    }

    /// Empties the slots of registers that have one already.
    #[inline]
    fn without_repetitions(self) -> Self {
        let Self(slots) = self;
        let repeated = |i: usize| slots[..i].contains(&slots[i]);
        Self(std::array::from_fn(|i| if repeated(i) { NO_REGISTER } else { slots[i] }))
    }
}

/// A register, or none, as an index of a [`Table`].
#[derive(Clone, Copy)]
pub(super) struct Place(u8);

impl Place {
    /// The bit of the register; none without one.
    #[inline]
    pub(super) fn bit(self) -> u64 {
        1u64.checked_shl(self.0.into()).unwrap_or(0)
    }
}

impl From<VReg> for Place {
    fn from(reg: VReg) -> Self {
        Self(reg.index() as u8)
    }
}

/// Something for each register, and for none. As long as a byte can count, so that no access needs
/// a check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<T>([T; 1 << u8::BITS]);

impl<T: Copy> Table<T> {
    /// The same `value` everywhere.
    pub(super) const fn new(value: T) -> Self {
        Self([value; 1 << u8::BITS])
    }

    /// Sets what slots without a register find.
    #[inline]
    pub(super) fn set_none(&mut self, value: T) {
        self.0[usize::from(NO_REGISTER)] = value;
    }
}

impl<T> std::ops::Index<Place> for Table<T> {
    type Output = T;
    #[inline]
    fn index(&self, Place(place): Place) -> &T {
        &self.0[usize::from(place)]
    }
}

impl<T> std::ops::IndexMut<Place> for Table<T> {
    #[inline]
    fn index_mut(&mut self, Place(place): Place) -> &mut T {
        &mut self.0[usize::from(place)]
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
    pub fn without_writes(self) -> Self {
        Self { sram_writes: 0, ..self }
    }

    /// The cycles after which its accesses to SRAMs repeat: as many beats as four cycles hold, at
    /// least one.
    #[inline]
    pub(super) fn sram_step(&self) -> u32 {
        if self.interval <= CYCLES / 2 { CYCLES } else { self.interval }
    }

    /// Whether its accesses repeat after those that begin `step` cycles after its issue.
    #[inline]
    pub(super) fn has_step_after(&self, step: u32) -> bool {
        self.occupancy - step > self.sram_step()
    }

    /// What of its accesses is left for a step that begins `step` cycles after its issue.
    #[inline]
    pub(super) fn step_mask(&self, step: u32) -> FourCycles {
        first(self.occupancy - step)
    }
}

/// What there is to know of an instruction without a machine.
#[derive(Clone, Copy, Debug)]
struct Operands {
    op: Op,
    reads: RegSlots<3>,
    writes: RegSlots<2>,
    /// All of these, a bit for each.
    registers: u64,
    /// Of a load or store.
    mode: AddressMode,
    /// The same: where it begins.
    address: u32,
    /// In a [`Decoded`] program: of a load or store the number of its address mode and direction, from 1
    /// on; 0 of all others.
    access: u8,
}

/// The contents of the address registers, which are known before the run: a program has no
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

    /// What `instr` says, where it comes next.
    #[inline]
    fn operands(&self, instr: &Instr) -> Operands {
        let (mut reads, mut writes) = (RegSlots::<3>::EMPTY, RegSlots::<2>::EMPTY);
        let (mut sources, mut destinations) = (0, 0);
        instr.for_each_vector_register(|direction, reg| {
            if direction == Direction::Read {
                reads.0[sources] = reg.index() as u8;
                sources += 1;
            } else {
                writes.0[destinations] = reg.index() as u8;
                destinations += 1;
            }
        });
        let (mode, address) = match *instr {
            Instr::Vload { base, offset, mode, .. } | Instr::Vstore { base, offset, mode, .. } => {
                (mode, self.address(base, offset.words()))
            }
            _ => (AddressMode::Linear, 0),
        };
        let (reads, writes) = (reads.without_repetitions(), writes.without_repetitions());
        let registers = reads.mask() | writes.mask();
        Operands { op: instr.op(), reads, writes, registers, mode, address, access: 0 }
    }
}

/// A program as far as it can be decoded without a machine: once, where many machines run it.
///
/// Nothing of it changes with the machine: the points of a sweep that share a program share this.
#[derive(Clone, Debug)]
pub struct Decoded {
    operands: Vec<Operands>,
    /// What [`Operands::access`] means: the address mode, and whether it is a store's. There are fewer of
    /// them than a byte can count.
    accesses: Vec<(AddressMode, bool)>,
    /// How many instructions there are of each operation, by its number.
    counts: [u64; Op::ALL.len()],
    /// How many instructions of each pipe use each register, by [`Pipe::index`].
    uses: [Table<u64>; 4],
}

impl Decoded {
    /// Decodes a program.
    pub fn of(program: &Program) -> Self {
        let mut addresses = Addresses::at_start_of(program);
        let mut decoded = Self {
            operands: Vec::with_capacity(program.instructions.len()),
            accesses: Vec::new(),
            counts: [0; Op::ALL.len()],
            uses: [Table::new(0); 4],
        };
        for instr in &program.instructions {
            let operands = addresses.operands(instr);
            addresses.follow(instr, program);
            decoded.push(operands);
        }
        decoded
    }

    fn push(&mut self, mut operands: Operands) {
        let pipe = operands.op.info().pipe;
        self.counts[operands.op as usize] += 1;
        for reg in operands.reads.places() {
            self.uses[pipe.index()][reg] += 1;
        }
        for reg in operands.writes.places() {
            self.uses[pipe.index()][reg] += 1;
        }
        if pipe == Pipe::LoadStore {
            let of_this_kind = (operands.mode, operands.op == Op::Vstore);
            let known = self.accesses.iter().position(|&known| known == of_this_kind);
            let place = known.unwrap_or_else(|| {
                self.accesses.push(of_this_kind);
                self.accesses.len() - 1
            });
            operands.access = place as u8 + 1;
        }
        self.operands.push(operands);
    }

    /// The instructions of each pipe, by [`Pipe::index`].
    pub(super) fn instructions(&self) -> [u64; 4] {
        let mut instructions = [0; 4];
        for (op, count) in Op::ALL.iter().zip(self.counts) {
            instructions[op.info().pipe.index()] += count;
        }
        instructions
    }

    /// Cycles for which the instructions access each register on a machine where no banks conflict.
    pub(super) fn register_cycles(&self, machine: &Machine) -> Table<u64> {
        let mut cycles = Table::new(0);
        for op in [Op::Vload, Op::Vadd, Op::Unpklo] {
            let unit = Unit::of(machine, op);
            for reg in VReg::all() {
                cycles[reg.into()] += self.uses[unit.pipe.index()][reg.into()] * u64::from(unit.beats);
            }
        }
        cycles
    }

    /// The instructions that hold the front end as scalar loads do.
    pub(super) fn scalar_loads(&self) -> u64 {
        self.instructions()[Pipe::Scalar.index()] - self.counts[Op::Halt as usize]
    }

    /// What each instruction asks of a machine.
    pub fn works(&self, machine: &Machine) -> Vec<Work> {
        let mut decoder = Decoder::new(machine);
        if decoder.address_matters() {
            let work = |operands| decoder.work_at_address(operands);
            return self.operands.iter().map(work).collect();
        }
        let mut beats = [0; 1 << u8::BITS];
        for (beats, &(mode, store)) in beats[1..].iter_mut().zip(&self.accesses) {
            *beats = decoder.vbar_cycles(mode, 0, store);
        }
        let work = |operands: &Operands| {
            let of_unit = decoder.units[operands.op as usize].beats;
            // No jump: whether it is a load or store cannot be predicted.
            let of_access = beats[usize::from(operands.access)];
            let beats = select_unpredictable(operands.access == 0, of_unit, of_access);
            decoder.work(operands, beats)
        };
        self.operands.iter().map(work).collect()
    }
}

/// Turns instructions into [`Work`] for one machine, in program order.
///
/// It follows the address registers.
pub struct Decoder<'m> {
    machine: &'m Machine,
    /// What there is to say of each instruction before its operands are known, by its number.
    units: [Unit; Op::ALL.len()],
    /// The SRAM of each register; none where ports are ideal.
    srams: Table<FourCycles>,
    addresses: Addresses,
    /// What [`Decoder::vbar_cycles`] has found already.
    vbar_cycles: FxHashMap<(AddressMode, bool, u32), u32>,
}

/// How long a pipe takes for an instruction.
#[derive(Clone, Copy)]
struct Unit {
    pipe: Pipe,
    /// Without bank conflicts.
    beats: u32,
    initiation_interval: u32,
    latency: u32,
}

impl Unit {
    fn of(machine: &Machine, op: Op) -> Self {
        let (hple, vbar, sbar) = (&machine.hple, &machine.vbar, &machine.sbar);
        let beats = VECTOR_LENGTH as u32 / hple.count;
        let (mul, add) = (hple.multiplier_latency_cycles, hple.adder_latency_cycles);
        let (beats, initiation_interval, latency) = match op {
            Op::Halt | Op::Sload | Op::Aload | Op::Mload => (0, 1, 0),
            // To the register file each cycle is a beat.
            Op::Vload | Op::Vstore => {
                (vbar_beats(machine) * vbar.initiation_interval, 1, vbar.latency_cycles)
            }
            Op::Vadd | Op::Vsub | Op::Vadds | Op::Vsubs => (beats, hple.initiation_interval, add),
            Op::Vmul | Op::Vmuls => (beats, hple.initiation_interval, mul),
            Op::Bfly | Op::Gsbfly => (beats, hple.initiation_interval, mul + add),
            Op::Unpklo | Op::Unpkhi | Op::Pklo | Op::Pkhi => {
                (beats, sbar.initiation_interval, sbar.latency_cycles)
            }
        };
        Self { pipe: op.info().pipe, beats, initiation_interval, latency }
    }
}

impl<'m> Decoder<'m> {
    /// A decoder with every address register at 0.
    pub fn new(machine: &'m Machine) -> Self {
        let mut srams = Table::new(0);
        if takes_turns_at_srams(machine) {
            for reg in VReg::all() {
                srams[reg.into()] = sram(machine.vrf.placement.sram(reg));
            }
        }
        Self {
            machine,
            units: std::array::from_fn(|op| Unit::of(machine, Op::ALL[op])),
            srams,
            addresses: Addresses([0; REGISTERS]),
            vbar_cycles: FxHashMap::default(),
        }
    }

    /// A decoder with the address registers that the controlling core sets for a program.
    pub fn at_start_of(machine: &'m Machine, program: &Program) -> Self {
        Self { addresses: Addresses::at_start_of(program), ..Self::new(machine) }
    }

    /// Decodes a whole program.
    pub fn program(machine: &'m Machine, program: &Program) -> Vec<Work> {
        Decoded::of(program).works(machine)
    }

    /// Executes an address load; other instructions do not change the address registers.
    pub fn follow(&mut self, instr: &Instr, program: &Program) {
        self.addresses.follow(instr, program);
    }

    /// Sets an address register.
    pub fn set_address(&mut self, reg: AReg, address: u32) {
        self.addresses.0[reg.index()] = address;
    }

    /// The instruction's work.
    #[inline]
    pub fn decode(&mut self, instr: &Instr) -> Work {
        let operands = self.addresses.operands(instr);
        self.work_at_address(&operands)
    }

    #[inline]
    fn work_at_address(&mut self, operands: &Operands) -> Work {
        let unit = self.units[operands.op as usize];
        let beats = match unit.pipe {
            Pipe::LoadStore => self.vbar_cycles(operands.mode, operands.address, operands.op == Op::Vstore),
            _ => unit.beats,
        };
        self.work(operands, beats)
    }

    /// The work of an instruction of so many beats.
    #[inline(always)]
    fn work(&self, &Operands { op, reads, writes, registers, .. }: &Operands, beats: u32) -> Work {
        let unit = self.units[op as usize];
        let path = u8::from(op == Op::Vstore && self.machine.vbar.paths == VbarPaths::Split);
        let (beat_reads, beat_writes) = (self.beat_accesses(&reads), self.beat_accesses(&writes));
        let (interval, latency) =
            interleave(beat_reads, beat_writes, beats, unit.initiation_interval, unit.latency);
        let step = |beat: FourCycles| match interval {
            1 => beat * 0x0001_0001_0001_0001,
            2 => beat * 0x0000_0001_0000_0001,
            _ => beat,
        };
        let occupancy = beats * interval;
        Work {
            pipe: unit.pipe,
            path,
            scalar_load: unit.pipe == Pipe::Scalar && op != Op::Halt,
            reads,
            writes,
            registers,
            occupancy,
            latency,
            bank_conflicts: beats - unit.beats,
            interval,
            sram_reads: step(beat_reads) & first(occupancy),
            sram_writes: step(beat_writes) & first(occupancy),
        }
    }

    /// The SRAMs that the cycles of a beat access, to reach each of `registers` once.
    #[inline]
    fn beat_accesses<const N: usize>(&self, registers: &RegSlots<N>) -> FourCycles {
        let mut beat = 0;
        for reg in registers.places() {
            // An instruction has three operands at most in one direction, so a cycle is left.
            let mut access = self.srams[reg];
            while beat & access != 0 {
                access <<= SRAMS;
            }
            beat |= access;
        }
        beat
    }

    /// Whether the address of a load or store has a bearing on its beats.
    fn address_matters(&self) -> bool {
        !self.machine.ideal.bank_conflicts && self.machine.vdm.mapping == BankMapping::Xor
    }

    /// Cycles for which a load or store of 512 elements from `address` on holds the VBAR.
    pub fn vbar_cycles(&mut self, mode: AddressMode, address: u32, store: bool) -> u32 {
        let m = self.machine;
        let without_conflicts = self.units[Op::Vload as usize].beats;
        // Consecutive words fall on consecutive banks.
        let consecutive = mode == AddressMode::Linear && m.vdm.mapping == BankMapping::Interleaved;
        if m.ideal.bank_conflicts || consecutive {
            return without_conflicts;
        }
        let relevant = match m.vdm.mapping {
            // The address only renames the banks.
            BankMapping::Interleaved => 0,
            // So do the bits above those that the elements' offsets reach, but for the ones into
            // which they carry.
            BankMapping::Xor => {
                let block = mode.span(Isa::B512).next_power_of_two();
                let (above, within) = (address / block, address % block);
                let trailing_ones = above & !above.wrapping_add(1);
                within + if within + mode.span(Isa::B512) > block { trailing_ones * block } else { 0 }
            }
        };
        *self.vbar_cycles.entry((mode, store, relevant)).or_insert_with(|| {
            let ports = if m.vbar.paths == VbarPaths::Split { 1 } else { m.vdm.ports };
            let mut accesses = vec![0; m.vdm.banks as usize];
            let mut rounds = 0;
            for beat in 0..vbar_beats(m) {
                accesses.fill(0);
                let most = count_accesses(m, mode, relevant, store, beat, &mut accesses);
                rounds += most.div_ceil(u64::from(ports)) as u32;
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
        let address = self.addresses.address(base, offset.words());
        for beat in 0..vbar_beats(self.machine) {
            count_accesses(self.machine, mode, address, store, beat, accesses);
        }
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

/// Adds the accesses that one beat of a load or store makes to each bank, and says how many the most
/// loaded of these banks has then.
fn count_accesses(
    m: &Machine,
    mode: AddressMode,
    address: u32,
    store: bool,
    beat: u32,
    accesses: &mut [u64],
) -> u64 {
    let lanes = vbar_lanes(m);
    // Lanes of a load that read the word of an earlier one share its access.
    let distinct = match mode {
        AddressMode::Repeated(block) if !store && block.value() < LANE_BITS => lanes.min(1 << block.value()),
        _ => lanes,
    };
    let mut most = 0;
    for lane in beat * lanes..beat * lanes + distinct {
        let word = address.wrapping_add(mode.element(lane));
        let accesses = &mut accesses[m.vdm.mapping.bank(word, m.vdm.banks)];
        *accesses += 1;
        most = most.max(*accesses);
    }
    most
}

/// The interval between beats and the latency, such that the instruction does not collide with
/// itself. See "Ports of the vector register file" in the module's header.
#[inline]
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

/// Whether accesses to the SRAMs of the register file take turns.
pub(super) fn takes_turns_at_srams(machine: &Machine) -> bool {
    machine.vrf.ports == VrfPorts::SinglePort && !machine.ideal.vrf_ports
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
