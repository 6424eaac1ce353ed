//! The cycles for which the instructions of plans hold their pipes.

use super::{Plan, Step, TracedPass};
use b512_asm::{AReg, AddressMode, Instr, Offset, Op, PerPipe, Pipe, VReg};
use sim::Machine;
use sim::machine::VbarPaths;
use sim::timing::scheduling::Decoder;

/// The cycles for which instructions hold their pipes on a machine.
pub struct Costs<'a> {
    decoder: Decoder<'a>,
    /// Whether loads and stores have a path to memory each.
    split: bool,
}

impl<'a> Costs<'a> {
    /// The costs on a machine.
    pub fn new(machine: &'a Machine) -> Self {
        Self { decoder: Decoder::new(machine), split: machine.vbar.paths == VbarPaths::Split }
    }

    /// A load or store of a whole vector, with its conflicts at banks.
    pub(super) fn access(&mut self, mode: AddressMode) -> u64 {
        let (vd, base) = (VReg::all().next(), AReg::all().next());
        let (vd, base) = (vd.expect("registers exist"), base.expect("registers exist"));
        let load = Instr::Vload { vd, base, offset: Offset::new(0).expect("in range"), mode };
        u64::from(self.decoder.decode(&load).occupancy)
    }

    /// A shuffle.
    pub(super) fn shuffle(&self) -> u64 {
        u64::from(self.decoder.least_occupancy(Op::Unpklo))
    }

    /// An arithmetic instruction.
    pub(super) fn arithmetic(&self) -> u64 {
        u64::from(self.decoder.least_occupancy(Op::Vmul))
    }

    /// The cycles for which a plan keeps each pipe busy, without loads of constants. Without forwarding, no
    /// program of the plan needs fewer. Of two paths to memory, the busier one counts. An invalid plan has no
    /// program and no cycles.
    pub fn busy(&mut self, plan: &Plan) -> PerPipe<u64> {
        let Ok(passes) = plan.trace() else { return PerPipe::default() };
        let vectors = plan.vectors();
        let mut accesses = |mode: fn(&TracedPass) -> AddressMode| {
            passes.iter().map(|pass| vectors * self.access(mode(pass))).sum::<u64>()
        };
        let (loads, stores) = (accesses(|pass| pass.load_mode), accesses(|pass| pass.store_mode));
        let instructions = plan.instructions_by_pipe();
        PerPipe::from_fn(|pipe| match pipe {
            Pipe::Scalar => 0,
            Pipe::LoadStore if self.split => loads.max(stores),
            Pipe::LoadStore => loads + stores,
            Pipe::Compute => u64::from(instructions[pipe]) * self.arithmetic(),
            Pipe::Shuffle => u64::from(instructions[pipe]) * self.shuffle(),
        })
    }
}

impl Plan {
    /// The number of vectors of data.
    fn vectors(&self) -> u64 {
        let shape = self.shape();
        1 << shape.bits().saturating_sub(shape.lanes)
    }

    /// The number of instructions in program order, without loads of constants, and with every stage
    /// counted as butterflies.
    pub fn instructions(&self) -> u32 {
        self.instructions_by_pipe().values().sum()
    }

    /// The same for each pipe.
    fn instructions_by_pipe(&self) -> PerPipe<u32> {
        let vectors = self.vectors() as u32;
        let mut instructions = PerPipe::default();
        for pass in &self.passes {
            instructions[Pipe::LoadStore] += 2 * vectors;
            for step in &pass.steps {
                let (pipe, count) = match step {
                    Step::Stage(_) => (Pipe::Compute, vectors / 2),
                    Step::Unpack(_) | Step::Pack(_) => (Pipe::Shuffle, vectors),
                    Step::Twist => (Pipe::Compute, vectors),
                    Step::TwistedStage(_) => (Pipe::Compute, vectors / 2 * 3),
                };
                instructions[pipe] += count;
            }
        }
        instructions
    }
}
