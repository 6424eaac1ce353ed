//! The sizes of the machine's logic, from its structure.
//!
//! Sizes are in NAND2 equivalents: transistors of static CMOS, divided by the four of a NAND2. The models of
//! area and energy use ratios of sizes only: the constants of a technology are fitted to the paper's machine,
//! and any other machine scales with the ratio of its logic to the paper's.
//!
//! The structures are synthesised as well: `reports/synthesis.md` compares the ratios.

use crate::machine::{Arbitration, BankMapping, Busyboard, Machine, SourceRelease, Technology, VbarPaths};
use b512_asm::reg::REGISTERS;

/// A flip-flop.
const FLIP_FLOP: f64 = 6.0;
/// An input of a multiplexer beyond the first.
const MUX: f64 = 2.5;
/// An exclusive or.
const XOR: f64 = 2.5;
/// A bit of a partial product: a full adder and the gate in front of it.
const PRODUCT_BIT: f64 = 9.0;
/// A bit of an adder that resolves its carries.
const ADDER_BIT: f64 = 10.0;
/// A port of the busyboard: the decoder of a register number, and its part of the check.
const BUSYBOARD_PORT: f64 = 265.0;
/// Bits of an instruction in a queue: its word and its resolved address.
const QUEUED_BITS: f64 = 80.0;

/// Logic, in NAND2 equivalents.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Gates {
    /// The combinational part.
    pub logic: f64,
    /// The flip-flops.
    pub registers: f64,
}

impl Gates {
    /// The sum of both parts.
    pub const fn total(self) -> f64 {
        self.logic + self.registers
    }

    fn plus(self, other: Self) -> Self {
        Self { logic: self.logic + other.logic, registers: self.registers + other.registers }
    }
}

/// A modular multiplier of three multiplications: the product, the quotient and the product by the modulus.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Multiplier {
    /// Bits of an operand.
    pub word_bits: u32,
    /// Pipeline stages.
    pub stages: u32,
    /// Cycles between two operations. In each of these cycles, a multiplication multiplies a word by a digit
    /// of `word_bits / interval` bits.
    pub interval: u32,
}

impl Multiplier {
    /// The stages that shorten the logic between registers. In the remaining ones, the three multiplications
    /// wait for their last digits.
    pub fn working_stages(self) -> u32 {
        self.stages.saturating_sub(3 * (self.interval - 1)).max(1)
    }

    /// The size.
    pub fn gates(self) -> Gates {
        let (word, interval) = (f64::from(self.word_bits), f64::from(self.interval));
        let digit = word / interval;
        // Of the quotient, only the low word is computed.
        let product_bits = 3.0 * word * digit - digit * digit / 2.0;
        let staged = (4.0 * f64::from(self.working_stages() - 1) + 1.0) * word;
        let (adder_bits, mux_bits, register_bits) = if self.interval == 1 {
            (6.0 * word, word, staged)
        } else {
            // Digits feed back into sums of two words; both operands and the modulus wait in registers.
            (8.0 * word, 18.0 * word, (17.0 * word).max(staged * (1.0 + 1.0 / interval) / 2.0))
        };
        Gates {
            logic: PRODUCT_BIT * product_bits + ADDER_BIT * adder_bits + MUX * mux_bits,
            registers: FLIP_FLOP * register_bits,
        }
    }

    /// The gates that one operation uses, each counted as often as it is used.
    pub fn work(self) -> f64 {
        self.gates().total() * f64::from(self.interval)
    }
}

/// A modular adder or subtractor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Adder {
    /// Bits of an operand.
    pub word_bits: u32,
    /// Pipeline stages.
    pub stages: u32,
}

impl Adder {
    /// The size: the sum, its difference to the modulus, and the choice between them.
    pub fn gates(self) -> Gates {
        let word = f64::from(self.word_bits);
        Gates { logic: word * (2.0 * ADDER_BIT + MUX), registers: FLIP_FLOP * word * f64::from(self.stages) }
    }
}

/// A LAW engine: multiplier, adder, subtractor and two comparators.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Law {
    /// The multiplier.
    pub multiplier: Multiplier,
    /// Adder and subtractor.
    pub adder: Adder,
    /// Whether sums can be multiplied, for the Gentleman-Sande butterfly.
    pub adds_first: bool,
}

