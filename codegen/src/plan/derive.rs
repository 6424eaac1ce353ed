//! Plans from formulas.
//!
//! The [formula](crate::formula) of a transform is a product of butterfly stages and stride permutations.
//! On index bits, a stage is one bit, and a stride permutation is a rotation. The formula therefore gives
//! the order of the stages, and leaves open how the bits travel: by shuffles, by the strides of loads and
//! stores, or not at all, because another register number is enough. [`derive()`] searches these movements.
//!
//! It is a beam search over placements. From each placement, it continues with
//!
//! * the next stage, if its bit numbers registers;
//! * an unpack of a register bit whose stage is done;
//! * a new pass. Stores at stride 2^m with contiguous loads bring m bits to the lowest lanes and let the m
//!   topmost ones go; contiguous stores with loads at stride 2^m do the opposite.
//!
//! The cost of a pass is the occupancy of its busiest pipe: loads and stores with bank conflicts and
//! constants, shuffles, or butterflies; or its dependence chain if that is longer. Placements with equal
//! stages done and an equal number of passes compete.

use super::costs::Costs;
use super::{Algorithm, Bit, Layout, Pass, Plan, Shape, Step, natural_layout};
use arrayvec::ArrayVec;
use b512_asm::{AddressMode, Log2};
use rustc_hash::FxHashSet;
use sim::Machine;
use std::rc::Rc;

/// The most passes of a plan.
const PASSES: usize = 4;
/// The most bits that number registers in a block. Larger blocks leave too few registers for other uses.
const REGISTERS: usize = 5;
/// The fewest, unless fewer bits are outside the lanes.
const SMALLEST: usize = 4;
/// One state of this many goes on to a new pass, since a new pass has many successors.
const LEADERS: usize = 4;
/// The most unpacks between two stages, besides the ones that the next stage needs.
const EARLY: usize = 2;

/// The cycles of instructions on a machine.
struct Cycles {
    /// A load or store, by log2 of its stride.
    memory: Vec<u64>,
    shuffle: u64,
    butterfly: u64,
    /// Latencies of a load or store, a shuffle and a butterfly.
    latencies: [u64; 3],
}

impl Cycles {
    fn new(shape: Shape, machine: &Machine) -> Self {
        let mut costs = Costs::new(machine);
        let mode = |log_stride| Log2::new(log_stride).map_or(AddressMode::Linear, AddressMode::Strided);
        let butterfly = machine.hple.multiplier_latency_cycles + machine.hple.adder_latency_cycles;
        let latencies = [machine.load_latency(), machine.sbar_stages(), butterfly];
        Self {
            memory: (0..=shape.vectors() as u8).map(|stride| costs.access(mode(stride))).collect(),
            shuffle: costs.shuffle(),
            butterfly: costs.arithmetic(),
            latencies: latencies.map(u64::from),
        }
    }
}

/// The way to a state, last step first.
enum Trail {
    Start,
    /// Loads for a new pass: the layout in memory, the lanes and the registers.
    Load(Rc<Trail>, Bits<MAX_BITS>, Lanes, Bits<REGISTERS>),
    Step(Rc<Trail>, Step),
}

/// A plan up to some point of a pass.
#[derive(Clone)]
struct State {
    trail: Rc<Trail>,
    /// The number of finished passes, and their cost.
    passes: usize,
    spent: u64,
    /// log2 of the stride of the current pass's loads, and the numbers of its instructions.
    load: usize,
    stages: u64,
    unpacks: u64,
    constants: u64,
    /// The current placement: lanes lowest first.
    lanes: Lanes,
    registers: Bits<REGISTERS>,
    /// The number of stages done, and of unpacks since the last one that the next one did not need.
    done: usize,
    early: usize,
}

impl State {
    /// Before the first pass.
    fn nothing() -> Self {
        Self {
            trail: Rc::new(Trail::Start),
            passes: 0,
            spent: 0,
            load: 0,
            stages: 0,
            unpacks: 0,
            constants: 0,
            lanes: Lanes::new(),
            registers: Bits::new(),
            done: 0,
            early: 0,
        }
    }
}

type Bits<const MOST: usize> = ArrayVec<Bit, MOST>;
type Lanes = Bits<{ MAX_BITS }>;
/// The most index bits.
const MAX_BITS: usize = Plan::MAX_LOG_N as usize + 1;

