//! A program on a machine.

use crate::choose::{self, Candidates, Choose};
use crate::execute::{Execution, LaunchError};
use crate::flow::Flow;
use crate::kernels::Kernels;
use crate::lift::{Launch, Launches, Limits, Work, lift_program};
use crate::order;
use crate::report::Report;
use crate::schedule::{HbmUse, Home, Plan, Time, Timeline, TooLarge};
use crate::traffic::{Keys, Sources};
use codegen::Merit;
use ring_program::data::Words;
use ring_program::reduction::may_read_unreduced;
use ring_program::{ExecuteError, Group, Inputs, RingProgram};
use sim::hbm::BeyondHbm;
use sim::{Events, Machine, RunEnergy};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A program, lifted for a machine: what neither its off-chip memory nor the origin of keys changes.
#[derive(Debug)]
pub struct Lifted<'p> {
    program: &'p RingProgram,
    /// With each of the limits to choose among, for the whole VDM, then for its parts: at least one.
    liftings: Vec<Lifting>,
}

/// The launches of a program within some limits, with kernels for a part of the VDM.
#[derive(Debug)]
struct Lifting {
    limits: Limits,
    /// How often the VDM is halved. The rest is unused.
    halvings: usize,
    flow: Arc<Flow>,
    /// The launches in each order to choose among: that of lifting first.
    orders: Arc<Vec<Launches>>,
    candidates: Candidates,
}

impl Lifting {
    /// The launches in the order of lifting.
    fn launches(&self) -> &Launches {
        &self.orders[0]
    }
}

impl<'p> Lifted<'p> {
    /// Lifts a program, and generates kernels to choose among.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine.
    pub fn new(program: &'p RingProgram, machine: &Machine) -> Result<Self, RunError> {
        Self::with_recipes(program, machine, &choose::best)
    }

    /// As [`new`](Self::new), with given recipes in place of those of the library or of a search.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine.
    pub fn with_recipes(
        program: &'p RingProgram,
        machine: &Machine,
        choose: &Choose<'_>,
    ) -> Result<Self, RunError> {
        let limits = |machine: &Machine| {
            let limits = Limits::for_degree(program.degree().get(), machine);
            std::iter::once(limits).chain(limits.finer()).collect()
        };
        Self::within(program, machine, limits, choose)
    }

    /// With the `limits` for each part of the VDM, those of the whole VDM first.
    fn within(
        program: &'p RingProgram,
        machine: &Machine,
        limits: impl Fn(&Machine) -> Vec<Limits>,
        choose: &Choose<'_>,
    ) -> Result<Self, RunError> {
        let mut liftings: Vec<Lifting> = Vec::new();
        for (halvings, part) in parts(machine).enumerate() {
            let before = liftings.len();
            // Parts have the recipes of the whole VDM, and no searches of their own.
            let choose = if halvings == 0 { choose } else { &choose::known };
            for limits in limits(&part) {
                // Launches do not depend on the part of the VDM, and few kernels do.
                let known = liftings.iter().rev().find(|known| known.limits == limits);
                let (flow, orders) = match known {
                    Some(known) => (Arc::clone(&known.flow), Arc::clone(&known.orders)),
                    None => {
                        let (flow, launches) = lift_program(program, limits);
                        (Arc::new(flow), Arc::new(order::all(launches)))
                    }
                };
                let candidates = match known.or(liftings.first()) {
                    None => Candidates::with_recipes(program, &orders[0], &part, choose)
                        .map_err(RunError::Kernel)?,
                    Some(known) => {
                        let of = (program, &orders[0], &part);
                        let candidates = known.candidates.with_launches(of, known.launches(), choose);
                        let Ok(candidates) = candidates else { continue };
                        candidates
                    }
                };
                liftings.push(Lifting { limits, halvings, flow, orders, candidates });
                if liftings[0].orders.len() == 1 {
                    return Ok(Self { program, liftings });
                }
            }
            if liftings.len() == before {
                break;
            }
        }
        Ok(Self { program, liftings })
    }
}