impl Law {
    /// The LAW engine whose area and energy the technology gives: the paper's, with `technology.law_stages`
    /// stages.
    pub const fn given(technology: &Technology) -> Self {
        Self {
            multiplier: Multiplier { word_bits: 128, stages: technology.law_stages, interval: 1 },
            adder: Adder { word_bits: 128, stages: 1 },
            adds_first: false,
        }
    }

    /// The LAW engine of a machine.
    pub fn of(machine: &Machine) -> Self {
        let word_bits = machine.isa.word_bits;
        Self {
            multiplier: Multiplier {
                word_bits,
                stages: machine.hple.multiplier_latency_cycles,
                interval: machine.hple.initiation_interval,
            },
            adder: Adder { word_bits, stages: machine.hple.adder_latency_cycles },
            adds_first: machine.isa.gs_butterfly,
        }
    }

    /// The size.
    pub fn gates(self) -> Gates {
        let adder = self.adder.gates();
        let comparators = f64::from(self.adder.word_bits) * ADDER_BIT;
        let rest = Gates { logic: comparators + self.bypass(), registers: 0.0 };
        [adder, adder, rest].into_iter().fold(self.multiplier.gates(), Gates::plus)
    }

    /// The multiplexers at both inputs of the multiplier and behind it.
    fn bypass(self) -> f64 {
        if self.adds_first { 3.0 * f64::from(self.adder.word_bits) * MUX } else { 0.0 }
    }

    /// The gates that a multiplication uses, each counted as often as it is used.
    pub fn multiply_work(self) -> f64 {
        self.multiplier.work() + self.bypass()
    }
}

/// A crossbar: each output selects one input.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Crossbar {
    /// The number of inputs.
    pub inputs: u32,
    /// The number of outputs.
    pub outputs: u32,
    /// Bits of an input and of an output.
    pub bits: u32,
    /// Pipeline stages.
    pub stages: u32,
    /// Cycles for a word, which passes in one part per cycle.
    pub interval: u32,
}

impl Crossbar {
    /// The size.
    pub fn gates(self) -> Gates {
        let outputs = f64::from(self.outputs);
        let (bits, part) = (f64::from(self.bits), f64::from(self.bits.div_ceil(self.interval)));
        // With several parts, inputs and outputs hold whole words.
        let held = if self.interval == 1 { 0.0 } else { bits * f64::from(self.inputs + self.outputs) };
        Gates {
            logic: outputs * part * MUX * f64::from(self.inputs - 1) + held * MUX,
            registers: FLIP_FLOP * (outputs * part * f64::from(self.stages) + held),
        }
    }

    /// The gates that one word passes.
    pub fn work(self) -> f64 {
        let levels = f64::from(self.inputs.max(2)).log2();
        let held = if self.interval == 1 { 0.0 } else { 2.0 * (FLIP_FLOP + MUX) };
        f64::from(self.bits) * (MUX * levels + FLIP_FLOP * f64::from(self.stages) + held)
    }
}

/// The vector crossbar: words from banks to lanes, words and addresses from lanes to banks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Vbar {
    /// From banks to lanes.
    pub load: Crossbar,
    /// Bits of an address.
    pub address_bits: u32,
    /// Networks for addresses.
    pub paths: u32,
    /// Whether addresses are folded to banks by exclusive or.
    pub folds: bool,
    /// Whether lanes compare their words, to share an access.
    pub multicasts: bool,
}

impl Vbar {
    /// The vector crossbar of a machine.
    pub fn of(machine: &Machine) -> Self {
        Self {
            load: Crossbar {
                inputs: machine.vdm.banks,
                outputs: machine.hple.count,
                bits: machine.isa.word_bits,
                stages: machine.vbar_stages(),
                interval: machine.vbar.initiation_interval,
            },
            address_bits: machine.vdm_words().next_power_of_two().trailing_zeros(),
            paths: if machine.vbar.paths == VbarPaths::Split { 2 } else { 1 },
            folds: machine.vdm.mapping == BankMapping::Xor,
            multicasts: machine.vdm.multicast,
        }
    }