/// A search for plans of one shape on one machine.
struct Search {
    cycles: Cycles,
    shape: Shape,
    /// The bits in stage order, and from the lowest.
    order: Vec<Bit>,
    natural: Layout,
    /// The states to keep for each number of passes.
    width: usize,
    /// Whether no unpack comes before the stage that needs it. Of equal unpacks, the last register bit then
    /// goes first.
    lazy: bool,
}

impl Search {
    fn new(shape: Shape, machine: &Machine, width: usize, lazy: bool) -> Self {
        let order = Algorithm::Forward.stages(shape.log_n);
        let (cycles, natural) = (Cycles::new(shape, machine), natural_layout(shape.bits()));
        Self { cycles, shape, order, natural, width, lazy }
    }

    fn vectors(&self) -> u64 {
        1 << (self.shape.bits() - self.shape.lanes)
    }

    fn left(&self, state: &State) -> &[Bit] {
        &self.order[state.done..]
    }

    /// The cost of the current pass if it ends with stores at stride 2^`store`.
    fn pass_cost(&self, state: &State, store: usize) -> u64 {
        let (cycles, vectors) = (&self.cycles, self.vectors());
        let accesses = vectors * (cycles.memory[state.load] + cycles.memory[store]);
        let busy = [
            accesses + state.constants * cycles.memory[0],
            state.unpacks * vectors * cycles.shuffle,
            state.stages * vectors * cycles.butterfly / 2,
        ];
        let [access, shuffle, butterfly] = cycles.latencies;
        let chain = 2 * access + state.unpacks * shuffle + state.stages * butterfly;
        let (most, sum) = (busy.into_iter().max().unwrap_or(0), busy.iter().sum::<u64>());
        // The other pipes matter a little: no schedule hides them completely.
        most.max(chain) + (sum - most) / 8
    }

    /// The least cost of bringing a vector into natural order. Bits that stay in the lanes are at their final
    /// distances. Unpacks, or a transposition between two passes, move the remaining bits, and the stores
    /// have the stride that is left.
    fn movement(&self, state: &State) -> u64 {
        let (lanes, left, memory) = (&state.lanes, set(self.left(state)), &self.cycles.memory);
        let transposition = (state.passes + 1 < PASSES).then(|| memory[0] + memory[memory.len() - 1]);
        // The lowest lanes with consecutive bits, whose stages are done, can stay.
        let stay =
            lanes.iter().zip(lanes[0].0..).take_while(|(bit, next)| bit.0 == *next && left >> bit.0 & 1 == 0);
        let cost = |kept: usize| {
            let moved = lanes.len() - kept;
            let stride = if kept == 0 { 0 } else { usize::from(lanes[0].0).wrapping_sub(moved) };
            let store = memory.get(stride)?;
            let unpacks = |count: usize| count as u64 * self.cycles.shuffle;
            let transposed = transposition.map(|cost| cost + unpacks(moved.saturating_sub(memory.len() - 1)));
            Some(transposed.map_or(unpacks(moved), |cost| cost.min(unpacks(moved))) + store - memory[0])
        };
        (0..=stay.count()).filter_map(cost).min().unwrap_or(0)
    }

    /// The cost so far, and what the rest costs at least.
    fn estimate(&self, state: &State) -> u64 {
        let butterflies = self.left(state).len() as u64 * self.cycles.butterfly / 2;
        let rest = self.movement(state).max(butterflies) * self.vectors();
        state.spent + self.pass_cost(state, 0) + rest
    }

    /// The best states for each number of passes. Of equal placements, the best one.
    fn best(&self, states: Vec<State>) -> Vec<State> {
        let mut ranked: Vec<(u64, &State)> =
            states.iter().map(|state| (self.estimate(state), state)).collect();
        // The sort is stable.
        ranked.sort_by_key(|(cost, _)| *cost);
        let (mut seen, mut kept) = (FxHashSet::default(), [0; PASSES]);
        ranked.retain(|(_, state)| {
            let lanes = state.lanes.iter().fold(0u128, |all, bit| all << 5 | u128::from(bit.0));
            let key = (state.passes, state.stages == 0, lanes, set(&state.registers));
            let room = kept[state.passes] < self.width && seen.insert(key);
            kept[state.passes] += usize::from(room);
            room
        });
        ranked.into_iter().map(|(_, state)| state.clone()).collect()
    }

    /// The states after the next stage, if its bit numbers registers.
    fn staged(&self, state: &State) -> Option<State> {
        let bit = *self.left(state).first()?;
        // The factor of a stage depends on the bits of earlier stages. Those outside the lanes number its
        // constants.
        let number = self.order[..state.done].iter().filter(|bit| !state.lanes.contains(bit)).count();
        state.registers.contains(&bit).then(|| State {
            trail: Rc::new(Trail::Step(state.trail.clone(), Step::Stage(bit))),
            stages: state.stages + 1,
            constants: state.constants + (1 << number),
            done: state.done + 1,
            early: 0,
            ..state.clone()
        })
    }