/// One of the ways in which a program can run.
#[derive(Debug)]
struct Variant {
    /// The index in [`Lifted::liftings`].
    lifting: usize,
    /// The index in [`Lifting::orders`].
    order: usize,
    kernels: Kernels,
}

impl Lifted<'_> {
    /// The variants to choose among, of equals the first.
    fn variants(&self, parts: &[Machine], merit: Merit) -> Result<Vec<Variant>, RunError> {
        let mut variants = Vec::new();
        for (lifting, Lifting { halvings, orders, candidates, .. }) in self.liftings.iter().enumerate() {
            let kernels = candidates.variants(self.program, &orders[0], &parts[*halvings], merit);
            let kernels = kernels.map_err(RunError::Kernel)?;
            variants.extend((0..orders.len()).flat_map(|order| {
                let variant = move |kernels: &Kernels| Variant { lifting, order, kernels: kernels.clone() };
                kernels.iter().map(variant)
            }));
        }
        Ok(variants)
    }

    fn plan<'a>(
        &'a self,
        variant: &'a Variant,
        parts: &'a [Machine],
        (keys, record): (Keys, bool),
    ) -> Plan<'a> {
        let Variant { lifting, order, kernels } = variant;
        let Lifting { halvings, flow, orders, .. } = &self.liftings[*lifting];
        let (launches, machine) = (&orders[*order], &parts[*halvings]);
        Plan { program: self.program, flow, launches, kernels, machine, keys, record }
    }
}

/// The machine with its whole VDM, then with a half of it, and so on.
fn parts(machine: &Machine) -> impl Iterator<Item = Machine> {
    let halved = |part: &Machine| (part.vdm_words() > 1).then(|| part.with_half_of_the_vdm());
    std::iter::successors(Some(machine.clone()), halved)
}

/// A program, lifted to kernels of a machine.
#[derive(Debug)]
pub struct Runtime<'p> {
    lifted: Arc<Lifted<'p>>,
    machine: &'p Machine,
    parts: Vec<Machine>,
    keys: Keys,
    merit: Merit,
    variant: Variant,
    /// Its timeline without a record, if the choice of the kernels needed it.
    timeline: Option<Timeline>,
}

impl<'p> Runtime<'p> {
    /// Lifts a program, and generates the kernels with which it is fastest if its keys have this origin.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine.
    pub fn new(program: &'p RingProgram, machine: &'p Machine, keys: Keys) -> Result<Self, RunError> {
        Self::optimised(program, machine, (keys, Merit::Cycles))
    }

    /// As [`new`](Self::new), with the kernels of the least value.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine.
    pub fn optimised(
        program: &'p RingProgram,
        machine: &'p Machine,
        choice: (Keys, Merit),
    ) -> Result<Self, RunError> {
        Self::of(Arc::new(Lifted::new(program, machine)?), machine, choice)
    }

    /// As [`optimised`](Self::optimised), with groups of at most this size.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine.
    pub fn with_limits(
        program: &'p RingProgram,
        machine: &'p Machine,
        (keys, merit): (Keys, Merit),
        limits: Limits,
    ) -> Result<Self, RunError> {
        let lifted = Lifted::within(program, machine, |_| vec![limits], &choose::best)?;
        Self::of(Arc::new(lifted), machine, (keys, merit))
    }

    /// As [`optimised`](Self::optimised), for a machine that differs in its off-chip memory only from that for which the program was lifted.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine.
    pub fn of(
        lifted: Arc<Lifted<'p>>,
        machine: &'p Machine,
        (keys, merit): (Keys, Merit),
    ) -> Result<Self, RunError> {
        let halvings = lifted.liftings.last().map_or(0, |lifting| lifting.halvings);
        let parts: Vec<Machine> = parts(machine).take(1 + halvings).collect();
        let variants = lifted.variants(&parts, merit)?;
        let (variant, timeline) = choose::least(variants, |variant, best| {
            let plan = lifted.plan(variant, &parts, (keys, false));
            let Plan { program, flow, launches, kernels, .. } = plan;
            // A slower one has no value.
            let end = match merit {
                Merit::Cycles => Time::from_ns(1e3 * best),
                Merit::Energy | Merit::EnergyDelay => Time::MAX,
            };
            plan.timeline_before(end).ok().flatten().map_or((f64::INFINITY, None), |timeline| {
                let events = events(launches, kernels);
                let work = timeline.work(&events, keys.on_chip(key_bytes(program, flow, machine, keys)));
                (merit.value(&RunEnergy::of(machine, &work), work.time_us), Some(timeline))
            })
        });
        Ok(Self { lifted, machine, parts, keys, merit, variant, timeline })
    }

