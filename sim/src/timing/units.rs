//! Beats, initiation interval and latency of each class of instructions.

use super::banks::vbar_beats;
use crate::machine::{Machine, VbarPaths};
use b512_asm::{Class, Pipe};

/// The timing of a class of instructions on one machine.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub(super) pipe: Pipe,
    /// [`MicroOp::path`](super::micro_op::MicroOp::path).
    pub(super) path: u8,
    pub(super) scalar_load: bool,
    /// The number of beats without bank conflicts.
    pub(super) beats: u32,
    pub(super) initiation_interval: u32,
    pub(super) latency: u32,
}

impl Unit {
    pub(super) fn of(machine: &Machine, class: Class) -> Self {
        let pipe = class.pipe();
        let initiation_interval = match pipe {
            // To the register file each cycle of a load or store is a beat.
            Pipe::LoadStore | Pipe::Scalar => 1,
            Pipe::Compute => machine.hple.initiation_interval,
            Pipe::Shuffle => machine.sbar.initiation_interval,
        };
        Self {
            pipe,
            path: u8::from(class == Class::Store && machine.vbar.paths == VbarPaths::Split),
            scalar_load: class == Class::ScalarLoad,
            beats: beats(machine, pipe),
            initiation_interval,
            latency: latency(machine, class),
        }
    }
}

/// Beats of an instruction of `pipe` without bank conflicts.
pub(super) fn beats(machine: &Machine, pipe: Pipe) -> u32 {
    match pipe {
        Pipe::LoadStore => vbar_beats(machine) * machine.vbar.initiation_interval,
        Pipe::Compute | Pipe::Shuffle => machine.vector_length() / machine.hple.count,
        Pipe::Scalar => 0,
    }
}

/// Cycles from issue to the first write.
fn latency(machine: &Machine, class: Class) -> u32 {
    let (multiplier, adder) = (machine.hple.multiplier_latency_cycles, machine.hple.adder_latency_cycles);
    match class {
        Class::Halt | Class::ScalarLoad => 0,
        Class::Load => machine.load_latency(),
        Class::Store => machine.vbar_stages(),
        Class::Add | Class::Subtract => adder,
        Class::Multiply => multiplier,
        Class::Butterfly(_) => multiplier + adder,
        Class::Permute(_) => machine.sbar_stages(),
    }
}
