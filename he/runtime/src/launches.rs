//! Lifting: lines of a program become launches of kernels.
//!
//! Copies, zeros and lines without effect on an output are no work. Words are *reduced* modulo the modulus of
//! the line that made them, and modulo larger ones. A sum with zero is no work if the other operand is
//! reduced. If neither factor of a product is reduced, one is multiplied by 1 first. A product with a
//! monomial is one with a scalar and a movement; an automorphism of unreduced words is a movement.
//!
//! A *sum* is a tree of elementwise lines, each of which alone reads those before.
//!
//! * An elementwise line joins a *group*, one launch: that with the newest line of its sum, else that which
//!   made the latest of its operands, else the newest; if it has room and is not older than an operand. Else
//!   it begins a group.
//! * Long limbs join a group only if it has the newest line of their sum, or one of their operands, or no
//!   line that reads another. If it has not grown for more lines than the *reach*, only lines of its sums
//!   join, with operands that it has.
//! * A product that only one sum in its group reads becomes a multiply-add; products with scalars do so for
//!   limbs of at least 4 vectors.
//! * A transform or an automorphism joins the launch of the same operation that grew last, if it has room and
//!   nothing has read its results, or they are older than the operand.
//! * A function is lifted once for all calls that need the same results. Lines of different calls share no
//!   launch.
//!
//! Limbs of fewer than 16 vectors are *short*. Their lines come in windows: elementwise lines first, then the
//! operations that need them, and so on. How large launches may be is stated in `launches/limits.rs`.

mod calls;
pub(crate) mod facts;
mod group;
pub mod kernels;
mod limits;

pub use self::calls::lift_calls;
pub use self::facts::{Resource, bank_cycles};
use self::group::{Group, Line, position};
pub use self::limits::Limits;
pub(crate) use self::limits::is_short;
use crate::flow::operation::{Batch, RingOperation, RingParameters};
use crate::flow::permute::Permutation;
use crate::flow::{By, ConstantId, Elementary, Flow, Node, Task, ValueId};
use codegen::elementwise::{Elementwise, Operand, Step};
use ring_program::{ModulusIndex, RingProgram};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The index of a kernel's shape among those of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ShapeId(u32);

impl ShapeId {
    /// The index of the shape.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The work of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Work {
    /// An elementwise kernel.
    Elementwise(ShapeId),
    /// An operation of the registry, in one or several rings. The scalars of the launch are the
    /// primitive 2n-th roots of unity of transforms.
    Operation(RingOperation),
    /// A movement of words.
    Permute(Permutation),
}

/// A launch of a kernel. Ranges are of the lists in [`Launches`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The work.
    pub work: Work,
    /// The index of its first operation in the program.
    pub first: u32,
    /// The number of lines that it executes.
    pub lines: u32,
    /// The call that it belongs to, counting those of repeats again and again; 0 without calls.
    pub(crate) call: u32,
    values: Range<u32>,
    sources: u32,
    moduli: Range<u32>,
    scalars: Range<u32>,
    operations: Range<u32>,
}

/// The operations of the program that a step of a launch executes, by index. A sum may have taken over
/// a product; the two are the same if not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Executed {
    /// The operation that gives the result.
    pub result: u32,
    /// The operation that gives the product in a sum.
    pub product: u32,
}

/// The launches of a program, in an order in which they can run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Launches {
    /// The launches.
    pub launches: Vec<Launch>,
    /// The shapes of the elementwise kernels.
    pub shapes: Vec<Elementwise>,
    values: Vec<ValueId>,
    moduli: Vec<ModulusIndex>,
    scalars: Vec<u128>,
    operations: Vec<Executed>,
}

impl Launches {
    /// The values that a launch reads, each once, in the order of the kernel's inputs.
    pub fn sources(&self, launch: &Launch) -> &[ValueId] {
        &self.values[span(&launch.values)][..launch.sources as usize]
    }

    /// The values that a launch writes, in the order of the kernel's outputs.
    pub fn results(&self, launch: &Launch) -> &[ValueId] {
        &self.values[span(&launch.values)][launch.sources as usize..]
    }

    /// The moduli of a launch, in the order of the modulus registers.
    pub fn moduli(&self, launch: &Launch) -> &[ModulusIndex] {
        &self.moduli[span(&launch.moduli)]
    }

    /// The scalars of a launch, in the order of the kernel's steps.
    pub fn scalars(&self, launch: &Launch) -> &[u128] {
        &self.scalars[span(&launch.scalars)]
    }

    /// The operations of each step of an elementwise launch, or of each ring of an operation.
    pub fn operations(&self, launch: &Launch) -> &[Executed] {
        &self.operations[span(&launch.operations)]
    }

