//! The keys of a machine, in one table.
//!
//! A row gives a key's meaning, type, accepted values, value in the paper's machine, origin of that
//! value, values in random machines, and its weight in the choice of recipes. From the rows follow the
//! structures below, the checks of machine files, `configs/machines/rpu-128x128.toml`, `docs/machine.md`, and
//! the strategy for random machines. A new key is a row here, the code that uses it, and the two generated
//! files.

use super::table::Distance::{Another, Doublings, DoublingsPer, Units};
use super::table::Kind::{Bool, Clock, Int, NotNegative, Positive, PowerOfTwo, Share, Text};
use super::table::Sample::{Any, Between, Cycles, Fixed, Seldom};
use super::table::{Kind, choices, sections};
use b512_asm::Feature;
use b512_asm::reg::{MAX_SDM_WORDS, MAX_VDM_WORDS};
use serde::{Deserialize, Serialize};

/// Longest latency of a unit, in cycles.
const LATENCY: u32 = 1024;
/// Longest initiation interval, in cycles. With one HPLE an instruction of 512 lanes then holds its
/// pipe for 32,768 cycles.
const INTERVAL: u32 = 64;

choices! {
    /// The uses of a register by in-flight instructions that stall a later instruction.
    Busyboard {
        /// Any use blocks any later use.
        Strict = "strict",
        /// A read does not block a later read.
        SharedReads = "shared-reads",
    }

    /// The time at which a source register stops being busy.
    SourceRelease {
        /// At the completion of the instruction.
        Complete = "complete",
        /// After the pipeline has read the last element.
        Read = "read",
    }

    /// The order in which pipelines try to access an SRAM of the VRF in the same cycle.
    Arbitration {
        /// Program order.
        OldestFirst = "oldest-first",
        /// Load/store before compute before shuffle.
        PipeOrder = "pipe-order",
    }

    /// Ports of the VRF's SRAMs.
    VrfPorts {
        /// One access a cycle.
        SinglePort = "single-port",
        /// One read and one write a cycle.
        TwoPort = "two-port",
    }

    /// The assignment of registers to the SRAMs of the VRF.
    Placement {
        /// Register number mod 16.
        Mod = "mod",
        /// Register number / 4.
        Div = "div",
    }

    /// Paths through the vector crossbar.
    VbarPaths {
        /// One instruction at a time.
        Shared = "shared",
        /// One load and one store at a time. Needs `vdm.ports = 2`.
        Split = "split",
    }

    /// The words that the LAW engines accept as the multiplicand of a product.
    LawOperands {
        /// Any word: the first source of `vmul` and `vmuls`, and `vt` of `bfly`.
        Word = "word",
        /// Words below the modulus only.
        Reduced = "reduced",
    }

    /// The source of the area of the vector crossbar.
    VbarArea {
        /// The paper's claim of a "minimal" area, and the growth that it prints.
        Claim = "claim",
        /// The size of its logic, as synthesis confirms it.
        Structure = "structure",
    }

    /// The assignment of words to the banks of the VDM.
    BankMapping {
        /// Address mod banks.
        Interleaved = "interleaved",
        /// All groups of log2(banks) address bits, folded together by exclusive or.
        Xor = "xor",
    }
}

/// The clock at one number of VDM banks.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockPoint {
    /// Banks of the VDM.
    pub banks: u32,
    /// The clock, in GHz.
    pub ghz: f64,
}