    /// The states after an unpack of a bit whose stage is done.
    fn unpacked(&self, state: &State) -> Vec<State> {
        let left = self.left(state);
        // Unpacks bring the next stage's bit to the registers; beyond that, a few can be early.
        let (needed, most) = match left.first() {
            Some(next) => (state.lanes.contains(next), if self.lazy { 0 } else { EARLY }),
            None => (false, state.lanes.len() + EARLY),
        };
        if !needed && state.early >= most {
            return Vec::new();
        }
        let mut positions: ArrayVec<usize, REGISTERS> = (0..state.registers.len()).collect();
        if self.lazy {
            positions.reverse();
        }
        let staged = positions.into_iter().filter(|&at| !left.contains(&state.registers[at]));
        staged.map(|at| State { early: state.early + usize::from(!needed), ..unpack(state, at) }).collect()
    }

    /// The states after the loads of a new pass.
    fn reloaded(&self, state: &State) -> Vec<State> {
        let mut next = Vec::new();
        // Memory holds one copy of a polynomial of one vector.
        let whole = self.shape.vectors() == 0;
        if whole || state.stages == 0 || self.left(state).is_empty() || state.passes + 1 == PASSES {
            return next;
        }
        let lanes = &state.lanes[..];
        let of_lanes = set(lanes);
        let outside: Bits<MAX_BITS> =
            self.natural.iter().copied().filter(|bit| of_lanes >> bit.0 & 1 == 0).collect();
        let memory = &self.cycles.memory;
        for moved in 0..=outside.len().min(lanes.len()).min(memory.len() - 1) {
            // Shuffles would be cheaper.
            if memory[moved] - memory[0] > 2 * moved as u64 * self.cycles.shuffle {
                break;
            }
            for first in 0..if moved == 0 { 1 } else { outside.len() } {
                let others: Bits<MAX_BITS> =
                    outside.iter().cycle().skip(first).take(moved).copied().collect();
                let of_others = set(&others);
                let rest = outside.iter().filter(|bit| of_others >> bit.0 & 1 == 0);
                let layout = others.iter().chain(lanes).chain(rest.clone()).copied().collect();
                self.load(state, [moved, 0], layout, &mut next);
                if moved > 0 {
                    let layout = lanes.iter().chain(&others).chain(rest).copied().collect();
                    self.load(state, [0, moved], layout, &mut next);
                }
            }
        }
        next
    }

    /// Adds the starts of a pass, with blocks of several sizes, after stores and with loads at these strides.
    fn load(&self, state: &State, [store, load]: [usize; 2], layout: Bits<MAX_BITS>, next: &mut Vec<State>) {
        let lanes: Lanes = layout[load..load + self.shape.lanes as usize].iter().copied().collect();
        // The bits of the next stages, then the remaining ones from the top.
        let (left, of_lanes) = (self.left(state), set(&lanes));
        let of_left = set(left);
        let others = self.natural.iter().rev().filter(|bit| of_left >> bit.0 & 1 == 0);
        let outside = left.iter().chain(others).filter(|bit| of_lanes >> bit.0 & 1 == 0).copied();
        let outside: Bits<REGISTERS> = outside.take(REGISTERS).collect();
        let spent = state.spent + if state.stages == 0 { 0 } else { self.pass_cost(state, store) };
        // Transpositions are for large transforms, which use large blocks.
        let least = if store == load { outside.len().min(SMALLEST) } else { outside.len() };
        for size in least..=outside.len() {
            let registers: Bits<REGISTERS> = outside[..size].iter().copied().collect();
            let trail = Trail::Load(state.trail.clone(), layout.clone(), lanes.clone(), registers.clone());
            next.push(State {
                trail: Rc::new(trail),
                passes: state.passes + usize::from(state.stages > 0),
                spent,
                load,
                stages: 0,
                unpacks: 0,
                constants: 0,
                lanes: lanes.clone(),
                registers,
                done: state.done,
                early: 0,
            });
        }
    }