    /// The operation of a launch with its number of rings, if it is one of the registry.
    pub fn batch(&self, launch: &Launch) -> Option<Batch> {
        match launch.work {
            Work::Operation(operation) => Some(Batch { operation, rings: self.moduli(launch).len() as u16 }),
            Work::Elementwise(_) | Work::Permute(_) => None,
        }
    }

    /// The modulus and the root of each ring of a launch of an operation.
    pub fn rings(&self, program: &RingProgram, launch: &Launch) -> Vec<RingParameters> {
        let roots = self.scalars(launch);
        let moduli = self.moduli(launch).iter().enumerate();
        moduli.map(|(ring, &m)| (program.moduli().value(m), roots.get(ring).copied())).collect()
    }

    /// The lines that share a launch with others.
    pub fn lifted(&self) -> u64 {
        let lifted = self.launches.iter().map(|launch| launch.lines).filter(|&lines| lines > 1);
        lifted.map(u64::from).sum()
    }

    fn push(&mut self, draft: Draft, flow: &Flow) {
        let end = |list: usize| u32::try_from(list).expect("fewer operands");
        let starts =
            [self.values.len(), self.moduli.len(), self.scalars.len(), self.operations.len()].map(end);
        let Draft { work, first, lines, sources, results, moduli, scalars, operations } = draft;
        let count = end(sources.len());
        self.values.extend(sources.into_iter().chain(results));
        self.moduli.extend(moduli);
        self.scalars.extend(scalars.into_iter().map(|scalar| flow.constant(scalar)));
        self.operations.extend(operations);
        self.launches.push(Launch {
            work,
            first,
            lines,
            call: 0,
            values: starts[0]..end(self.values.len()),
            sources: count,
            moduli: starts[1]..end(self.moduli.len()),
            scalars: starts[2]..end(self.scalars.len()),
            operations: starts[3]..end(self.operations.len()),
        });
    }
}

fn span(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// A launch under construction, for [`Launches::push`].
struct Draft {
    work: Work,
    first: u32,
    lines: u32,
    sources: Vec<ValueId>,
    results: Vec<ValueId>,
    moduli: Vec<ModulusIndex>,
    scalars: Vec<ConstantId>,
    operations: Vec<Executed>,
}

/// Lifts a program.
pub fn lift(flow: &Flow, limits: Limits) -> Launches {
    let mut lifting = Lifting {
        limits,
        drafts: Vec::new(),
        is_read: Vec::new(),
        newest: None,
        batches: FxHashMap::default(),
        maker: vec![None; flow.values],
        unread: flow.reads(),
        reads: flow.reads(),
        escapes: vec![false; flow.values],
        sum: sums(flow),
        newest_of_sum: vec![None; flow.values],
        nodes: 0,
    };
    flow.outputs.iter().flatten().for_each(|value| lifting.escapes[value.index()] = true);
    for nodes in by_stage(flow, limits.window) {
        nodes.into_iter().for_each(|node| lifting.add(node));
    }
    lifting.finish(flow)
}

/// For each value, the last one of its sum: of the elementwise lines from it on, each of which alone reads
/// the one before.
fn sums(flow: &Flow) -> Vec<ValueId> {
    let reads = flow.reads();
    let mut sums: Vec<ValueId> = (0..flow.values as u32).map(ValueId).collect();
    for node in flow.nodes.iter().rev().filter(|node| matches!(node.task, Task::Elementwise { .. })) {
        for (source, _) in node.task.reads().filter(|&(source, times)| reads[source.index()] == times) {
            sums[source.index()] = sums[node.result.index()];
        }
    }
    sums
}

/// The nodes in windows, and those of a window in stages: elementwise nodes, then the operations that
/// need them, then the elementwise nodes that need those, and so on.
///
/// Programs convert, transform and use one limb after the other. In stages, limbs meet those with the
/// same work.
fn by_stage(flow: &Flow, window: usize) -> impl Iterator<Item = Vec<&Node>> {
    // The window of each value's node, and its stage.
    let mut stages = vec![(usize::MAX, 0_u32); flow.values];
    flow.nodes.chunks(window).enumerate().map(move |(window, nodes)| {
        let mut ordered: Vec<(u32, &Node)> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let stage = |source: ValueId| match stages[source.index()] {
                (of, stage) if of == window => stage,
                _ => 0,
            };
            let before = node.task.sources().map(stage).max().unwrap_or(0);
            // Elementwise nodes have even stages.
            let stage = match node.task {
                Task::Elementwise { .. } => before.next_multiple_of(2),
                Task::Operation { .. } | Task::Permute { .. } => before + 1 + before % 2,
            };
            stages[node.result.index()] = (window, stage);
            ordered.push((stage, node));
        }
        ordered.sort_by_key(|&(stage, _)| stage);
        ordered.into_iter().map(|(_, node)| node).collect()
    })
}

