//! A program on a machine.

mod error;

pub use self::error::RunError;
use crate::execute::{Execution, Fault, LaunchError};
use crate::flow::Flow;
use crate::known::Known;
use crate::launches::kernels::{Kernels, Timed};
use crate::launches::{Launch, Launches, Limits, Work, lift, lift_calls};
use crate::mapping::{Batch, Candidates, Effort, Mapping, Order, Search, descend};
use crate::report::Report;
use crate::schedule::traffic::{Keys, Sources};
use crate::schedule::{HbmUse, Home, Plan, Time, Timeline};
use codegen::{Merit, PlanChoice};
use ring_program::data::Words;
use ring_program::reduction::may_read_unreduced;
use ring_program::{Group, Inputs, RingProgram};
use sim::{Events, Machine, RunEnergy};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A program, lifted for a machine: what neither its off-chip memory nor the origin of keys changes. Launches
/// of other mappings than the first are made when they are asked for.
#[derive(Debug)]
pub struct Lifted<'p> {
    program: &'p RingProgram,
    /// Where recipes come from.
    plan: PlanChoice,
    /// The flows of a program without calls, with their nodes: batches share them.
    flows: Known<Order, Arc<Flow>>,
    /// By the parts of a mapping that decide on launches: that of [`Mapping::START`] first.
    liftings: Known<(Order, Batch), Result<Arc<Lifting>, RunError>>,
}

/// The launches of a program, and their kernels to choose among.
#[derive(Debug)]
struct Lifting {
    flow: Flow,
    launches: Arc<Launches>,
    candidates: Candidates,
}

impl Lifting {
    /// Whether a launch reads a limb that is expanded from a seed, or a half of one.
    fn expands_keys(&self, program: &RingProgram, keys: Keys) -> bool {
        let sources = Sources::of(program, &self.flow, keys);
        let launches = &self.launches;
        let mut read = launches.launches.iter().flat_map(|launch| launches.sources(launch));
        read.any(|&value| sources.is_expanded(value))
    }
}

impl<'p> Lifted<'p> {
    /// Lifts a program, and generates kernels to choose among.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine.
    pub fn new(program: &'p RingProgram, machine: &Machine) -> Result<Self, RunError> {
        Self::with_plan(program, machine, PlanChoice::Best)
    }

    /// As [`new`](Self::new), with the library's recipes for the most similar machines in place of a search.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine.
    pub fn without_search(program: &'p RingProgram, machine: &Machine) -> Result<Self, RunError> {
        Self::with_plan(program, machine, PlanChoice::Known)
    }

    fn with_plan(program: &'p RingProgram, machine: &Machine, plan: PlanChoice) -> Result<Self, RunError> {
        let lifted = Self { program, plan, flows: Known::new(), liftings: Known::new() };
        lifted.lifting(Mapping::START, machine)?;
        Ok(lifted)
    }

    fn lifting(&self, mapping: Mapping, machine: &Machine) -> Result<Arc<Lifting>, RunError> {
        self.liftings.get((mapping.order, mapping.batch), |&(order, batch)| {
            let limits = Limits::new(self.program.degree().get(), machine, batch);
            let (flow, launches) = self.lift(order, limits);
            let of = (self.program, &launches, machine);
            // Most kernels are those of other launches.
            let full = Mapping { order, batch: Batch::Full, ..Mapping::START };
            let other = match (order, batch) {
                (Order::Modulus, Batch::Full) => None,
                (Order::Program, Batch::Full) => Some(Mapping::START),
                (_, Batch::Half | Batch::Quarter | Batch::Eighth) => Some(full),
            };
            let other = other.map(|other| self.lifting(other, machine)).transpose()?;
            let known = other.as_ref().map(|other| (&*other.launches, &other.candidates));
            let candidates = Candidates::beside(of, &self.plan, known).map_err(RunError::Kernel)?;
            Ok(Arc::new(Lifting { flow, launches: Arc::new(launches), candidates }))
        })
    }

    /// The flow of the program, without its nodes, and its launches, which have them all.
    fn lift(&self, order: Order, limits: Limits) -> (Flow, Launches) {
        if !self.program.functions().is_empty() {
            return lift_calls(self.program, order, limits);
        }
        let flow = self.flows.get(order, |&order| Arc::new(Flow::of(self.program, order)));
        (flow.without_nodes(), lift(&flow, limits))
    }