    fn lifting(&self) -> &Lifting {
        &self.lifted.liftings[self.variant.lifting]
    }

    pub(crate) fn plan(&self, record: bool) -> Plan<'_> {
        self.lifted.plan(&self.variant, &self.parts, (self.keys, record))
    }

    /// The plans of all variants, each with the index of its order.
    #[cfg(test)]
    pub(crate) fn plans<R>(&self, mut each: impl FnMut(usize, &Plan<'_>) -> R) -> Vec<R> {
        let variants = self.lifted.variants(&self.parts, self.merit).expect("they are known");
        let plan = |variant| self.lifted.plan(variant, &self.parts, (self.keys, false));
        variants.iter().map(|variant| each(variant.order, &plan(variant))).collect()
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        self.machine
    }

    /// The name of a launch's kernel; none for a movement of words.
    pub(crate) fn kernel_name(&self, launch: &Launch) -> Option<&'static str> {
        match launch.work {
            Work::Elementwise(shape) => Some(self.variant.kernels.elementwise(shape).name),
            Work::Operation(_) => {
                self.launches().batch(launch).map(|batch| self.variant.kernels.operation(batch).name)
            }
            Work::Permute(_) => None,
        }
    }

    /// The first line of a launch in the text.
    pub(crate) fn line(&self, launch: &Launch) -> Option<u64> {
        self.line_of(launch.first).map(|line| u64::from(line.get()))
    }

    /// The launches in the order of lifting.
    #[cfg(test)]
    pub(crate) fn launches_as_lifted(&self) -> &Launches {
        self.lifting().launches()
    }

    /// The launches.
    pub fn launches(&self) -> &Launches {
        &self.lifting().orders[self.variant.order]
    }

    /// The kernels.
    pub fn kernels(&self) -> &Kernels {
        &self.variant.kernels
    }

    /// Times the program. `record` asks for all launches and transfers.
    ///
    /// # Errors
    /// Returns an error if a launch does not fit the VDM, or if the data do not fit the off-chip memory.
    pub fn time(&self, record: bool) -> Result<Timeline, RunError> {
        let known = self.timeline.clone().filter(|_| !record);
        let plan = || self.plan(record).timeline_before(Time::MAX).map_err(RunError::TooLarge);
        let timeline = known.map_or_else(plan, |known| Ok(Some(known)))?;
        let timeline = timeline.filter(|timeline| timeline.total_ns < Time::MAX.ns());
        let timeline = timeline.ok_or(RunError::TooLong)?;
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
                format!("the input `{}` ends", name(self.lifted.program.inputs(), index))
            }
            Some(Home::Output(index)) => {
                format!("the output `{}` ends", name(self.lifted.program.outputs(), index))
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
        let (program, operation) = self.lifted.program.place(operation as usize);
        program.line(operation)
    }

    fn opcode(&self, operation: u32) -> &'static str {
        let (program, operation) = self.lifted.program.place(operation as usize);
        program.operations()[operation].opcode()
    }

    /// The events of all kernels.
    pub fn events(&self) -> Events {
        events(self.launches(), &self.variant.kernels)
    }

    /// The report of a timeline.
    pub fn report(&self, timeline: &Timeline) -> Report {
        let (program, flow, launches) = (self.lifted.program, &self.lifting().flow, self.launches());
        let key_bytes = key_bytes(program, flow, self.machine, self.keys);
        let (events, choice) = (self.events(), (self.keys, self.merit));
        let work = timeline.work(&events, self.keys.on_chip(key_bytes));
        let without_launch = (flow.renamed, flow.unused);
        Report::new(program, self.machine, launches, without_launch, timeline, (&work, key_bytes, choice))
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

    /// Refuses data, or a program, of which an operation reads words that are not reduced though the kernel of the machine
    /// may accept them. Only programs that read a limb modulo a smaller number than they wrote it take time.
    ///
    /// # Errors
    /// Returns the executor's error.
    pub fn check_reduced(&self, inputs: &Inputs<'_>) -> Result<(), RunError> {
        if !may_read_unreduced(self.lifted.program) {
            return Ok(());
        }
        self.execute(inputs)?;
        ring_program::execute(inputs).map(drop).map_err(RunError::Reference)
    }

    /// Executes the program on words of the whole ranges that its operations allow, and compares it with the executor on big
    /// integers. The text does not say whether a limb that is read modulo a smaller number has smaller words, so a run that
    /// reads one that is not reduced says nothing.
    ///
    /// # Errors
    /// Returns the first difference, or the error of a launch.
    pub fn check_on_edges(&self, seed: u64) -> Result<(), RunError> {
        let mut inputs = Inputs::new(self.lifted.program);
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
        for ((group, expected), found) in self.lifted.program.outputs().iter().zip(&expected).zip(outputs) {
            for ((&limb, expected), found) in group.limbs.iter().zip(expected).zip(found) {
                if let Some(index) = expected.iter().zip(found.iter()).position(|(a, b)| a != b) {
                    return Err(RunError::Differs {
                        output: group.name.clone(),
                        id: self.lifted.program.limbs().id(limb),
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

/// The reason why a program cannot run.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RunError {
    /// A kernel cannot be generated for the machine.
    #[error(transparent)]
    Kernel(codegen::Error),
    /// A launch does not fit the VDM.
    #[error(transparent)]
    TooLarge(TooLarge),
    /// The off-chip memory is too small for the data.
    #[error("{place} beyond the off-chip memory: {error}")]
    BeyondHbm {
        /// The data that end beyond it, with the verb.
        place: String,
        /// What is needed.
        error: BeyondHbm,
    },
    /// The time does not fit its type.
    #[error("the run takes more than 2^64 ps, 213 days")]
    TooLong,
    /// An input has no words.
    #[error("the input `{name}` is missing")]
    MissingInput {
        /// The name of the input.
        name: String,
    },
    /// A launch failed.
    #[error("{}{place}: {error}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Launch {
        /// Its line in the text, if it has one.
        line: Option<NonZeroU32>,
        /// Its operations.
        place: String,
        /// The reason.
        error: LaunchError,
    },
    /// The executor on big integers failed.
    #[error("the executor on big integers: {0}")]
    Reference(ExecuteError),
    /// A result differs from that of the executor on big integers.
    #[error(
        "word {index} of the limb `{id}` of the output `{output}` is {found:#x}, but the executor on big integers \
         computes {expected:#x}"
    )]
    Differs {
        /// The name of the output.
        output: String,
        /// The limb.
        id: ring_program::LimbId,
        /// The index of the word.
        index: usize,
        /// The word.
        found: u128,
        /// The expected word.
        expected: u128,
    },
}

impl RunError {
    /// The line of the text at fault.
    pub fn line(&self) -> Option<NonZeroU32> {
        match self {
            Self::Launch { line, .. } | Self::Reference(ExecuteError::NotReduced { line, .. }) => *line,
            Self::Kernel(_)
            | Self::TooLarge(_)
            | Self::BeyondHbm { .. }
            | Self::TooLong
            | Self::MissingInput { .. }
            | Self::Reference(_)
            | Self::Differs { .. } => None,
        }
    }

    /// Whether the program ran with a wrong result, in contrast to a run that could not start or
    /// finish.
    pub fn is_wrong_result(&self) -> bool {
        matches!(self, Self::Differs { .. })
    }
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
        Arc::get_mut(&mut wrong.lifted).expect("one owner").program = &product;
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