struct Lifting {
    limits: Limits,
    drafts: Vec<Open>,
    /// Whether another draft reads a result of the draft.
    is_read: Vec<bool>,
    /// The newest group.
    newest: Option<u32>,
    /// The newest launch of each operation.
    batches: FxHashMap<RingOperation, u32>,
    /// The draft that makes each value, and the step in it.
    maker: Vec<Option<(u32, u16)>>,
    /// The reads of each value outside of its group so far, or ahead.
    unread: Vec<u32>,
    /// All reads of each value.
    reads: Vec<u32>,
    /// Whether another launch reads the value, or it is an output.
    escapes: Vec<bool>,
    /// See [`sums`].
    sum: Vec<ValueId>,
    /// The newest group with a line of the sum that ends with each value.
    newest_of_sum: Vec<Option<u32>>,
    /// The number of nodes so far.
    nodes: usize,
}

/// A launch that may still grow.
enum Open {
    Group(Group),
    Single(Draft),
    /// A launch that has moved to a later place.
    Moved,
}

impl Draft {
    fn empty(work: Work, first: u32) -> Self {
        Self {
            work,
            first,
            lines: 0,
            sources: Vec::new(),
            results: Vec::new(),
            moduli: Vec::new(),
            scalars: Vec::new(),
            operations: Vec::new(),
        }
    }
}

impl Lifting {
    fn add(&mut self, node: &Node) {
        self.nodes += 1;
        match node.task {
            Task::Elementwise { op, a, by, modulus } => self.add_step(node, op, (a, by), modulus),
            Task::Operation { operation, a, root, modulus } => {
                self.add_operation(node, operation, a, (modulus, root));
            }
            Task::Permute { permutation, a, negative } => {
                let sources = std::iter::once(a).chain(negative).collect();
                self.add_permutation(node, permutation, sources);
            }
        }
    }

    /// An operation joins the newest launch of the same operation on other operands. If its operand is
    /// younger than that launch, the launch moves behind it, unless its results are in use already.
    fn add_operation(
        &mut self,
        node: &Node,
        operation: RingOperation,
        a: ValueId,
        (modulus, root): (ModulusIndex, Option<ConstantId>),
    ) {
        self.read(a, u32::MAX);
        let newest = self.batches.get(&operation).copied();
        let newest = newest.filter(|&newest| match &self.drafts[newest as usize] {
            Open::Single(draft) => draft.sources.len() < self.limits.rings && !draft.sources.contains(&a),
            Open::Group(_) | Open::Moved => false,
        });
        let maker = self.maker[a.index()].map(|(draft, _)| draft);
        let place = newest
            .filter(|&newest| maker.is_none_or(|maker| maker < newest) || !self.is_read[newest as usize]);
        let draft = match place {
            Some(place) if maker.is_some_and(|maker| maker > place) => self.move_to_the_end(place),
            Some(place) => place,
            None => self.push(Open::Single(Draft::empty(Work::Operation(operation), node.operation))),
        };
        self.batches.insert(operation, draft);
        let Open::Single(batch) = &mut self.drafts[draft as usize] else { unreachable!("a batch was found") };
        batch.sources.push(a);
        batch.moduli.push(modulus);
        batch.scalars.extend(root);
        batch.results.push(node.result);
        batch.lines += 1;
        batch.operations.push(Executed { result: node.operation, product: node.operation });
        self.maker[node.result.index()] = Some((draft, 0));
    }

    /// Moves a launch whose results nothing has read behind all others.
    fn move_to_the_end(&mut self, place: u32) -> u32 {
        let moved = std::mem::replace(&mut self.drafts[place as usize], Open::Moved);
        let end = self.push(moved);
        if let Open::Single(draft) = &self.drafts[end as usize] {
            draft.results.iter().for_each(|result| self.maker[result.index()] = Some((end, 0)));
        }
        end
    }

    fn push(&mut self, draft: Open) -> u32 {
        self.drafts.push(draft);
        self.is_read.push(false);
        self.drafts.len() as u32 - 1
    }

    /// Records that the draft `reader` reads a value of another.
    fn read(&mut self, value: ValueId, reader: u32) {
        if let Some((maker, _)) = self.maker[value.index()].filter(|&(maker, _)| maker != reader) {
            self.is_read[maker as usize] = true;
        }
        if !self.is_made_in(reader, value) {
            self.escapes[value.index()] = true;
        }
    }

    fn add_permutation(&mut self, node: &Node, permutation: Permutation, sources: Vec<ValueId>) {
        sources.iter().for_each(|&source| self.read(source, u32::MAX));
        let draft = Draft::empty(Work::Permute(permutation), node.operation);
        let draft = self.push(Open::Single(Draft { lines: 1, sources, results: vec![node.result], ..draft }));
        self.maker[node.result.index()] = Some((draft, 0));
    }

