//! The automorphism X -> X^g, by exchanges of lanes in registers, or by loads and stores.
//!
//! Values in bit-reversed order and coefficients in natural order have the same structure. There are as
//! many *classes* of elements as a polynomial has vectors, each of one vector. Every class moves to a
//! class, and within it, lane `h` moves to lane `g h + d`, with `d` depending on the class. For values, a
//! class is a vector of memory, and `h` is the bit-reversed lane. For coefficients, a class is the
//! elements whose indices agree modulo the number of classes; a strided access loads it.
//!
//! So the vectors are loaded in another order, and a network permutes the lanes. A multiplication by an
//! odd number and an addition are invertible modulo every power of two: the lowest bit of the target
//! depends on the lowest bit of `h` only, the next one on two bits, and so on. Once each element has the
//! right lowest bits, two elements that differ in the next bit alone have targets that differ there:
//! they exchange, or they do not. A step of the network therefore is:
//!
//! 1. shuffles of a pair of vectors, which turn a lane bit into the one that selects the vector;
//! 2. the exchange of lanes, `((a + b) + e (a - b), (a + b) - e (a - b))`, with `e` = 1 to keep and -1 to
//!    exchange. It takes two butterflies and doubles the elements; one product at the end corrects that.
//!
//! The tables of `e` differ between classes by `d`. For values, the lanes of a table that matter are the
//! lowest ones, so that most tables are short. For coefficients, they are the highest ones. There the
//! network only multiplies by g, with the same tables for all classes, and memory shifts by `d`: each
//! vector `z` is stored as `z, -z`, and 512 words from some word on (B512's vector length) are loaded.
//!
//! The code depends on g by its tables, by addresses, and by the exchanges that it can omit.
//!
//! The method `memory` (`automorphism/memory.rs`) has neither arithmetic nor shuffles. On a machine with a
//! lane permuter, `permuter` takes one shuffle for each vector of values.

mod memory;
mod network;

use self::network::{Pair, Visit, permute};
use super::builder::RingBuilder;
use super::{Builder, RingOp};
use crate::check::{Basis, Domain, PolynomialId, Words};
use crate::code::{BufferId, MemRef, ValueId};
use crate::error::Error;
use crate::number::{Expression, Number};
use crate::request::Request;
use b512_asm::{AddressMode, LaneMap, Log2, Op};
use golden::Settings;
use ring::bits::bit_reverse;
use sim::Machine;

pub(crate) struct Automorphism;

pub(crate) const OP: Automorphism = Automorphism;

const PERMUTER: &str = "permuter";
const NETWORK: &str = "network";
const MEMORY: &str = "memory";

impl RingOp for Automorphism {
    fn methods(&self) -> &'static [&'static str] {
        &[PERMUTER, NETWORK, MEMORY]
    }

    fn obstacle(&self, method: &str, request: &Request, machine: &Machine) -> Option<String> {
        match method {
            PERMUTER if !machine.isa.lane_permuter => {
                Some("the machine has no lane permuter (`isa.lane_permuter`)".to_owned())
            }
            PERMUTER if request.parameters.word("order") != Some(EVALUATION) => {
                Some(format!("it needs the order `{EVALUATION}`"))
            }
            MEMORY => memory::obstacle(request, machine.vector_length()),
            _ => None,
        }
    }

    /// The method `memory` needs several times the operands' memory.
    fn may_overwrite_operand(&self) -> bool {
        true
    }

    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        if builder.method == MEMORY {
            memory::lower(builder);
            return Ok(());
        }
        let has_permuter = builder.method == PERMUTER;
        builder.each_ring(|ring| {
            let map = Map::new(ring);
            let buffers = [ring.input("x"), ring.output("y")];
            if has_permuter {
                permuted_values(ring, map, buffers);
            } else if ring.word("order") == EVALUATION {
                values(ring, map, buffers);
            } else {
                coefficients(ring, map, buffers);
            }
            ring.claim(&[buffers[1]], &[buffers[0]]);
            Ok(())
        })?;
        // The second copy of a single vector.
        builder.code.remove_unread();
        Ok(())
    }

    fn bases(&self, settings: &Settings<'_>) -> Option<[Basis; 2]> {
        let is_transform = settings.word("order") == EVALUATION;
        Some([if is_transform { Basis::Evaluations } else { Basis::Coefficients }; 2])
    }

    fn result(
        &self,
        domain: &mut Domain,
        operands: &[PolynomialId],
        basis: Basis,
        settings: &Settings<'_>,
    ) -> Option<Words> {
        let (x, g) = (operands[0], settings.number("g") as u32);
        Some(match basis {
            Basis::Evaluations => domain.mapped_evaluations(x, g),
            Basis::Coefficients => domain.mapped_coefficients(x, g),
        })
    }
}