sections! {
    /// A value for every key. A machine has values that obey the key table.
    Values [] {
        /// The machine's name in results.
        name: String => Text, "\"rpu-128x128\"", Label "", Fixed,
            [] "" Free "a name";
    } + {
        /// Clock, area and energy constants. A machine file names a technology file here.
        technology: Technology,
        /// The clock.
        clock: ClockKeys,
        /// The instruction set: vector length, word width and extensions.
        isa: Isa,
        /// The arithmetic of the LAW engines.
        law: Law,
        /// Fetch, decode, busyboard and queues.
        frontend: Frontend,
        /// The scalar unit.
        scalar: Scalar,
        /// The compute lanes.
        hple: Hple,
        /// The vector register file.
        vrf: Vrf,
        /// The shuffle crossbar.
        sbar: Sbar,
        /// The crossbar between VDM and VRF.
        vbar: Vbar,
        /// The vector data memory.
        vdm: Vdm,
        /// The scalar data memory.
        sdm: Sdm,
        /// Launches of kernels.
        launch: Launch,
        /// The generator of seeded keys.
        generator: Generator,
        /// The off-chip memory.
        hbm: Hbm,
        /// Limits that are switched off to prove a bottleneck.
        ideal: Ideal,
    }

    /// The constants of one process: clock, area and energy.
    Technology [technology] {
        /// The technology's name in results.
        name: String => Text, [];
        /// The process node, in nanometres.
        node_nm: u32 => Int(1, 1000), [];
        /// Stages of the multiplier whose area and energy are given.
        law_stages: u32 => Int(1, LATENCY), [Area Energy];
        /// The source of the area of the vector crossbar, at all sizes.
        vbar_area: VbarArea => Kind::Choice(VbarArea::CHOICES), [Area];
        /// The clock of a bank of the VDM, at some numbers of banks of a VDM of 4 MiB, ascending. Between
        /// two points it is linear in log2(banks); beyond the first and the last it is constant. Other
        /// memories have the clock of a bank of their size.
        clock: Vec<ClockPoint> => Clock, [Stages Clock];
    } + {
        /// Delays of logic and wires.
        delay: DelayConstants,
        /// Areas of components.
        area: AreaConstants,
        /// Energies of events.
        energy: EnergyConstants,
        /// Power that does not depend on events.
        power: PowerConstants,
        /// Wires between parts, over the distances of a floorplan.
        wires: WireConstants,
    }

    /// Delays of logic and wires.
    DelayConstants [technology.delay] {
        /// An inverter that drives four others, in ps: the unit of all delays of logic.
        fo4_ps: f64 => Positive, [Stages Clock];
        /// The registers at the ends of a stage, with the margin for their clock, in FO4.
        register_fo4: f64 => NotNegative, [Stages Clock];
        /// The wires across the paper's machine, in ps. Those of a crossbar grow with the root of its HPLEs
        /// and banks.
        wire_ps: f64 => NotNegative, [Stages Clock];
    }

    /// Areas of components.
    AreaConstants [technology.area] {
        /// An SRAM macro, without the part that grows with its size, in µm².
        sram_macro_um2: f64 => NotNegative, [Area];
        /// Each byte of an SRAM macro, in µm².
        sram_um2_per_byte: f64 => NotNegative, [Area];
        /// The size of a macro with two ports, as a ratio to a macro with a single port. It has the delay and
        /// the energy of a single-port macro with as many times the words.
        sram_second_port: f64 => Positive, [Stages Clock Area Energy];
        /// A LAW engine, in mm².
        law_mm2: f64 => NotNegative, [Area];
        /// Each of the first 32 VDM banks beyond its macro, in mm²: the wires that reach it, and a
        /// faster macro.
        vdm_bank_mm2_to_32: f64 => NotNegative, [Area];
        /// Each VDM bank from the 33rd to the 64th, in mm².
        vdm_bank_mm2_to_64: f64 => NotNegative, [Area];
        /// Each VDM bank from the 65th to the 128th, in mm².
        vdm_bank_mm2_to_128: f64 => NotNegative, [Area];
        /// Each VDM bank from the 129th on, in mm².
        vdm_bank_mm2_beyond_128: f64 => NotNegative, [Area];
        /// The vector crossbar at 128 HPLEs and 128 banks, in mm².
        vbar_mm2: f64 => NotNegative, [Area];
        /// The growth factor of the vector crossbar for twice the HPLEs.
        vbar_growth_with_hples: f64 => Positive, [Area];
        /// The growth factor of the vector crossbar for twice the banks.
        vbar_growth_with_banks: f64 => Positive, [Area];
        /// The shuffle crossbar at 128 HPLEs, in mm².
        sbar_mm2: f64 => NotNegative, [Area];
        /// The growth factor of the shuffle crossbar for twice the HPLEs, up to 128 of them.
        sbar_growth_to_128: f64 => Positive, [Area];
        /// The growth factor of the shuffle crossbar for twice the HPLEs, beyond 128 of them.
        sbar_growth_beyond_128: f64 => Positive, [Area];
    }

    /// Energies of events, in pJ: one element at each unit that it passes, and one instruction.
    EnergyConstants [technology.energy] {
        /// A modular multiplication.
        multiply_pj: f64 => NotNegative, [Energy];
        /// A modular addition or subtraction.
        add_pj: f64 => NotNegative, [Energy];
        /// A read or write of the VRF.
        vrf_access_pj: f64 => NotNegative, [Energy];
        /// A read or write of the VDM.
        vdm_access_pj: f64 => NotNegative, [Energy];
        /// The growth factor of an access to an SRAM for twice the words, up to 32 KiB.
        sram_growth_with_words: f64 => Positive, [Energy];
        /// The growth factor of an access to an SRAM for twice the words beyond 32 KiB, where wires between
        /// macros decide.
        sram_growth_beyond_32_kib: f64 => Positive, [Energy];
        /// A passage through the vector crossbar.
        vbar_element_pj: f64 => NotNegative, [Energy];
        /// A passage through the shuffle crossbar.
        sbar_element_pj: f64 => NotNegative, [Energy];
        /// An instruction, from the instruction memory to its pipe.
        instruction_pj: f64 => NotNegative, [Energy];
    }

    /// Power that does not depend on events. The paper's energy contains none of it.
    PowerConstants [technology.power] {
        /// The leakage of each mm² on the chip, in mW.
        leakage_mw_per_mm2: f64 => NotNegative, [Energy];
        /// The energy of a LAW engine in a cycle without a multiplication, as a share of the energy of a
        /// multiplication: its clocked registers.
        idle_share: f64 => NotNegative, [Energy];
    }

    /// The clock.
    ClockKeys [clock] {
        /// Clock in GHz, at most what the slowest part reaches; 0 takes exactly that.
        ghz: f64 => NotNegative, "0", Derived "the printed clocks are those of the VDM, the slowest part", Fixed,
            [Stages Clock] "the slowest part reaches it" Free "beside the stages of crossbars that follow from it";
    }

    /// Wires between parts, over the distances of a floorplan.
    WireConstants [technology.wires] {
        /// The side of the machine whose energies are given, in mm: they have its wires.
        given_side_mm: f64 => NotNegative, [Energy];
        /// A bit over a mm, in pJ, half of the bits toggling.
        pj_per_bit_mm: f64 => NotNegative, [Energy];
        /// The energy of events with the clock tree and the wires inside of parts over that without them, as
        /// synthesis gives it.
        layout_factor: f64 => Positive, [Energy];
    }

    /// The instruction set: vector length, word width and extensions.
    Isa [isa] {
        /// Elements of a vector register, also called lanes: the vector length L. Programs for
        /// other lengths than 512 declare theirs with `.isa`; 512 is B512.
        vector_length: u32 => PowerOfTwo(b512_asm::Isa::MIN_VECTOR_LENGTH, b512_asm::Isa::MAX_VECTOR_LENGTH), "512", Paper "", Any, recipes "vector_length" Doublings(1024),
            [Cycles Clock Area Energy] "macros of the VRF with `vector_length` * 4 / HPLEs words", 512..=512;
        /// Bits of an element, and of a word of the VDM and the SDM. Moduli fit a word. All memories, on the
        /// chip and off it, hold words without gaps.
        word_bits: u32 => Int(b512_asm::Isa::MIN_WORD_BITS, b512_asm::Isa::MAX_WORD_BITS), "128", Paper "", Any,
            [Clock Area Energy] "multiplications grow with its square; all memories, crossbars and registers in proportion", 32..=128;
        /// The Gentleman-Sande butterfly, `gsbfly`, in the spare encoding space.
        gs_butterfly: bool => Bool, "false", Paper "it has none", Fixed, recipes "gs_butterfly" Another(128),
            [Program Area Energy] "three multiplexers of a word in the LAW engine" Free "multiplexers at a stage's end, within the margin of its registers";
        /// The lane permuter, `vaff`, in the spare encoding space: an affine map of the lanes of a vector.
        lane_permuter: bool => Bool, "false", Paper "it has none", Fixed,
            [Program Area Energy] "an omega network of words beside the shuffle crossbar, and a product and a sum of lane numbers for each lane" Free "an element passes as many multiplexers as in the crossbar, in the same stages";
    }

    /// The arithmetic of the LAW engines.
    Law [law] {
        /// The words that are accepted as the multiplicand of a product. All other operands of
        /// arithmetic instructions must be below the modulus.
        operands: LawOperands => Kind::Choice(LawOperands::CHOICES), "\"word\"", Assumed "a Montgomery multiplier with R = 2^128 accepts any product below q * R", Fixed,
            [] "" Free "the same multiplier accepts both";
    }

    /// The in-order front end.
    Frontend [frontend] {
        /// Instructions dispatched in `cycles_per_instruction` cycles at most, in order.
        width: u32 => Int(1, 64), "1", Paper "\"fetches and decodes instructions in-order\"", Between(1, 4),
            [Cycles(Larger) Stages Clock Area Energy] "ports of the busyboard, comparisons among the instructions of a cycle", 1..=8;
        /// Cycles in which at most `width` instructions dispatch.
        cycles_per_instruction: u32 => Int(1, INTERVAL), "1", Paper "\"the front-end fetches and decodes instructions in-order\", and no rate is printed", Between(1, 3),
            [Cycles(Smaller) Stages Clock] "the check of the busyboard may take as long" Free "the same logic, with less to do in a cycle";
        /// The uses of a register by in-flight instructions that stall a later instruction.
        busyboard: Busyboard => Kind::Choice(Busyboard::CHOICES), "\"strict\"", Paper "read literally: \"a bit array that tracks all the vector registers being used by all in-flight instructions ... whenever a decoded instruction register is busy, the entire front-end stalls\"", Any, recipes "busyboard" Another(1),
            [Cycles(Larger) Stages Clock Area Energy] "a counter of readers for each register";
        /// The time at which a source register stops being busy.
        source_release: SourceRelease => Kind::Choice(SourceRelease::CHOICES), "\"read\"", Fitted "the two unpacks of a stage read the same registers, and a 1K transform in 309 cycles leaves no time to run them one after the other. The paper tracks registers \"being used\"; \"read\" takes that literally", Any,
            [Cycles(Larger) Stages Clock Area Energy] "ports of the busyboard for the release of sources";
        /// Capacity of each of the three queues between dispatch and issue, in instructions.
        queue_depth: u32 => Int(1, 4096), "8", Assumed "", Between(1, 6),
            [Cycles(Larger) Area Energy] "registers of 80 bits an instruction, and the choice of the head" Free "heads are registers", 1..=32;
        /// Cycles from the start command to the first dispatch: fetch and decode.
        fetch_to_dispatch_cycles: u32 => Int(0, LATENCY), "2", Assumed "", Between(0, 4),
            [Cycles(Smaller) Stages Clock Area Energy] "pipeline registers; fetch and decode are spread over the stages";
        /// Cycles from dispatch to the earliest issue.
        dispatch_to_issue_cycles: u32 => Int(0, LATENCY), "0", Fitted "the 1K transform in 309 cycles", Between(0, 4),
            [Cycles(Smaller) Stages Clock Area Energy] "pipeline registers; with none, arbitration follows the check of the busyboard in one cycle";
        /// Size of the instruction memory, 128 instructions a KiB.
        instruction_memory_kib: u32 => Int(1, 1 << 20), "512", Paper "", Fixed,
            [Area Energy] "an SRAM macro" NotModelled "the time of an access: fetch takes as many stages as it needs", 512..=512;
    }

    /// The scalar unit.
    Scalar [scalar] {
        /// Cycles for which a scalar, address or modulus load holds the front end.
        load_latency_cycles: u32 => Int(1, LATENCY), "2", Assumed "", Cycles(1),
            [Cycles(Smaller) Area] "registers of a word a stage" Free "scalar loads are few, and the SDM is smaller than a bank of the VDM";
    }

    /// The High-Performance LAW Engines.
    Hple [hple] {
        /// Number of HPLEs, at most one per lane.
        count: u32 => PowerOfTwo(1, 4096), "128", Paper "", Between(4, 4096), recipes "hples" Doublings(16),
            [Cycles(Larger) Stages Clock Area Energy] "LAW engines in proportion; macros of the VRF with fewer words; fitted growth of both crossbars", 4..=256;
        /// Stages of the modular multiplier. Latency of `vmul` and `vmuls`.
        multiplier_latency_cycles: u32 => Int(1, LATENCY), "11", Public "the RTL of a 128-bit Barrett multiplier by co-authors of the paper", Cycles(1), recipes "multiplier_latency" Units(2),
            [Cycles(Smaller) Stages Clock Area Energy] "registers of four words a stage; the delay of three multiplications, spread over the stages", 4..=22;
        /// Cycles between two operations of one HPLE, additions too.
        initiation_interval: u32 => Int(1, INTERVAL), "1", Paper "Fig. 8 varies it from 1", Between(1, 4),
            [Cycles(Smaller) Stages Clock Area Energy] "digits of a word: smaller multipliers, which add their products to sums that feed back", 1..=4;
        /// Stages of the modular adder and subtractor; a butterfly passes through multiplier and adder.
        adder_latency_cycles: u32 => Int(1, LATENCY), "1", Assumed "", Cycles(1),
            [Cycles(Smaller) Clock Area Energy] "a register of a word a stage; the delay of the adder, spread over the stages";
    }

    /// The vector register file: 16 SRAMs a slice, four registers each.
    Vrf [vrf] {
        /// Ports of its SRAMs.
        ports: VrfPorts => Kind::Choice(VrfPorts::CHOICES), "\"single-port\"", Paper "", Any,
            [Cycles(Larger) Clock Area Energy] "macros with two ports", 1..=1;
        /// The SRAM of a register. Generated programs take the same cycles under both: only their register
        /// names differ.
        placement: Placement => Kind::Choice(Placement::CHOICES), "\"mod\"", Derived "every operand set of the paper's Listing is free of conflicts under \"mod\"", Any,
            [Cycles] "" Free "a permutation of wires";
        /// The order in which pipelines try to access an SRAM in the same cycle.
        arbitration: Arbitration => Kind::Choice(Arbitration::CHOICES), "\"oldest-first\"", Assumed "", Any,
            [Cycles Area Energy] "numbers that order the heads of the queues, and their comparison" Free "a comparison of a few bits, beside the check of the ports";
    }

    /// The shuffle crossbar.
    Sbar [sbar] {
        /// Stages. 0: the least number, from 4 on, with which the crossbar does not limit the clock.
        latency_cycles: u32 => Int(0, LATENCY), "0", Fitted "4 by the 1K transform in 309 cycles; more by the delay of multiplexers and wires", Cycles(1), recipes "sbar_latency" Units(2),
            [Cycles(Smaller) Stages Clock Area Energy] "registers of a word for each HPLE and stage; multiplexers and wires, spread over the stages", 0..=8;
        /// Cycles between two beats of one element per HPLE.
        initiation_interval: u32 => Int(1, INTERVAL), "1", Assumed "", Between(1, 4),
            [Cycles(Smaller) Area Energy] "a narrower crossbar, with registers that hold whole words" Free "the same number of inputs";
    }

    /// The vector crossbar.
    Vbar [vbar] {
        /// Stages between VDM and VRF, for loads and stores alike. 0: the least number, from 4 on, with which
        /// the crossbar does not limit the clock.
        latency_cycles: u32 => Int(0, LATENCY), "0", Assumed "4, within the paper's 4 to 10; more by the delay of multiplexers and wires", Cycles(1), recipes "vbar_latency" Units(2),
            [Cycles(Smaller) Stages Clock Area Energy] "registers of a word for each HPLE, bank and stage; multiplexers and wires, spread over the stages", 0..=8;
        /// Cycles between two beats of min(HPLEs, banks) elements.
        initiation_interval: u32 => Int(1, INTERVAL), "1", Assumed "", Between(1, 4),
            [Cycles(Smaller) Area Energy] "a narrower crossbar, with registers that hold whole words" Free "the same number of inputs";
        /// Paths of loads and stores.
        paths: VbarPaths => Kind::Choice(VbarPaths::CHOICES), "\"shared\"", Assumed "", Any,
            [Cycles(Larger) Area] "a second network for addresses" Free "each word passes one network either way";
    }

    /// The vector data memory.
    Vdm [vdm] {
        /// Number of banks.
        banks: u32 => PowerOfTwo(1, 4096), "128", Paper "", Any, recipes "banks" DoublingsPer("hple.count", 32),
            [Cycles(Larger) Stages Clock Area Energy] "the printed clock of banks of this size; macros; fitted wires and crossbar", 32..=256;
        /// The bank of a word.
        mapping: BankMapping => Kind::Choice(BankMapping::CHOICES), "\"interleaved\"", Assumed "", Any, recipes "mapping" Another(128),
            [Cycles Area] "exclusive ors of address bits for each lane" Free "they work on a few bits beside a word, in the stage of the address";
        /// Accesses per bank and cycle.
        ports: u32 => Int(1, 2), "1", Assumed "", Any,
            [Cycles(Larger) Stages Clock Area Energy] "macros with two ports", 1..=1;
        /// Whether lanes of a load that read the same word share its access to the bank. If not,
        /// every lane makes its own access. Energy counts lanes either way.
        multicast: bool => Bool, "true", Assumed "", Any, recipes "multicast" Another(3),
            [Cycles(Larger) Area] "a comparison of addresses for each lane" Free "it works on a few bits beside a word, in the stage of the address";
        /// Size, in MiB.
        size_mib: u32 => Int(1, 512), "4", Paper "", Fixed,
            [Cycles Stages Clock Area Energy] "macros of size / banks, with the clock of their size", 4..=512;
        /// Pages of a limb of a ring program: an address register of a launch holds as many page numbers. A
        /// page has at least one vector and one row of all banks.
        limb_pages: u32 => PowerOfTwo(1, 128), "16", Assumed "spaces in pieces of a sixteenth of a limb lose little to rounding", Fixed,
            [Stream Area] "a second set of registers with page numbers, and the choice of a page at each bank" NotModelled "the delay of this choice: the paper runs single kernels, whose addresses are those of the memory; `reports/trust.md` has a program with a cycle for it";
        /// Cycles of an access to a bank, which accepts one in each cycle: its macros lie behind a pipelined
        /// tree. Loads take as many cycles more than one. 0: one for a VDM of up to 4 MiB, whose clocks are
        /// printed; beyond, one for a bank of up to 32 KiB, two to 512 KiB, three to 2 MiB, four above.
        access_cycles: u32 => Int(0, 16), "0", Public "access times of CACTI 7, on the line through the printed clocks", Between(0, 4), recipes "access_cycles" Units(2),
            [Cycles Clock Area Energy] "registers of a word and its address for each bank and cycle beyond one; the time of an access, spread over its cycles; no clock exceeds the one of the smallest printed bank", 0..=4;
    }

    /// The scalar data memory.
    Sdm [sdm] {
        /// Size, in KiB.
        size_kib: u32 => Int(1, 16384), "32", Paper "", Fixed,
            [Area] "an SRAM macro" Free "scalar loads are few, and the SDM is smaller than a bank of the VDM", 32..=32;
    }

    /// Launches of kernels.
    Launch [launch] {
        /// Cycles of each run of a kernel before its own: from the time at which all that it needs is there
        /// and its registers are set to the start command. Its own cycles include the filling and draining of
        /// pipes. Runs of a single program on its own have none.
        cycles: u32 => Int(0, 1 << 20), "16", Assumed "a queue of launches beside the front end swaps two sets of registers and starts the next launch; words that set registers are counted. A doorbell of a host takes about 1 µs, 1,000 to 2,000 cycles", Fixed,
            [Stream] "" NotModelled "the paper has no control of launches";
    }

    /// The generator of seeded keys: cores of Keccak, which expand the random halves of keys from seeds
    /// (SHAKE128).
    Generator [generator] {
        /// Words in a cycle. Runs whose keys are `seeded` need one, and have its area and energy; others have
        /// none.
        words_per_cycle: u32 => Int(0, 1 << 16), "16", Assumed "about as many as 512 GB/s bring", Fixed,
            [Stream Area] "cores with a round a cycle, 168 bytes in 24 cycles" Free "a round is shorter than a stage of the multiplier; a byte takes the same energy at any rate";
    }

    /// The off-chip memory.
    Hbm [hbm] {
        /// Bandwidth, in 1e9 bytes a second.
        gb_per_s: f64 => Positive, "512", Paper "\"We assume a 512GB/s HBM2\"", Fixed,
            [Stream Area Energy] "interfaces and background power of as many stacks" Free "the interface has a clock of its own";
        /// Stacks of the memory. 0: as many as the bandwidth takes.
        stacks: u32 => Int(0, 4096), "0", Public "512 GB/s are two stacks of HBM2", Fixed,
            [Area Energy] "interfaces and background power of as many stacks" Free "the interface has a clock of its own";
        /// Bandwidth of a stack, in 1e9 bytes a second.
        stack_gb_per_s: f64 => Positive, "256", Public "a stack of HBM2 has 1,024 pins of 2 Gb/s", Fixed,
            [Area Energy] "interfaces and background power of as many stacks" Free "the interface has a clock of its own";
        /// Size of a stack, in MiB.
        stack_mib: u32 => Int(1, 1 << 20), "8192", Public "two stacks of HBM2 with 512 GB/s have at most 16 GB in Intel's Stratix 10 MX (application note AN 1020, section 1.1)", Fixed,
            [] "" Free "a property of the memory: stacks have their cost";
        /// Area of the interface of a stack on the chip: PHY and controller, in mm². It belongs to runs that
        /// use the memory.
        phy_mm2_per_stack: f64 => NotNegative, "15", Public "14.8 to 14.9 in the papers of ARK, BTS and GenZA, 16.2 on die photographs of an A100 and an MI210 (LLMCompass); 12 to 22 are plausible", Fixed,
            [Area] "an interface for each stack" Free "the interface has a clock of its own";
        /// Energy of the memory for each transferred bit, in pJ.
        device_pj_per_bit: f64 => NotNegative, "5.5", Public "36 chips of HBM2 with uniform random data (Olgun et al.): 5.15 for reads, 5.5 with standby and refresh; 3.9 is of other data; 4 to 7 are plausible", Fixed,
            [Energy] "each transferred bit" Free "a property of the memory";
        /// Energy of PHY and controller for each transferred bit, in pJ.
        phy_pj_per_bit: f64 => NotNegative, "1", Assumed "between 0.6 for a PHY alone and what measurements of an A100 leave; 0.5 to 3 are plausible", Fixed,
            [Energy] "each transferred bit" Free "the interface has a clock of its own";
        /// Power of a stack without transfers, refresh included, in W.
        background_w_per_stack: f64 => NotNegative, "0.5", Public "0.3 measured on HBM2, 0.5 by the currents of DRAMsim3 for a stack of 8 channels; up to 4 in estimates for newer memories", Fixed,
            [Energy] "each stack over the time of a run" Free "a property of the memory";
        /// The part of the bandwidth that long runs of reads, or of writes, sustain.
        efficiency: f64 => Share, "0.9", Public "Intel's user guide of its HBM2 interface (683189, section 7.1) computes the effective bandwidth with a controller of 90% efficiency", Fixed,
            [Stream] "" NotModelled "the paper excludes the off-chip memory and its interface";
        /// The part of it that data may take, in MiB, at most the size of its stacks. 0: all of it. Data
        /// beyond it are an error.
        size_mib: u32 => Int(0, 1 << 30), "0", Derived "all of its stacks", Fixed,
            [] "" Free "the stacks have their cost";
        /// Number of RPUs that share the memory and its size in equal parts.
        shared_by: u32 => Int(1, 1024), "1", Paper "one RPU", Fixed,
            [Stream Area Energy] "equal parts of interfaces and background power" Free "the interface has a clock of its own";
        /// Time from the end of a transfer's last word on the channel to the end of the transfer.
        latency_ns: f64 => NotNegative, "120", Assumed "45 to 54 by Ramulator (reports/memory.md) for device and queue, and the way through PHY, controller and bus; 60 to 400 are plausible", Fixed,
            [Stream] "" Free "a property of the memory";
        /// Time in which the channel turns from reads to writes, or back. It reads unless it writes, so a
        /// write takes two turns more than its bytes: runs of 64 KiB to each side sustain less than those of
        /// a limb.
        turn_ns: f64 => NotNegative, "30", Public "Ramulator (reports/memory.md): 30 to 32 for three memories", Fixed,
            [Stream] "" Free "a property of the memory";
        /// Runs of a stream whose words the VDM holds at once: 1 is no overlap, 2 is double buffering, 0 is
        /// as many as there is space for. Ring programs always take what space there is.
        buffers: u32 => Int(0, 64), "0", Assumed "transfers are planned before the run, so that space alone limits them. The paper: \"commonly double buffer\"", Fixed,
            [Stream] "" Free "they lie in the VDM, whose size has its cost";
        /// Whether every run of a stream has tables of its own, as towers of different moduli must, or all
        /// share those of the first. The lines of a ring program say it themselves.
        reload_tables: bool => Bool, "true", Derived "three words an element (data, twiddles, result) give Fig. 10's 16K figure", Fixed,
            [Stream] "" Free "a property of the program";
    }

    /// Switches that remove one limit each, to prove a bottleneck.
    Ideal [ideal] {
        /// Every beat of a load or store finds its banks free.
        bank_conflicts: bool => Bool, "false", Label "", Seldom,
            [Cycles(Larger)] "" NotModelled "no hardware does this";
        /// Queues are unlimited.
        queues: bool => Bool, "false", Label "", Seldom,
            [Cycles(Larger)] "" NotModelled "no hardware does this";
        /// SRAMs of the VRF make any number of accesses a cycle.
        vrf_ports: bool => Bool, "false", Label "", Seldom, recipes "ideal_vrf_ports" Another(24),
            [Cycles(Larger)] "" NotModelled "no hardware does this";
        /// The front end dispatches any number of instructions a cycle.
        front_end: bool => Bool, "false", Label "", Seldom,
            [Cycles(Larger)] "" NotModelled "no hardware does this";
    }
}

