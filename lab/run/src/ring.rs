//! Runs of ring programs.

use crate::report::{ProgramFacts, RunReport};
use ring_program::data::Words;
use ring_program::reduction::may_read_unreduced;
use ring_program::{Inputs, Limb, RingProgram, Shape};
use runtime::{Keys, RunError, Runtime, Timeline};
use sim::Machine;
use std::collections::HashSet;
use std::time::Instant;

/// What a run of a ring program does beside its timing.
#[derive(Clone, Debug)]
pub enum RingData<'p> {
    /// Nothing. A timing touches no data, but refuses what an execution does.
    None,
    /// The program is executed.
    Execute(Inputs<'p>),
    /// The program is executed and compared with the executor on big integers: on these inputs, and on drawn words of the
    /// whole ranges that its operations allow, with this seed.
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
    /// Runs a program. `title` is its name in the report; `record` asks for all launches and transfers.
    ///
    /// # Errors
    /// Returns an error if the program does not fit the machine, an input is missing, or a comparison fails.
    pub fn new(
        program: &'p RingProgram,
        title: &str,
        (machine, keys): (&'p Machine, Keys),
        data: &RingData<'p>,
        record: bool,
    ) -> Result<Self, Box<RunError>> {
        let begin = Instant::now();
        let runtime = Runtime::new(program, machine, keys).map_err(Box::new)?;
        let timeline = runtime.time(record).map_err(Box::new)?;
        let timing_wall_s = begin.elapsed().as_secs_f64();
        let facts = ProgramFacts::of_ring(title, program, &runtime);
        let mut report = RunReport::new(&facts, machine).of_ring(runtime.report(&timeline));
        report.simulator.timing_wall_s = Some(timing_wall_s);
        let mut outputs = Vec::new();
        match data {
            RingData::None => {
                if may_read_unreduced(program) {
                    let mut inputs = Inputs::new(program);
                    inputs.fill(0);
                    runtime.check_reduced(&inputs).map_err(Box::new)?;
                }
            }
            RingData::Execute(inputs) | RingData::Check(inputs, _) => {
                let begin = Instant::now();
                outputs = runtime.execute(inputs)?;
                report.simulator.functional_wall_s = Some(begin.elapsed().as_secs_f64());
                match data {
                    RingData::Check(_, seed) => {
                        runtime.check(inputs, &outputs)?;
                        runtime.check_on_edges(*seed)?;
                        report.checked = true;
                    }
                    RingData::Execute(_) | RingData::None => runtime.check_reduced(inputs)?,
                }
            }
        }
        report.simulator.wall_s = Some(begin.elapsed().as_secs_f64());
        Ok(Self { runtime, timeline, report, outputs })
    }
}

/// Whether any line or call of a program writes an output. If not, there is nothing to check.
pub fn writes_outputs(program: &RingProgram) -> bool {
    let lines = program.operations().iter().map(Shape::destination);
    let written: HashSet<Limb> = lines.chain(program.calls().flat_map(|call| call.results.clone())).collect();
    program.outputs().iter().flat_map(|group| &group.limbs).any(|limb| written.contains(limb))
}