const EVALUATION: &str = "evaluation";

/// The pairs that go through the network together. They and their tables fit the registers.
const GROUP: usize = 12;

/// The permutation of an automorphism.
#[derive(Clone, Copy)]
struct Map {
    g: u32,
    n: u32,
    /// The vector length.
    lanes: u32,
    /// The number of classes.
    classes: u32,
}

impl Map {
    fn new(ring: &RingBuilder<'_>) -> Self {
        let (g, n, lanes) = (ring.number("g") as u32, ring.n(), ring.code.isa.vector_length());
        Self { g, n, lanes, classes: n / lanes }
    }

    /// For a class of the result, among values: the class that it comes from, and the shift of its lanes.
    fn source(self, class: u32) -> (u32, u32) {
        let Self { g, lanes, classes, .. } = self;
        let t = g * reversed(class, classes) + (g - 1) / 2;
        (reversed(t % classes, classes), t / classes % lanes)
    }

    /// Groups of pairs of classes. The only class of a polynomial of one vector is there twice.
    fn groups(self) -> impl Iterator<Item = Vec<[u32; 2]>> {
        let pair = move |class| [class, (class + 1) % self.classes];
        let group = move |first| (first..self.classes).step_by(2).take(GROUP).map(pair).collect();
        (0..self.classes).step_by(2 * GROUP).map(group)
    }

    /// A factor that undoes doublings, and its negative.
    fn undo(ring: &mut RingBuilder<'_>, doublings: u32) -> [Number; 2] {
        let inverse = Expression::Inverse(Box::new(Expression::Value(1 << doublings)));
        let negative = Expression::Negative(Box::new(inverse.clone()));
        [inverse, negative].map(|factor| ring.code.number(factor))
    }
}

/// The bits of a number below `of`, a power of two, in reverse order.
fn reversed(number: u32, of: u32) -> u32 {
    bit_reverse(number as usize, of.ilog2()) as u32
}

/// Appends the code for values in bit-reversed order with a lane permuter.
fn permuted_values(ring: &mut RingBuilder<'_>, map: Map, [x, y]: [BufferId; 2]) {
    let (Map { g, lanes, classes, .. }, tower) = (map, ring.tower());
    let at = |buffer, class| MemRef { buffer, word: class * lanes, mode: AddressMode::Linear };
    for class in 0..classes {
        let (source, shift) = map.source(class);
        let value = ring.code.load(at(x, source), tower);
        let lane_map = LaneMap::new((g % lanes) as u16, shift as u16).expect("a permuter has such maps");
        let is_identity = (g % lanes, shift) == (1, 0);
        let value = if is_identity { value } else { ring.code.map_lanes(value, lane_map, tower) };
        ring.code.store(value, at(y, class), tower);
    }
}

/// Appends the code for values in bit-reversed order.
fn values(ring: &mut RingBuilder<'_>, map: Map, [x, y]: [BufferId; 2]) {
    let (Map { g, n, lanes, classes }, tower) = (map, ring.tower());
    let at = |buffer, class| MemRef { buffer, word: class * lanes, mode: AddressMode::Linear };
    // The word of the operand that a word of the result takes: the value at the gth power.
    let source = |word| reversed(g.wrapping_mul(2 * reversed(word, n) + 1) % (2 * n) / 2, n);
    for group in map.groups() {
        let load = |pair: &[u32; 2]| {
            let targets = pair.map(|class| {
                let mut targets = vec![0; lanes as usize];
                for lane in 0..lanes {
                    targets[(source(class * lanes + lane) % lanes) as usize] = lane;
                }
                targets
            });
            let registers = pair.map(|class| ring.code.load(at(x, source(class * lanes) / lanes), tower));
            Pair::new(registers, [&targets[0], &targets[1]])
        };
        let mut pairs: Vec<Pair> = group.iter().map(load).collect();
        permute(ring, &mut pairs, Visit::Descending);
        for (classes_of_pair, pair) in group.iter().zip(pairs) {
            let [undo, _] = Map::undo(ring, pair.doublings);
            for (&class, value) in classes_of_pair.iter().zip(pair.registers).take(classes as usize) {
                let value = if pair.doublings > 0 { ring.code.scale(value, undo, tower) } else { value };
                ring.code.store(value, at(y, class), tower);
            }
        }
    }
}