    /// The plan and its cost, if all stages are done and stores can leave natural order.
    fn finished(&self, state: &State) -> Option<(u64, Plan)> {
        let store = usize::from(state.lanes[0].0);
        let lanes =
            self.natural.get(store..store + state.lanes.len()).filter(|lanes| **lanes == state.lanes[..]);
        if !self.left(state).is_empty() || lanes.is_none() || store >= self.cycles.memory.len() {
            return None;
        }
        let passes = passes(&state.trail, self.natural.clone());
        let name = passes.iter().map(name).collect::<Vec<_>>().join("+");
        let plan = Plan { name, algorithm: Algorithm::Forward, log_n: self.shape.log_n, passes };
        Some((state.spent + self.pass_cost(state, store), plan))
    }

    fn run(&self) -> Vec<(u64, Plan)> {
        let nothing = State::nothing();
        let starts = 0..self.cycles.memory.len();
        let mut layer = Vec::new();
        starts.for_each(|load| {
            self.load(&nothing, [0, load], self.natural.iter().copied().collect(), &mut layer)
        });
        let mut plans = Vec::new();
        for _ in 0..=self.order.len() {
            let mut next = Vec::new();
            let mut frontier = self.best(layer);
            // All movements between two stages.
            while !frontier.is_empty() {
                next.extend(frontier.iter().filter_map(|state| self.staged(state)));
                plans.extend(frontier.iter().filter_map(|state| self.finished(state)));
                let mut moved: Vec<State> = frontier.iter().flat_map(|state| self.unpacked(state)).collect();
                let mut leaders = [0; PASSES];
                for state in &frontier {
                    leaders[state.passes] += 1;
                    if leaders[state.passes] <= self.width.div_ceil(LEADERS) {
                        moved.extend(self.reloaded(state));
                    }
                }
                frontier = self.best(moved);
            }
            layer = next;
        }
        plans.sort_by_key(|(cost, _)| *cost);
        plans
    }
}

/// The set of some bits.
fn set(bits: &[Bit]) -> u32 {
    bits.iter().fold(0, |set, bit| set | 1 << bit.0)
}

/// The state after the unpack of a register bit.
fn unpack(state: &State, at: usize) -> State {
    let mut next = state.clone();
    let bit = next.registers[at];
    next.registers[at] = next.lanes.pop().expect("a vector has lanes");
    next.lanes.insert(0, bit);
    next.trail = Rc::new(Trail::Step(next.trail, Step::Unpack(bit)));
    next.unpacks += 1;
    next
}

/// The passes of a trail that ends with stores to a layout.
fn passes(trail: &Trail, mut store: Layout) -> Vec<Pass> {
    let (mut passes, mut steps, mut trail) = (Vec::new(), Vec::new(), trail);
    loop {
        match trail {
            Trail::Start => break,
            Trail::Step(before, step) => {
                steps.insert(0, *step);
                trail = before;
            }
            Trail::Load(before, layout, lanes, registers) => {
                let (lanes, registers) = (lanes.to_vec(), registers.to_vec());
                let (steps, store) =
                    (std::mem::take(&mut steps), std::mem::replace(&mut store, layout.to_vec()));
                passes.insert(0, Pass { lanes, registers, steps, store });
                trail = before;
            }
        }
    }
    passes
}

/// The stages and unpacks of a pass: `4u2`.
fn name(pass: &Pass) -> String {
    let stages = pass.steps.iter().filter(|step| matches!(step, Step::Stage(_))).count();
    match pass.steps.len() - stages {
        0 => stages.to_string(),
        unpacks => format!("{stages}u{unpacks}"),
    }
}

/// Forward plans of a shape for a machine: the `count` with the least cost, cheapest first.
pub fn derive(shape: Shape, machine: &Machine, count: usize) -> Vec<Plan> {
    let width = beam_width(count);
    // Which plans a beam finds depends on its width, and not always in favour of the wider one. Early unpacks
    // save constants, late ones shorten dependences.
    let beams = [(width / 2, false), (width, false), (width, true), (2 * width, false)];
    let mut plans: Vec<(u64, Plan)> =
        beams.into_iter().flat_map(|(width, lazy)| Search::new(shape, machine, width, lazy).run()).collect();
    plans.sort_by_key(|(cost, _)| *cost);
    let mut seen = FxHashSet::default();
    plans.retain(|(_, plan)| seen.insert(plan.passes.clone()));
    plans.into_iter().take(count).map(|(_, plan)| plan).collect()
}

/// The states that a search for so many plans keeps. The plans of narrower beams cost up to a fifth more.
pub(crate) fn beam_width(count: usize) -> usize {
    const LEAST: usize = 32;
    count.max(LEAST)
}

#[cfg(test)]
mod tests;
