//! Many runs of one kernel, each on its own data: a ring program of launches that share nothing but the
//! program and, if the machine says so, the tables.

use crate::launches::facts::{Facts, Resource, bank_cycles};
use crate::schedule::place::{Item, ItemId};
use crate::schedule::traffic::Kind;
use crate::schedule::{LAUNCH_WORD_BYTES, Parameters, ProgramId, Records, Rpu, Task, TooLarge, Uses};
use b512_asm::{Program, Role, Space, Symbol};
use sim::hbm::BeyondHbm;
use sim::machine::at_least;
use sim::timing::Timing;
use sim::{Events, Machine};

/// A kernel whose runs follow each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repeated {
    /// The cycles of one run.
    pub cycles: u64,
    /// The cycles in which the banks of the VDM can make its accesses: see [`bank_cycles`].
    pub bank_cycles: u64,
    /// The instructions of its program.
    pub instructions: u64,
    /// The words of its inputs in the VDM.
    pub inputs: Vec<u32>,
    /// The words of its tables there.
    pub tables: Vec<u32>,
    /// The words of its outputs there.
    pub outputs: Vec<u32>,
    /// Its other words there.
    pub scratch: u64,
    /// The bytes that a run loads into other memories.
    pub parameter_bytes: u64,
    /// Whether the outputs may lie in the memory of the inputs.
    pub may_work_in_place: bool,
}

impl Repeated {
    /// The runs of a program with this timing. Outputs lie beside the inputs.
    pub fn of(program: &Program, machine: &Machine, timing: &Timing) -> Self {
        let words = |role, space| {
            let is_wanted = move |symbol: &&Symbol| symbol.role == role && symbol.space == space;
            program.symbols.iter().filter(is_wanted).map(|symbol| symbol.words)
        };
        let vdm = |role| words(role, Space::Vdm).collect();
        let sdm = words(Role::Input, Space::Sdm).chain(words(Role::Table, Space::Sdm)).map(u64::from);
        let registers = (program.moduli.len() + program.addresses.len()) as u64;
        Self {
            cycles: timing.cycles.0,
            bank_cycles: bank_cycles(machine, timing, &Events::of(program)),
            instructions: program.instructions.len() as u64,
            inputs: vdm(Role::Input),
            tables: vdm(Role::Table),
            outputs: vdm(Role::Output),
            scratch: words(Role::Scratch, Space::Vdm).map(u64::from).sum(),
            parameter_bytes: LAUNCH_WORD_BYTES * registers + program.isa.bytes(sdm.sum()),
            may_work_in_place: false,
        }
    }

    /// The words of the VDM for a stream of `runs` runs: those of each run that it holds at once, and scratch
    /// words once.
    pub fn words_needed(&self, machine: &Machine, runs: usize) -> u64 {
        let sum = |words: &[u32]| words.iter().map(|&words| u64::from(words)).sum::<u64>();
        let buffers = (runs as u64).min(machine.hbm.buffers.max(1).into());
        let tables = if machine.hbm.reload_tables { buffers } else { 1 };
        buffers * (sum(&self.inputs) + sum(&self.outputs)) + tables * sum(&self.tables) + self.scratch
    }
}

/// The reason why a stream cannot run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StreamError {
    /// The VDM is too small.
    #[error(
        "the words of {buffers} run{} at once need {needed} words of the VDM, but the machine has {capacity}; {}{}",
        if *buffers == 1 { "" } else { "s" }, at_least(&[("vdm.size_mib", *size_mib)]),
        if *buffers > 1 { ", or set `hbm.buffers` to less" } else { "" }
    )]
    TooLarge {
        /// The runs whose words the VDM must hold.
        buffers: u32,
        /// The words that they need.
        needed: u64,
        /// The words of the VDM.
        capacity: u64,
        /// The least size of a VDM that suffices, in MiB.
        size_mib: u64,
    },
    /// The off-chip memory is too small for the words of all runs.
    #[error(transparent)]
    BeyondHbm(BeyondHbm),
    /// The time is beyond what is counted.
    #[error("{TOO_LONG}")]
    TooLong,
}