    /// The vector crossbar of the paper's machine, with these numbers of lanes and banks.
    pub const fn paper(lanes: u32, banks: u32) -> Self {
        Self {
            load: Crossbar { inputs: banks, outputs: lanes, bits: 128, stages: 4, interval: 1 },
            address_bits: 18,
            paths: 1,
            folds: false,
            multicasts: true,
        }
    }

    /// The size.
    pub fn gates(self) -> Gates {
        let Crossbar { inputs: banks, outputs: lanes, .. } = self.load;
        let store = Crossbar { inputs: lanes, outputs: banks, ..self.load };
        let addresses = Crossbar { bits: self.address_bits * self.paths, interval: 1, ..store };
        let (lanes, bank_bits) = (f64::from(lanes), banks.trailing_zeros());
        let folded = if self.folds { fold(self.address_bits, bank_bits) } else { 0.0 };
        let compared = if self.multicasts { f64::from(self.address_bits) * XOR } else { 0.0 };
        let per_lane = Gates { logic: lanes * (folded + compared), registers: 0.0 };
        [store.gates(), addresses.gates(), per_lane].into_iter().fold(self.load.gates(), Gates::plus)
    }
}

/// The size of the logic that folds an address of `address_bits` to one of `bank_bits`.
pub fn fold(address_bits: u32, bank_bits: u32) -> f64 {
    if bank_bits == 0 { 0.0 } else { XOR * f64::from(address_bits.saturating_sub(bank_bits)) }
}

/// The shuffle crossbar of a machine.
pub fn sbar(machine: &Machine) -> Crossbar {
    Crossbar {
        inputs: machine.hple.count,
        outputs: machine.hple.count,
        bits: machine.isa.word_bits,
        stages: machine.sbar_stages(),
        interval: machine.sbar.initiation_interval,
    }
}

/// The registers that divide an access to a bank of the VDM into cycles: in each cycle beyond one, a word and
/// its address in the bank.
pub fn vdm_access(machine: &Machine) -> Gates {
    let address = (machine.vdm_bank_bytes() * 8.0 / f64::from(machine.isa.word_bits)).log2().ceil();
    let stages = f64::from(machine.vdm_access_cycles() - 1);
    Gates { logic: 0.0, registers: FLIP_FLOP * stages * (f64::from(machine.isa.word_bits) + address) }
}

/// What planned launches take beside a kernel's own registers: a second set of registers, which is set while
/// the first is in use, the numbers of pages in both sets of address registers, and at each bank the choice
/// of a page by the upper bits of a word's offset.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Paging {
    /// The page numbers of an address register.
    pub numbers: u32,
    /// Bits of a page number.
    pub number_bits: u32,
    /// Choices of a page in a cycle: the accesses of all banks.
    pub accesses: u32,
    /// Bits of a modulus and of a scalar.
    pub word_bits: u32,
}

impl Paging {
    /// Bits of a word's address in the space of an operand.
    const OFFSET_BITS: f64 = 28.0;

    /// The pages of a machine, of the least size.
    pub fn of(machine: &Machine) -> Self {
        let pages = u64::from(machine.vdm_words()) / machine.page_words(1);
        Self {
            numbers: machine.vdm.limb_pages,
            number_bits: pages.next_power_of_two().trailing_zeros(),
            accesses: machine.vdm.banks * machine.vdm.ports,
            word_bits: machine.isa.word_bits,
        }
    }

    /// The size of the registers, and of the path from one of them to the banks.
    pub fn registers(self) -> Gates {
        let numbers = f64::from(self.numbers * self.number_bits);
        let second = Self::OFFSET_BITS + 2.0 * f64::from(self.word_bits);
        let registers = REGISTERS as f64;
        Gates {
            logic: MUX * (registers - 1.0) * numbers,
            registers: FLIP_FLOP * registers * (2.0 * numbers + second),
        }
    }

    /// The size of the choices at the banks.
    pub fn choices(self) -> Gates {
        let inputs = f64::from((self.numbers - 1) * self.number_bits);
        Gates { logic: MUX * f64::from(self.accesses) * inputs, registers: 0.0 }
    }
}

/// The lane permuter: an omega network, which affine maps pass without collisions, and for each of its inputs
/// the number of its output, a product and a sum modulo the vector length.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LanePermuter {
    /// Lanes that pass in a cycle.
    pub lanes: u32,
    /// Bits of a lane's number in a vector.
    pub lane_bits: u32,
    /// Bits of an element.
    pub word_bits: u32,
    /// Pipeline stages.
    pub stages: u32,
}

