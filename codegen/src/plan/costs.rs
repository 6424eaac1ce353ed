//! The cycles for which the instructions of plans hold their pipes.

use super::{Plan, Step, TracedPass};
use b512_asm::{AReg, AddressMode, Instr, Offset, Op, PerPipe, Pipe, VReg};
use sim::Machine;
use sim::machine::VbarPaths;
use sim::timing::scheduling::Decoder;

/// The cycles for which instructions hold their pipes on a machine.
pub(crate) struct Costs<'a> {
    decoder: Decoder<'a>,
    /// Whether loads and stores have a path to memory each.
    split: bool,
}

impl<'a> Costs<'a> {
    pub(crate) fn new(machine: &'a Machine) -> Self {
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
    pub(crate) fn busy(&mut self, plan: &Plan) -> PerPipe<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::plan::derive::derive;
    use crate::recipe::{Order, Recipe};
    use crate::request::Request;
    use crate::schedule::Tuning;
    use ring::Degree;
    use sim::machine::{BankMapping, Values};
    use sim::timing::simulate;

    /// Programs load constants as well. If registers of one instruction share an SRAM of the VRF, it also
    /// holds its pipe for longer; free ports leave this out.
    #[test]
    fn programs_keep_pipes_busy_as_plans_do() {
        let request = Request::with_primes(golden::NTT, Degree::try_from(4096u32).unwrap(), 60, 1).unwrap();
        let change = |change: fn(&mut Values)| {
            let mut machine = Machine::rpu_128x128();
            machine.edit(|values| values.ideal.vrf_ports = true).unwrap();
            machine.edit(change).unwrap();
            machine
        };
        let machines = [
            change(|_| ()),
            change(|values| values.vdm.banks = 32),
            change(|values| values.vdm.mapping = BankMapping::Xor),
            change(|values| (values.hple.count, values.hple.initiation_interval) = (16, 3)),
            change(|values| (values.vbar.initiation_interval, values.sbar.initiation_interval) = (2, 2)),
            change(|values| (values.vdm.ports, values.vbar.paths) = (2, VbarPaths::Split)),
        ];
        for machine in machines {
            for plan in derive(request.shape(machine.instruction_set()), &machine, 8) {
                let expected = Costs::new(&machine).busy(&plan);
                let recipe = Recipe {
                    method: None,
                    plans: vec![plan.clone()],
                    order: Order::ByDemand,
                    stagger: None,
                    forwarding: None,
                    tuning: Tuning::default(),
                };
                let kernel = compile(&request, &recipe, &machine).unwrap();
                let timing = simulate(&machine, &kernel.program);
                for pipe in Pipe::VECTOR {
                    let (busy, expected) = (timing.busy[pipe], expected[pipe]);
                    let agrees = if pipe == Pipe::LoadStore { expected <= busy } else { expected == busy };
                    assert!(agrees, "{} {}: {busy}, not {expected}", plan.name, pipe.name());
                }
                assert!(expected.values().all(|&busy| busy <= timing.cycles.0), "{}", plan.name);
            }
        }
    }
}
