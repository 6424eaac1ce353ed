//! Runs of ring programs.

use crate::report::{ProgramFacts, RunReport};
use crate::stages::stage_costs;
use ring_program::data::Words;
use ring_program::reduction::may_read_unreduced;
use ring_program::{Call, Group, Inputs, Operation, RingProgram, Shape};
use runtime::{Choice, Keys, RunError, Runtime, Timeline};
use sim::Machine;
use std::time::Instant;

/// What a run of a ring program does beside its timing.
#[derive(Clone, Debug)]
pub enum RingData<'p> {
    /// Nothing. A timing touches no data, but refuses what an execution does.
    None,
    /// The program is executed.
    Execute(Inputs<'p>),
    /// The program is executed and compared with the executor on big integers: on these inputs, and on drawn
    /// words of the whole ranges that its operations allow, with this seed.
    Check(Inputs<'p>, u64),
}

/// A finished run of a ring program.
#[derive(Debug)]
pub struct RingRun<'p> {
    /// The program on its machine.
    pub runtime: Runtime<'p>,
    /// Its launches and transfers, which pages and traces show.
    pub timeline: Timeline,
    /// The document of the run.
    pub report: RunReport,
    /// The words of each output, in the order of the program; none without an execution.
    pub outputs: Vec<Vec<Words>>,
}

impl<'p> RingRun<'p> {
    /// Times a program on a machine, mapped by a choice. `title` is its name in the report; `record` asks for
    /// all launches and transfers.
    ///
    /// # Errors
    /// Returns an error if the program does not fit the machine.
    pub fn timed(
        program: &'p RingProgram,
        title: &str,
        (machine, keys, choice): (&'p Machine, Keys, Choice),
        record: bool,
    ) -> Result<Self, Box<RunError>> {
        let begin = Instant::now();
        let runtime = Runtime::mapped(program, machine, (keys, choice)).map_err(Box::new)?;
        let timeline = if record { runtime.time(true) } else { runtime.accounted() };
        let timeline = timeline.map_err(Box::new)?;
        let timing_wall_s = begin.elapsed().as_secs_f64();
        let facts = ProgramFacts::of_ring(title, program, &runtime);
        let mut report = RunReport::new(&facts, machine).of_ring(runtime.report(&timeline));
        let profile = runtime.profile(&timeline);
        report.stages = Some(stage_costs(&profile));
        report.profile = Some(profile);
        report.simulator.timing_wall_s = Some(timing_wall_s);
        report.simulator.wall_s = Some(begin.elapsed().as_secs_f64());
        Ok(Self { runtime, timeline, report, outputs: Vec::new() })
    }

    /// The run with its data. Those of a large program take far longer to read than its timing, so they can
    /// come after it.
    ///
    /// # Errors
    /// Returns an error if an input is missing, or if a comparison fails.
    pub fn with_data(mut self, program: &RingProgram, data: &RingData<'_>) -> Result<Self, Box<RunError>> {
        let Self { runtime, report, outputs, .. } = &mut self;
        let begin = Instant::now();
        match data {
            RingData::None => {
                if may_read_unreduced(program) {
                    let mut inputs = Inputs::new(program);
                    inputs.fill(0);
                    runtime.check_reduced(&inputs).map_err(Box::new)?;
                }
            }
            RingData::Execute(inputs) | RingData::Check(inputs, _) => {
                *outputs = runtime.execute(inputs)?;
                report.simulator.functional_wall_s = Some(begin.elapsed().as_secs_f64());
                match data {
                    RingData::Check(_, seed) => {
                        runtime.check(inputs, outputs)?;
                        runtime.check_on_edges(*seed)?;
                        report.checked = idle_outputs(program).is_empty() && !program.outputs().is_empty();
                    }
                    RingData::Execute(_) | RingData::None => runtime.check_reduced(inputs)?,
                }
            }
        }
        if let Some(wall_s) = &mut report.simulator.wall_s {
            *wall_s += begin.elapsed().as_secs_f64();
        }
        Ok(self)
    }
}

/// What the words of a limb follow from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Dependence {
    /// Nothing: they are the same for all inputs.
    Constant,
    /// They are those of an input, perhaps copied.
    Input,
    /// An operation on an input.
    Work,
}

/// The outputs of which no line computes a limb from an input: they are inputs, copies of them, or constants.
/// To compare them shows nothing.
pub fn idle_outputs(program: &RingProgram) -> Vec<&Group> {
    let mut origins = vec![Dependence::Constant; program.limbs().len()];
    for limb in program.inputs().iter().flat_map(|group| &group.limbs) {
        origins[limb.index()] = Dependence::Input;
    }
    follow(program.operations(), &mut origins);
    for Call { function, arguments, results } in program.calls() {
        let function = program.function(*function);
        let mut own = vec![Dependence::Constant; function.body().limbs().len()];
        for (parameter, argument) in function.parameters().iter().zip(arguments) {
            own[parameter.index()] = origins[argument.index()];
        }
        follow(function.body().operations(), &mut own);
        for (result, limb) in results.iter().zip(function.results()) {
            origins[result.index()] = own[limb.index()];
        }
    }
    let is_idle = |group: &&Group| group.limbs.iter().all(|limb| origins[limb.index()] != Dependence::Work);
    program.outputs().iter().filter(is_idle).collect()
}

/// Follows lines from the limbs that they read to those that they write.
fn follow(operations: &[Operation], origins: &mut [Dependence]) {
    for operation in operations {
        let sources = operation.sources().into_iter().flatten().map(|source| origins[source.index()]);
        let origin = sources.max().unwrap_or(Dependence::Constant);
        let is_work = origin != Dependence::Constant && !matches!(operation, Operation::Copy(_));
        origins[operation.destination().index()] = if is_work { Dependence::Work } else { origin };
    }
}