/// The message for a time that is beyond what is counted.
pub(crate) const TOO_LONG: &str =
    "the time is beyond 2^64 ps, which are 213 days; use fewer runs, or a faster off-chip memory";

/// The time of a stream of runs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stream {
    /// The end of the last transfer.
    pub total_ns: f64,
    /// The time in which the channel is busy.
    pub channel_ns: f64,
    /// The time in which runs and their launches take place.
    pub compute_ns: f64,
    /// The bytes of all transfers: inputs, tables, outputs, the program, and the parameters of its launches.
    pub bytes: u64,
}

/// Times `runs` runs of a kernel, one after the other, each on its own data.
///
/// # Errors
/// Returns an error if a memory is too small.
pub fn stream(kernel: &Repeated, machine: &Machine, runs: usize) -> Result<Stream, StreamError> {
    let isa = machine.instruction_set();
    let (needed, capacity) = (kernel.words_needed(machine, runs), u64::from(machine.vdm_words()));
    let too_large = |needed: u64| StreamError::TooLarge {
        buffers: machine.hbm.buffers.clamp(1, runs.max(1) as u32),
        needed,
        capacity,
        size_mib: isa.bytes(needed).div_ceil(1 << 20),
    };
    if needed > capacity {
        return Err(too_large(needed));
    }
    let mut items = Vec::new();
    let mut tables = Vec::new();
    let mut launches = Vec::with_capacity(runs);
    for run in 0..runs {
        let mut given = |words: &[u32], kind| -> Vec<ItemId> {
            let first = items.len() as u32;
            items.extend(words.iter().map(|&words| Item::given(words, kind, 2)));
            (first..items.len() as u32).map(ItemId).collect()
        };
        let mut operands = given(&kernel.inputs, Kind::Inputs);
        if run == 0 || machine.hbm.reload_tables {
            tables = given(&kernel.tables, Kind::Tables);
        }
        operands.extend(&tables);
        let first = items.len() as u32;
        let output = |&words: &u32| Item { is_output: true, has_home: true, ..Item::made(words) };
        items.extend(kernel.outputs.iter().map(output));
        launches.push((operands, (first..items.len() as u32).map(ItemId).collect::<Vec<_>>()));
    }
    let bytes = items.iter().map(|item| isa.bytes(item.words.into())).sum();
    machine.hbm.check_fits(bytes).map_err(StreamError::BeyondHbm)?;
    let pairs = (0..).zip(&launches);
    let pairs = pairs.flat_map(|(index, (operands, _))| operands.iter().map(move |&item| (item, index)));
    let uses = Uses::of(items.len(), pairs);
    let capacity = if machine.hbm.buffers == 0 { capacity } else { needed };
    let mut rpu = Rpu::new(machine, (capacity, 1), (items, uses), Records::default());
    let facts = Facts {
        name: "stream",
        instructions: kernel.instructions,
        cycles: kernel.cycles,
        bank_cycles: kernel.bank_cycles,
        resource: Resource::Latency,
        slices: None,
        scratch_words: kernel.scratch,
        overwrites_operand: false,
        may_work_in_place: kernel.may_work_in_place,
    };
    let parameters = Parameters { launch: kernel.parameter_bytes.div_ceil(LAUNCH_WORD_BYTES), run: 0 };
    for (index, (operands, results)) in (0..).zip(&launches) {
        let task = Task {
            kernel: Some((facts, ProgramId(0), parameters)),
            operands,
            sources: kernel.inputs.len(),
            results,
        };
        rpu.launch(index, &task).map_err(|TooLarge { needed, .. }| too_large(needed))?;
    }
    let (timeline, _) = rpu.finish();
    if timeline.is_too_long {
        return Err(StreamError::TooLong);
    }
    Ok(Stream {
        bytes: Kind::ALL.iter().map(|&kind| timeline.traffic[kind]).sum(),
        total_ns: timeline.total_ns,
        channel_ns: timeline.channel_ns,
        compute_ns: timeline.compute_ns,
    })
}