    fn add_step(&mut self, node: &Node, op: Elementary, (a, by): (ValueId, By), modulus: ModulusIndex) {
        let latest = node.task.sources().filter_map(|source| self.maker[source.index()]).max();
        let latest = latest.map(|(draft, _)| draft);
        let newest = self.newest.filter(|&newest| latest.is_none_or(|latest| newest > latest));
        let sum = self.group_of_sum(node).filter(|&sum| latest.is_none_or(|latest| sum >= latest));
        let place =
            [sum, latest, newest].into_iter().flatten().find(|&draft| self.has_room(draft, node, modulus));
        let draft = place.unwrap_or_else(|| {
            let group = Group { first: node.operation, last: u32::MAX, ..Group::default() };
            self.push(Open::Group(group))
        });
        if place.is_none() {
            self.newest = Some(draft);
        }
        let a = self.operand(draft, a);
        let (b, scalar) = match by {
            By::Value(b) => (Some(self.operand(draft, b)), None),
            By::Scalar(scalar) => (None, Some(scalar)),
        };
        let Open::Group(group) = &mut self.drafts[draft as usize] else { unreachable!("a group was found") };
        self.maker[node.result.index()] = Some((draft, group.steps.len() as u16));
        let modulus = position(&mut group.moduli, modulus);
        let step = Step { op: op.step(a, b), modulus };
        let executed = Executed { result: node.operation, product: node.operation };
        self.newest_of_sum[self.sum[node.result.index()].index()] = Some(draft);
        group.push(Line { step, scalar, executed }, &self.reads, self.limits.constants);
        group.results.push(node.result);
        group.outputs += 1;
        group.lines += u32::from(group.last != node.operation);
        (group.last, group.grown) = (node.operation, self.nodes);
    }

    /// The newest group with a line of the node's sum.
    fn group_of_sum(&self, node: &Node) -> Option<u32> {
        self.newest_of_sum[self.sum[node.result.index()].index()]
    }

    /// Whether a draft is a group that the node can join.
    fn has_room(&self, draft: u32, node: &Node, modulus: ModulusIndex) -> bool {
        let Open::Group(group) = &self.drafts[draft as usize] else { return false };
        let is_known = |value: ValueId| self.is_made_in(draft, value) || group.inputs.contains(&value);
        let is_of_sum = self.group_of_sum(node) == Some(draft);
        let is_related =
            self.limits.unrelated || !group.is_chained || is_of_sum || node.task.sources().any(is_known);
        let is_near = self.nodes - group.grown <= self.limits.reach;
        if !is_related || !(is_near || is_of_sum && node.task.sources().all(is_known)) {
            return false;
        }
        let mut operands = group.inputs.len() + group.outputs + 1;
        for (source, times) in node.task.reads() {
            if self.is_made_in(draft, source) {
                operands -= usize::from(self.is_last_read(source, times));
            } else {
                operands += usize::from(!group.inputs.contains(&source));
            }
        }
        let moduli = group.moduli.len() + usize::from(!group.moduli.contains(&modulus));
        operands <= self.limits.operands.min(Limits::REGISTERS)
            && group.steps.len() < self.limits.steps
            && moduli <= Limits::REGISTERS
            && group.scalars < Limits::REGISTERS
    }

    fn is_made_in(&self, draft: u32, value: ValueId) -> bool {
        self.maker[value.index()].is_some_and(|(maker, _)| maker == draft)
    }

    /// Whether as many more reads in its group make a value one that stays in the group.
    fn is_last_read(&self, value: ValueId, reads: u32) -> bool {
        self.unread[value.index()] == reads && !self.escapes[value.index()]
    }

    /// The operand of a new step.
    fn operand(&mut self, draft: u32, value: ValueId) -> Operand {
        let is_last_read = self.is_last_read(value, 1);
        self.read(value, draft);
        let Open::Group(group) = &mut self.drafts[draft as usize] else { unreachable!("a group was found") };
        match self.maker[value.index()] {
            Some((maker, step)) if maker == draft => {
                group.outputs -= usize::from(is_last_read);
                group.is_chained = true;
                self.unread[value.index()] -= 1;
                Operand::Step(step)
            }
            _ => Operand::Input(position(&mut group.inputs, value)),
        }
    }

    fn finish(self, flow: &Flow) -> Launches {
        let mut launches = Launches::default();
        let mut known = FxHashMap::default();
        for draft in self.drafts {
            let draft = match draft {
                Open::Moved => continue,
                Open::Single(draft) => draft,
                Open::Group(group) => group.close(&self.escapes, |shape| {
                    *known.entry(shape).or_insert_with_key(|shape| {
                        launches.shapes.push(shape.clone());
                        ShapeId(launches.shapes.len() as u32 - 1)
                    })
                }),
            };
            launches.push(draft, flow);
        }
        launches
    }
}