/// The number of vectors that are in the memory of the shifts at a time.
const ROWS: u32 = 16;

/// Appends the code for coefficients in natural order.
fn coefficients(ring: &mut RingBuilder<'_>, map: Map, [x, y]: [BufferId; 2]) {
    let (Map { g, n, lanes, classes }, tower) = (map, ring.tower());
    let stride = Log2::new(classes.ilog2() as u8).expect("a polynomial fits the memory");
    let mode = if classes == 1 { AddressMode::Linear } else { AddressMode::Strided(stride) };
    let at = |buffer, class| MemRef { buffer, word: class, mode };
    // Element `classes a + class` moves to `classes (g a + d) + g class mod classes`.
    let product = |lane: u32| g.wrapping_mul(lane) % (2 * lanes);
    let targets: Vec<u32> = (0..lanes).map(|lane| product(lane) % lanes).collect();
    let mut negative = vec![false; lanes as usize];
    (0..lanes).for_each(|lane| negative[targets[lane as usize] as usize] = product(lane) >= lanes);
    let mut shift = Shift { rows: None, next: 0, lanes };
    for group in map.groups() {
        let load = |pair: &[u32; 2]| {
            let registers = pair.map(|class| ring.code.load(at(x, class), tower));
            Pair::new(registers, [&targets, &targets])
        };
        let mut pairs: Vec<Pair> = group.iter().map(load).collect();
        permute(ring, &mut pairs, Visit::Ascending);
        for (classes_of_pair, pair) in group.iter().zip(pairs) {
            let undo = Map::undo(ring, pair.doublings);
            for (&class, value) in classes_of_pair.iter().zip(pair.registers).take(classes as usize) {
                let moved = g.wrapping_mul(class) % (2 * n);
                let mut signed = |ring: &mut RingBuilder<'_>, minus: bool| {
                    if pair.doublings == 0 && !minus && !negative.contains(&true) {
                        return value;
                    }
                    let factor = |&negative: &bool| undo[usize::from(negative != minus)];
                    let factors = ring.vector(negative.iter().map(factor).collect());
                    ring.code.apply(Op::Vmul, [value], Some(factors), tower)
                };
                let value = shift.apply(ring, moved / classes, &mut signed);
                ring.code.store(value, at(y, moved % classes), tower);
            }
        }
    }
}

/// Negacyclic shifts through memory.
struct Shift {
    rows: Option<BufferId>,
    next: u32,
    lanes: u32,
}

impl Shift {
    /// `signed(.., false)` shifted by `distance` lanes modulo X^lanes + 1; `signed(.., true)` is its
    /// negative.
    fn apply(
        &mut self,
        ring: &mut RingBuilder<'_>,
        distance: u32,
        signed: &mut dyn FnMut(&mut RingBuilder<'_>, bool) -> ValueId,
    ) -> ValueId {
        let (lanes, tower) = (self.lanes, ring.tower());
        // Lane j takes element j - distance of the infinite sequence z, -z, z, ..
        let first = distance.wrapping_neg() % (2 * lanes);
        let minus = first >= lanes;
        if first.is_multiple_of(lanes) {
            return signed(ring, minus);
        }
        let buffer = *self.rows.get_or_insert_with(|| {
            let words = 2 * lanes * ROWS.min(ring.n() / lanes);
            ring.scratch("rows", words)
        });
        let row = 2 * lanes * (self.next % ROWS);
        self.next += 1;
        let at = |word| MemRef { buffer, word: row + word, mode: AddressMode::Linear };
        for (half, minus) in [(0, minus), (lanes, !minus)] {
            let value = signed(ring, minus);
            ring.code.store(value, at(half), tower);
        }
        ring.code.load(at(first % lanes), tower)
    }
}