impl LanePermuter {
    /// The lane permuter of a machine, if it has one.
    pub fn of(machine: &Machine) -> Option<Self> {
        machine.isa.lane_permuter.then(|| Self {
            lanes: machine.hple.count,
            lane_bits: machine.instruction_set().lane_bits(),
            word_bits: machine.isa.word_bits,
            stages: machine.sbar_stages(),
        })
    }

    /// The size.
    pub fn gates(self) -> Gates {
        let [lanes, lane_bits, word, stages] =
            [self.lanes, self.lane_bits, self.word_bits, self.stages].map(f64::from);
        let layers = lanes.log2();
        // The low bits of a lane's number are constants, and the network uses up the low bits of its target.
        // The remaining bits are the row of the register file: they travel with the element.
        let row_bits = (lane_bits - layers).max(0.0);
        let bits = word + row_bits;
        let target = PRODUCT_BIT * row_bits * (row_bits + 1.0) / 2.0 + ADDER_BIT * lane_bits;
        Gates {
            logic: lanes * (MUX * bits * layers + target),
            registers: FLIP_FLOP * lanes * (bits * stages + row_bits),
        }
    }

    /// The gates that one element passes: a multiplexer in each layer of the network, and the logic of a
    /// lane's number.
    pub fn work(self) -> f64 {
        self.gates().total() / f64::from(self.lanes)
    }
}

/// The shuffle crossbar of the paper's machine, with this number of lanes.
pub const fn paper_sbar(lanes: u32) -> Crossbar {
    Crossbar { inputs: lanes, outputs: lanes, bits: 128, stages: 4, interval: 1 }
}

/// The generator of seeded keys: cores of Keccak-f(1600), which squeeze SHAKE128.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Generator {
    /// Bytes that it makes in a cycle.
    pub bytes_per_cycle: f64,
}

impl Generator {
    /// Bits of the state.
    const STATE: f64 = 1600.0;
    /// Rounds of a permutation, one a cycle, and the bytes that SHAKE128 takes from each.
    const ROUNDS: f64 = 24.0;
    const RATE_BYTES: f64 = 168.0;

    /// The generator of a machine, if it has one.
    pub fn of(machine: &Machine) -> Option<Self> {
        let bytes = machine.isa.word_bits as f64 / 8.0 * machine.generator.words_per_cycle as f64;
        (bytes > 0.0).then_some(Self { bytes_per_cycle: bytes })
    }

    /// The cores.
    pub fn cores(self) -> f64 {
        (self.bytes_per_cycle * Self::ROUNDS / Self::RATE_BYTES).ceil()
    }

    /// The size of a core. Theta takes 11 exclusive ors for each column of five bits, chi an exclusive or and
    /// an AND of 1.5 for each bit; rho and pi are wires. A register holds the state, a second one the bytes
    /// on their way out.
    fn core() -> Gates {
        let theta = Self::STATE / 5.0 * 11.0 * XOR;
        let chi = Self::STATE * (XOR + 1.5);
        let load = Self::STATE * MUX;
        Gates { logic: theta + chi + load, registers: FLIP_FLOP * (Self::STATE + 8.0 * Self::RATE_BYTES) }
    }

    /// The size.
    pub fn gates(self) -> Gates {
        let Gates { logic, registers } = Self::core();
        Gates { logic: self.cores() * logic, registers: self.cores() * registers }
    }

    /// The gates that a byte uses, each counted as often as it is used.
    pub fn work_per_byte() -> f64 {
        Self::core().total() * Self::ROUNDS / Self::RATE_BYTES
    }
}

/// The busyboard.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BusyboardPorts {
    /// Instructions that it checks in a cycle.
    pub width: u32,
    /// Bits of the counter of a register's readers; 0 without shared reads.
    pub count_bits: u32,
    /// Whether sources are released before destinations.
    pub early: bool,
}

