//! Named recipes: the classical pair, the paper's program and the textbook order.
//!
//! All three use the classical constant-geometry pair of the paper: Korn-Lambiotte forward, Pease
//! inverse, in rectangles. Between natural and bit-reversed order, each direction has one of the
//! two, see [`formula`](crate::formula).

use crate::ops;
use crate::plan::{Algorithm, Direction, Plan, Shape};
use crate::recipe::{Order, Recipe};
use crate::request::Request;
use crate::schedule::Tuning;
use b512_asm::Isa;
use golden::Operation;

/// The classical pair, scheduled greedily without regard to the SRAMs.
pub fn constant_geometry(request: &Request, isa: Isa) -> Recipe {
    rectangles(request.operation, request.shape(isa), 4, Tuning::spiral())
}

/// The classical pair, set up like the paper's program as its numbers describe it: larger
/// rectangles, and a scheduler with less information. Intended for the machine `rpu-128x128-paper`.
pub fn paper(request: &Request, isa: Isa) -> Recipe {
    rectangles(request.operation, request.shape(isa), 5, Tuning::paper())
}

/// The classical pair in textbook order, not scheduled for the machine.
pub fn unoptimised(request: &Request, isa: Isa) -> Recipe {
    rectangles(request.operation, request.shape(isa), 4, Tuning::textbook())
}

/// The recipe of an operation by the classical pair for B512, in rectangles of `depth` stages, 1 to
/// 5; the whole transform is one rectangle if it fits 32 registers. `n` is the ring degree, a power
/// of two from 512 to 131072.
pub fn classical(operation: Operation, n: u32, depth: u32, tuning: Tuning) -> Recipe {
    rectangles(operation, Shape::b512(n.trailing_zeros()), depth, tuning)
}

/// [`classical`] for any vector length.
fn rectangles(operation: Operation, shape: Shape, depth: u32, tuning: Tuning) -> Recipe {
    let depth = if shape.vectors() <= 5 { 5 } else { depth };
    let forward = Plan::korn_lambiotte(shape, depth);
    let plans = ops::of(operation).transforms().iter().map(|direction| match direction {
        Direction::Forward => forward.clone(),
        Direction::Inverse => {
            forward.reversed("pease", Algorithm::Inverse).expect("Korn-Lambiotte is a plan")
        }
    });
    let plans = plans.collect();
    Recipe { tuning, order: Order::ByStep, stagger: None, forwarding: None, method: None, plans }
}