    /// The program by a mapping. None if a kernel does not fit the machine.
    fn compiled(&self, mapping: Mapping, machine: &Machine) -> Result<Option<Compiled>, RunError> {
        let lifting = self.lifting(mapping, machine)?;
        let Lifting { launches, candidates, .. } = &*lifting;
        let kernels = candidates.kernels(self.program, launches, machine, mapping.recipes);
        let kernels = kernels.map_err(RunError::Kernel)?;
        Ok(kernels.map(|kernels| Compiled { lifting, kernels: kernels.in_form(mapping.elementwise) }))
    }
}

/// A program by a mapping.
#[derive(Debug)]
struct Compiled {
    lifting: Arc<Lifting>,
    kernels: Kernels,
}

impl Compiled {
    fn plan<'a>(
        &'a self,
        (program, machine): (&'a RingProgram, &'a Machine),
        (keys, record): (Keys, bool),
    ) -> Plan<'a> {
        let Lifting { flow, launches, .. } = &*self.lifting;
        Plan {
            program,
            flow,
            launches,
            kernels: &self.kernels,
            machine,
            keys,
            record,
            accounts: record,
            events: false,
        }
    }

    /// The value of the program, and its timeline; none if the value is not less than the given one.
    fn value(
        &self,
        of: (&RingProgram, &Machine),
        (keys, merit): (Keys, Merit),
        least: f64,
    ) -> Option<(f64, Timeline)> {
        let plan = Plan { accounts: true, ..self.plan(of, (keys, false)) };
        let Plan { program, flow, launches, kernels, machine, .. } = plan;
        let end = match merit {
            Merit::Cycles => Time::from_ns(1e3 * least),
            Merit::Energy | Merit::EnergyDelay => Time::MAX,
        };
        let timeline = plan.timeline_before(end).ok().flatten()?;
        let events = events(launches, kernels);
        let work = timeline.work(&events, keys.on_chip(key_bytes(program, flow, machine, keys)));
        let value = merit.value(&RunEnergy::of(machine, &work), work.time_us);
        Some((value, timeline))
    }
}

/// How a program is mapped to a machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Choice {
    /// By a search for the least value.
    Search(Merit, Effort),
    /// As given.
    Given(Mapping),
}

impl From<Merit> for Choice {
    fn from(merit: Merit) -> Self {
        Self::Search(merit, Effort::default())
    }
}

/// A program, mapped to a machine.
#[derive(Debug)]
pub struct Runtime<'p> {
    pub(crate) program: &'p RingProgram,
    machine: &'p Machine,
    keys: Keys,
    /// What a search minimised.
    merit: Option<Merit>,
    mapping: Mapping,
    schedules: usize,
    compiled: Compiled,
    /// Its timeline with accounts, if a search found the mapping.
    timeline: Option<Timeline>,
}

impl<'p> Runtime<'p> {
    /// Maps a program to a machine so that it is fastest if its keys have this origin.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine, or if nothing expands seeded keys.
    pub fn new(program: &'p RingProgram, machine: &'p Machine, keys: Keys) -> Result<Self, RunError> {
        Self::mapped(program, machine, (keys, Merit::Cycles.into()))
    }

    /// As [`new`](Self::new), by a choice.
    ///
    /// # Errors
    /// The same.
    pub fn mapped(
        program: &'p RingProgram,
        machine: &'p Machine,
        choice: (Keys, Choice),
    ) -> Result<Self, RunError> {
        Self::of(&Lifted::new(program, machine)?, machine, choice)
    }

    /// As [`mapped`](Self::mapped), for a machine that differs in its off-chip memory only from that for
    /// which the program was lifted.
    ///
    /// # Errors
    /// The same.
    pub fn of(
        lifted: &Lifted<'p>,
        machine: &'p Machine,
        (keys, choice): (Keys, Choice),
    ) -> Result<Self, RunError> {
        let program = lifted.program;
        if machine.generator.words_per_cycle == 0
            && lifted.lifting(Mapping::START, machine)?.expands_keys(program, keys)
        {
            return Err(RunError::NoGenerator);
        }
        let of = |mapping, (merit, schedules), compiled, timeline| Self {
            program,
            machine,
            keys,
            merit,
            mapping,
            schedules,
            compiled,
            timeline,
        };
        let (merit, effort) = match choice {
            Choice::Search(merit, effort) => (merit, effort),
            Choice::Given(mapping) => {
                let compiled = lifted.compiled(mapping, machine)?.ok_or(RunError::Mapping)?;
                return Ok(of(mapping, (None, 1), compiled, None));
            }
        };
        let launches =
            |mapping| lifted.lifting(mapping, machine).ok().map(|lifting| Arc::clone(&lifting.launches));
        let search = descend(merit, effort, launches, |mapping, least| {
            let Some(compiled) = lifted.compiled(mapping, machine)? else { return Ok(None) };
            let valued = compiled.value((program, machine), (keys, merit), least);
            Ok(valued.map(|(value, timeline)| (value, (compiled, timeline))))
        })?;
        Ok(match search {
            Some(Search { mapping, found: (compiled, timeline), tried }) => {
                of(mapping, (Some(merit), tried), compiled, Some(timeline))
            }
            // No launch of it fits the VDM; its timing says so.
            None => {
                let compiled = lifted.compiled(Mapping::START, machine)?.ok_or(RunError::Mapping)?;
                of(Mapping::START, (Some(merit), 1), compiled, None)
            }
        })
    }