impl BusyboardPorts {
    /// The size.
    pub fn gates(self) -> Gates {
        let width = f64::from(self.width);
        // Five registers of each instruction; each of the three pipes releases two destinations, and three
        // sources.
        let ports = 5.0 * width + if self.early { 15.0 } else { 6.0 };
        let registers = REGISTERS as f64;
        let (counters, bits) = (registers * 48.0, f64::from(self.count_bits));
        let shared = if self.count_bits > 0 { counters } else { 0.0 };
        Gates {
            // The instructions of a cycle are also compared with each other.
            logic: BUSYBOARD_PORT * ports + 430.0 * (width - 1.0) + shared,
            registers: FLIP_FLOP * registers * (1.0 + bits),
        }
    }
}

/// A queue of instructions between dispatch and issue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Queue {
    /// Its capacity.
    pub depth: u32,
}

impl Queue {
    /// The size.
    pub fn gates(self) -> Gates {
        let depth = f64::from(self.depth);
        Gates {
            // Each entry can be written; the head is selected among all.
            logic: MUX * QUEUED_BITS * (2.0 * depth - 1.0),
            registers: FLIP_FLOP * QUEUED_BITS * depth,
        }
    }

    /// The gates that one instruction passes.
    pub fn work(self) -> f64 {
        QUEUED_BITS * (FLIP_FLOP + MUX * (1.0 + f64::from(self.depth).log2()))
    }
}

/// The logic of the front end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrontEnd {
    /// The busyboard.
    pub busyboard: BusyboardPorts,
    /// Each of the three queues.
    pub queue: Queue,
    /// Stages of fetch and decode.
    pub fetch_stages: u32,
    /// Stages from dispatch to issue.
    pub issue_stages: u32,
    /// Bits of the numbers that order the heads of queues; 0 with a fixed order.
    pub order_bits: u32,
    /// Bits of the registers behind the scalar data memory.
    pub scalar_bits: u32,
}

impl FrontEnd {
    /// The front end of the paper's machine.
    pub const PAPER: Self = Self {
        busyboard: BusyboardPorts { width: 1, count_bits: 0, early: true },
        queue: Queue { depth: 8 },
        fetch_stages: 2,
        issue_stages: 0,
        order_bits: 6,
        scalar_bits: 256,
    };

    /// The front end of a machine.
    pub fn of(machine: &Machine) -> Self {
        let frontend = &machine.frontend;
        let depth = frontend.queue_depth;
        let in_flight = (3 * depth).next_power_of_two().trailing_zeros();
        let shared = frontend.busyboard == Busyboard::SharedReads;
        Self {
            busyboard: BusyboardPorts {
                width: frontend.width,
                count_bits: if shared { in_flight } else { 0 },
                early: frontend.source_release == SourceRelease::Read,
            },
            queue: Queue { depth },
            fetch_stages: frontend.fetch_to_dispatch_cycles,
            issue_stages: frontend.dispatch_to_issue_cycles,
            order_bits: match machine.vrf.arbitration {
                Arbitration::OldestFirst => in_flight + 1,
                Arbitration::PipeOrder => 0,
            },
            scalar_bits: machine.isa.word_bits * machine.scalar.load_latency_cycles,
        }
    }

    /// The bits of instructions in the stages of fetch, decode and issue.
    fn staged_bits(self) -> f64 {
        let fetched = 64.0 * f64::from(self.busyboard.width * self.fetch_stages);
        fetched + 3.0 * QUEUED_BITS * f64::from(self.issue_stages)
    }

    /// The size.
    pub fn gates(self) -> Gates {
        let queue = self.queue.gates();
        let order = f64::from(self.order_bits);
        let rest = Gates {
            logic: 3.0 * order * XOR,
            registers: FLIP_FLOP * (self.staged_bits() + 3.0 * order + f64::from(self.scalar_bits)),
        };
        [queue, queue, queue, rest].into_iter().fold(self.busyboard.gates(), Gates::plus)
    }

    /// The gates that one instruction uses.
    pub fn work(self) -> f64 {
        let alone = BusyboardPorts { width: 1, ..self.busyboard };
        let compared = f64::from(self.busyboard.width - 1) * 430.0;
        let stages =
            FLIP_FLOP * (64.0 * f64::from(self.fetch_stages) + QUEUED_BITS * f64::from(self.issue_stages));
        alone.gates().total() + compared + self.queue.work() + stages + 3.0 * f64::from(self.order_bits) * XOR
    }
}