/// A value that machine files once accepted, and its replacement.
pub(super) struct Retired {
    /// The key.
    pub(super) path: &'static str,
    /// The text that it accepted.
    pub(super) value: &'static str,
    /// The replacement.
    pub(super) help: &'static str,
}

/// Values that machine files once accepted.
pub(super) const RETIRED: &[Retired] =
    &[Retired { path: "vrf.ports", value: "ideal", help: "set `ideal.vrf_ports = true` instead" }];

/// A rule over several keys.
pub(super) struct Rule {
    /// The keys that it concerns.
    pub(super) keys: &'static [&'static str],
    /// Whether a machine obeys it.
    pub(super) holds: fn(&super::Machine) -> bool,
    /// The rule.
    pub(super) message: &'static str,
    /// Its reason, or what would obey it.
    pub(super) help: fn(&super::Machine) -> String,
}

/// The rules over several keys.
pub(super) const RULES: &[Rule] = &[
    Rule {
        keys: &["hple.count", "isa.vector_length"],
        holds: |machine| machine.hple.count <= machine.isa.vector_length,
        message: "`hple.count` is above `isa.vector_length`",
        help: |_| "an HPLE needs a lane: use at most `isa.vector_length` HPLEs".into(),
    },
    Rule {
        keys: &["vdm.size_mib", "isa.word_bits"],
        holds: |machine| machine.vdm_words() <= MAX_VDM_WORDS,
        message: "`vdm.size_mib` is more than the instruction set can address",
        help: |_| "it addresses 2^28 words of `isa.word_bits` bits".into(),
    },
    Rule {
        keys: &["sdm.size_kib", "isa.word_bits"],
        holds: |machine| machine.sdm_words() <= MAX_SDM_WORDS,
        message: "`sdm.size_kib` is more than the instruction set can address",
        help: |_| "it addresses 2^20 words of `isa.word_bits` bits".into(),
    },
    Rule {
        keys: &["isa.lane_permuter", "isa.vector_length"],
        holds: |machine| {
            !machine.isa.lane_permuter || Feature::LanePermuter.exists(machine.instruction_set())
        },
        message: "`isa.lane_permuter` needs an `isa.vector_length` of at most 1024",
        help: |_| "the instruction word has ten bits for a lane".into(),
    },
    Rule {
        keys: &["vbar.paths", "vdm.ports"],
        holds: |machine| machine.vbar.paths != VbarPaths::Split || machine.vdm.ports == 2,
        message: "`vbar.paths = \"split\"` needs `vdm.ports = 2`",
        help: |_| "a load and a store under way at once each take one port of a bank".into(),
    },
    Rule {
        keys: &["clock.ghz"],
        holds: super::Machine::reaches_its_clock,
        message: "`clock.ghz` is above what the machine reaches",
        help: super::Machine::clock_help,
    },
    Rule {
        keys: &["clock.ghz"],
        holds: |machine| machine.clock.ghz == 0.0 || machine.clock.ghz >= Kind::LEAST,
        message: "`clock.ghz` is below 1e-9",
        help: |_| "0 takes what the slowest part reaches".into(),
    },
    Rule {
        keys: &["hbm.gb_per_s", "hbm.stacks", "hbm.stack_gb_per_s"],
        holds: |machine| machine.hbm.stacks == 0 || machine.hbm.stacks >= machine.hbm.stacks_of_bandwidth(),
        message: "`hbm.gb_per_s` is more than `hbm.stacks` have",
        help: |machine| {
            format!("{} GB/s take `hbm.stacks = {}`", machine.hbm.gb_per_s, machine.hbm.stacks_of_bandwidth())
        },
    },
    Rule {
        keys: &["hbm.size_mib", "hbm.stacks", "hbm.stack_mib", "hbm.gb_per_s"],
        holds: |machine| u64::from(machine.hbm.size_mib) <= machine.hbm.stacks_mib(),
        message: "`hbm.size_mib` is more than the stacks of the memory hold",
        help: |machine| {
            let hbm = &machine.hbm;
            format!(
                "{} stacks of {} MiB hold {} MiB; {} MiB take `hbm.stacks = {}`",
                hbm.all_stacks(),
                hbm.stack_mib,
                hbm.stacks_mib(),
                hbm.size_mib,
                hbm.size_mib.div_ceil(hbm.stack_mib)
            )
        },
    },
];