    pub(crate) fn plan(&self, record: bool) -> Plan<'_> {
        self.compiled.plan((self.program, self.machine), (self.keys, record))
    }

    /// The mapping.
    pub fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// The number of schedules that were tried for it.
    pub fn schedules(&self) -> usize {
        self.schedules
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        self.machine
    }

    /// The kernel of a launch; none for a movement of words.
    pub(crate) fn kernel(&self, launch: &Launch) -> Option<&Timed> {
        match launch.work {
            Work::Elementwise(shape) => Some(self.kernels().elementwise(shape)),
            Work::Operation(_) => self.launches().batch(launch).map(|batch| self.kernels().operation(batch)),
            Work::Permute(_) => None,
        }
    }

    /// The bytes of the keys in a memory of their own.
    pub(crate) fn key_bytes_on_chip(&self) -> u64 {
        self.keys.on_chip(key_bytes(self.program, &self.compiled.lifting.flow, self.machine, self.keys))
    }

    /// The first line of a launch in the text.
    pub(crate) fn line(&self, launch: &Launch) -> Option<u64> {
        self.line_of(launch.first).map(|line| u64::from(line.get()))
    }

    /// The launches.
    pub fn launches(&self) -> &Launches {
        &self.compiled.lifting.launches
    }

    /// The kernels.
    pub fn kernels(&self) -> &Kernels {
        &self.compiled.kernels
    }

    /// Times the program. `record` asks for all launches and transfers.
    ///
    /// # Errors
    /// Returns an error if a launch does not fit the VDM, or if the data do not fit the off-chip memory.
    pub fn time(&self, record: bool) -> Result<Timeline, RunError> {
        match &self.timeline {
            Some(timeline) if !record => self.fitting(timeline.clone()),
            Some(_) | None => self.timed(&self.plan(record)),
        }
    }

    /// Times the program with an account of each launch, for [`profile`](Self::profile).
    ///
    /// # Errors
    /// As for [`time`](Self::time).
    pub fn accounted(&self) -> Result<Timeline, RunError> {
        match &self.timeline {
            Some(timeline) => self.fitting(timeline.clone()),
            None => self.timed(&Plan { accounts: true, ..self.plan(false) }),
        }
    }

    /// Times the program, and records all runs and transfers with their addresses.
    ///
    /// # Errors
    /// The same.
    pub fn recorded(&self) -> Result<Timeline, RunError> {
        self.timed(&Plan { events: true, ..self.plan(false) })
    }

    /// Executes a recorded timeline on data: on one image of the VDM and one of the off-chip memory,
    /// transfers included. The result has the words of each output, in the order of [`RingProgram::outputs`].
    ///
    /// # Errors
    /// Returns an error if events disturb each other, or if a kernel fails.
    ///
    /// # Panics
    /// Panics if an input is missing.
    pub fn replay(&self, timeline: &Timeline, inputs: &Inputs<'_>) -> Result<Vec<Vec<Words>>, Fault> {
        let plan = self.plan(false);
        plan.check_events(timeline)?;
        plan.replay(timeline, inputs)
    }

    /// As [`replay`](Self::replay), without the check that no two events disturb each other.
    ///
    /// # Errors
    /// Returns an error if a kernel fails.
    ///
    /// # Panics
    /// Panics if an input is missing.
    pub fn replay_unchecked(
        &self,
        timeline: &Timeline,
        inputs: &Inputs<'_>,
    ) -> Result<Vec<Vec<Words>>, Fault> {
        self.plan(false).replay(timeline, inputs)
    }

    /// The timeline of a plan of this program.
    pub(crate) fn timed(&self, plan: &Plan<'_>) -> Result<Timeline, RunError> {
        let timeline = plan.timeline_before(Time::MAX).map_err(RunError::TooLarge)?;
        self.fitting(timeline.ok_or(RunError::TooLong)?)
    }

    /// Refuses a timeline whose data do not fit the off-chip memory.
    fn fitting(&self, timeline: Timeline) -> Result<Timeline, RunError> {
        if timeline.is_too_long {
            return Err(RunError::TooLong);
        }
        let hbm = &self.machine.hbm;
        match hbm.check_fits(timeline.hbm.bytes()) {
            Ok(()) => Ok(timeline),
            Err(error) => {
                Err(RunError::BeyondHbm { place: self.place_beyond(&timeline.hbm, error.capacity), error })
            }
        }
    }

    /// The first data that end beyond an off-chip memory of `capacity` bytes.
    fn place_beyond(&self, hbm: &HbmUse, capacity: u64) -> String {
        let name = |groups: &[Group], index: u32| groups[index as usize].name.clone();
        match hbm.beyond(capacity) {
            Some(Home::Input(index)) => {
                format!("the input `{}` ends", name(self.program.inputs(), index))
            }
            Some(Home::Output(index)) => {
                format!("the output `{}` ends", name(self.program.outputs(), index))
            }
            Some(Home::Tables) => "the tables of factors end".to_owned(),
            Some(Home::Programs) => "the programs of the kernels end".to_owned(),
            None => {
                let first = self.launches().launches[hbm.launch as usize].first;
                format!("{}`{}` saves a limb", self.line_prefix(first), self.opcode(first))
            }
        }
    }

    /// The line of an operation, as a prefix of messages; empty without a text.
    fn line_prefix(&self, operation: u32) -> String {
        self.line_of(operation).map(|line| format!("line {line}: ")).unwrap_or_default()
    }

    fn line_of(&self, operation: u32) -> Option<NonZeroU32> {
        let (program, operation) = self.program.place(operation as usize);
        program.line(operation)
    }

    fn opcode(&self, operation: u32) -> &'static str {
        let (program, operation) = self.program.place(operation as usize);
        program.operations()[operation].opcode()
    }

    /// The events of all kernels.
    pub fn events(&self) -> Events {
        events(self.launches(), &self.compiled.kernels)
    }

    /// The report of a timeline.
    pub fn report(&self, timeline: &Timeline) -> Report {
        let (program, flow, launches) = (self.program, &self.compiled.lifting.flow, self.launches());
        let key_bytes = key_bytes(program, flow, self.machine, self.keys);
        let events = self.events();
        let work = timeline.work(&events, self.keys.on_chip(key_bytes));
        let without_launch = (flow.renamed, flow.unused);
        let work = (&work, key_bytes, self.keys);
        let mapped = (self.mapping, self.merit, self.schedules);
        Report::new(program, self.machine, launches, without_launch, timeline, work, mapped)
    }

    /// Runs the program on data. The result has the words of each output, in the order of
    /// [`RingProgram::outputs`].
    ///
    /// # Errors
    /// Returns an error if an input is missing, or if an operand is not reduced.
    pub fn execute(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<Words>>, RunError> {
        if let Some(group) = inputs.missing().next() {
            return Err(RunError::MissingInput { name: group.name.clone() });
        }
        let Plan { program, flow, launches, kernels, machine, .. } = self.plan(false);
        let execution = Execution { program, flow, launches, kernels, machine };
        execution.run(inputs).map_err(|(launch, error)| {
            let launch = &launches.launches[launch];
            let (operation, lines) = match &error {
                LaunchError::NotReduced(fault) => (fault.operation, 1),
                LaunchError::Kernel(_) | LaunchError::Load(_) | LaunchError::Execute(_) => {
                    (launch.first, launch.lines)
                }
            };
            let more = match lines {
                1 => String::new(),
                2 => " or the line fused with it".to_owned(),
                lines => format!(" or one of the {} lines fused with it", lines - 1),
            };
            let place = format!("`{}`{more}", self.opcode(operation));
            RunError::Launch { line: self.line_of(operation), place, error }
        })
    }

    /// Refuses data, or a program, of which an operation reads words that are not reduced though the kernel
    /// of the machine may accept them. Only programs that read a limb modulo a smaller number than they wrote
    /// it take time.
    ///
    /// # Errors
    /// Returns the executor's error.
    pub fn check_reduced(&self, inputs: &Inputs<'_>) -> Result<(), RunError> {
        if !may_read_unreduced(self.program) {
            return Ok(());
        }
        self.execute(inputs)?;
        ring_program::execute(inputs).map(drop).map_err(RunError::Reference)
    }

    /// Executes the program on words of the whole ranges that its operations allow, and compares it with the
    /// executor on big integers. The text does not say whether a limb that is read modulo a smaller number
    /// has smaller words, so a run that reads one that is not reduced says nothing.
    ///
    /// # Errors
    /// Returns the first difference, or the error of a launch.
    pub fn check_on_edges(&self, seed: u64) -> Result<(), RunError> {
        let mut inputs = Inputs::new(self.program);
        inputs.fill_with_edges(seed);
        let checked = match self.execute(&inputs) {
            Ok(outputs) => self.check(&inputs, &outputs),
            Err(error) => Err(error),
        };
        match checked {
            Err(RunError::Launch { error: LaunchError::NotReduced(_), .. } | RunError::Reference(_)) => {
                Ok(())
            }
            checked => checked,
        }
    }

    /// Compares outputs with those of the executor on big integers.
    ///
    /// # Errors
    /// Returns the first difference, or the executor's error.
    pub fn check(&self, inputs: &Inputs<'_>, outputs: &[Vec<Words>]) -> Result<(), RunError> {
        let expected = ring_program::execute(inputs).map_err(RunError::Reference)?;
        for ((group, expected), found) in self.program.outputs().iter().zip(&expected).zip(outputs) {
            for ((&limb, expected), found) in group.limbs.iter().zip(expected).zip(found) {
                if let Some(index) = expected.iter().zip(found.iter()).position(|(a, b)| a != b) {
                    return Err(RunError::Differs {
                        output: group.name.clone(),
                        id: self.program.limbs().id(limb),
                        index,
                        found: found.at(index),
                        expected: expected.at(index),
                    });
                }
            }
        }
        Ok(())
    }
}

/// The events of all launches.
fn events(launches: &Launches, kernels: &Kernels) -> Events {
    let mut events = Events::default();
    for launch in &launches.launches {
        let kernel = match launch.work {
            Work::Elementwise(shape) => Some(kernels.elementwise(shape)),
            Work::Operation(_) => launches.batch(launch).map(|batch| kernels.operation(batch)),
            Work::Permute(_) => None,
        };
        if let Some(kernel) = kernel {
            events.add_runs(&kernel.events, kernel.runs.into());
        }
    }
    events
}

/// The bytes of the keys that a memory holds.
fn key_bytes(program: &RingProgram, flow: &Flow, machine: &Machine, keys: Keys) -> u64 {
    let limb_bytes = machine.instruction_set().bytes(program.degree().get());
    Sources::of(program, flow, keys).key_halves() * limb_bytes / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring_program::{Interface, read};

    fn program(line: &str) -> RingProgram {
        let head = "modulus_count 3\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nm[2] 0x7FFFFFFFFFFF801\n";
        let other = "sr_addp %4, %3, %3, m=2\nhalt\n";
        read("", format!("{head}{line}\n{other}").as_bytes(), Interface::Degree(512)).unwrap()
    }

    /// The launches of one program are compared with the lines of another, which differs on few words only.
    #[test]
    fn a_check_on_edges_finds_what_data_below_the_modulus_hide() {
        let machine = Machine::rpu_128x128();
        let product = program("sr_mulps %2, %1, 1, m=1");
        let copy = program("sr_addps %2, %1, 0, m=0");
        let runtime = |program| Runtime::new(program, &machine, Keys::default()).unwrap();
        assert_eq!(runtime(&product).check_on_edges(0), Ok(()));
        // The product takes words beyond its modulus.
        let mut wrong = runtime(&copy);
        wrong.program = &product;
        let mut inputs = Inputs::new(&product);
        inputs.fill(0);
        assert_eq!(wrong.check(&inputs, &wrong.execute(&inputs).unwrap()), Ok(()));
        for seed in 0..4 {
            assert!(matches!(wrong.check_on_edges(seed), Err(RunError::Differs { .. })), "{seed}");
        }
        // Words that an operation does not take say nothing of the program.
        let unreduced = program("sr_addps %2, %1, 0, m=0\nsr_addp %2, %2, %2, m=1");
        assert_eq!(runtime(&unreduced).check_on_edges(0), Ok(()));
    }
}
