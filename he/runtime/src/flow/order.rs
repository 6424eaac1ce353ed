//! The order of lines: list scheduling that knows residue numbers.
//!
//! Between two base conversions, moduli are independent. So a program is cut into *blocks*. A result belongs
//! to the modulus of its line, an input to that of which its words must be residues. An elementwise line
//! *converts* if it reads a limb of another modulus, or the result of a converting line of its own. The
//! *phase* of a line is the number of conversions on the longest path to it. A block has connected lines of
//! one phase and one modulus that do not convert; or it is a base conversion with all its targets: the
//! converting lines of a phase that share limbs.
//!
//! Blocks run depth first: of those whose operands are complete, the next is the one whose last operand was
//! complete last; of equals, that with the most conversions ahead, its critical path; of equals, the first in
//! the text. If blocks wait for each other, the first line that is left runs alone.
//!
//! A conversion keeps the order of the text. In other blocks, live ranges decide. The next line is, the first
//! of the text in each case:
//!
//! 1. a transform or an automorphism that adds no limb to the live ones of the block;
//! 2. else, the lines of a sum whose operands are complete;
//! 3. else, if complete operands wait for fewer sums than there are such operands, the lines of these sums
//!    that can run;
//! 4. else, the next transform or automorphism.
//!
//! The cost is n log n for n lines.

use super::{Node, Task, ValueId};
use ring_program::ModulusIndex;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The index of a line in the text.
type Line = usize;

/// The nodes of a flow by modulus. `given` has the modulus of each value that no line makes, if it is known.
pub(super) fn by_modulus(nodes: Vec<Node>, given: &[Option<ModulusIndex>]) -> Vec<Node> {
    let graph = Graph::new(&nodes, given.len());
    let blocks = Blocks::new(&nodes, &graph, given);
    List::new(&graph, &blocks).run().into_iter().map(|line| nodes[line]).collect()
}

/// Who makes and who reads what.
struct Graph {
    is_elementwise: Vec<bool>,
    /// The lines that make the operands of each line, each once; an operand that no line makes has none.
    sources: Vec<[Option<u32>; 2]>,
    /// The lines that read the result of each line, each once, in order.
    readers: Lists,
    /// The line that makes each value.
    maker: Vec<Option<u32>>,
}

impl Graph {
    fn new(nodes: &[Node], values: usize) -> Self {
        let mut maker = vec![None; values];
        let mut sources = Vec::with_capacity(nodes.len());
        for (line, node) in (0..).zip(nodes) {
            let mut of = [None; 2];
            for (source, value) in of.iter_mut().zip(node.task.sources()) {
                *source = maker[value.index()];
            }
            if of[0] == of[1] {
                of[1] = None;
            }
            sources.push(of);
            maker[node.result.index()] = Some(line);
        }
        let pairs = (0..).zip(&sources).flat_map(|(line, of)| of.iter().flatten().map(move |&of| (of, line)));
        let readers = Lists::of(nodes.len(), pairs);
        let is_elementwise = nodes.iter().map(|node| matches!(node.task, Task::Elementwise { .. })).collect();
        Self { is_elementwise, sources, readers, maker }
    }

    fn lines(&self) -> usize {
        self.sources.len()
    }

    fn sources(&self, line: Line) -> impl Iterator<Item = Line> + '_ {
        self.sources[line].iter().flatten().map(|&source| source as Line)
    }
}

/// Lists of lines, one after the other.
struct Lists {
    starts: Vec<u32>,
    lines: Vec<u32>,
}

impl Lists {
    /// The second parts of pairs, by the first parts, which are below `lists`.
    fn of(lists: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; lists + 1];
        pairs.clone().for_each(|(list, _)| starts[list as usize + 1] += 1);
        for list in 0..lists {
            starts[list + 1] += starts[list];
        }
        let (mut lines, mut next) = (vec![0; starts[lists] as usize], starts.clone());
        for (list, line) in pairs {
            lines[next[list as usize] as usize] = line;
            next[list as usize] += 1;
        }
        Self { starts, lines }
    }

    fn get(&self, list: usize) -> &[u32] {
        &self.lines[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}

/// The blocks of a program. Each is named by its first line.
struct Blocks {
    of: Vec<u32>,
    lines: Lists,
    converts: Vec<bool>,
    /// The conversions on the longest path from each block to an end of the program.
    ahead: Vec<u32>,
}

impl Blocks {
    fn new(nodes: &[Node], graph: &Graph, given: &[Option<ModulusIndex>]) -> Self {
        let mut moduli = given.to_vec();
        let mut phases = vec![0_u32; given.len()];
        let mut converts = vec![false; nodes.len()];
        let mut sets = Sets((0..nodes.len() as u32).collect());
        // The first line that converts each value in a phase.
        let mut converted: FxHashMap<(u32, ValueId), u32> = FxHashMap::default();
        for (line, node) in nodes.iter().enumerate() {
            let modulus = match node.task {
                Task::Elementwise { modulus, .. } | Task::Operation { modulus, .. } => Some(modulus),
                Task::Permute { a, .. } => moduli[a.index()],
            };
            let is_foreign = |value: ValueId| {
                value != ValueId::ZERO && moduli[value.index()].is_some_and(|of| Some(of) != modulus)
            };
            let phase = |value: ValueId| phases[value.index()] + u32::from(is_foreign(value));
            let phase = node.task.sources().map(phase).max().unwrap_or(0);
            // The line of this phase and modulus that makes a value.
            let near = |value: ValueId| {
                graph.maker[value.index()]
                    .filter(|_| phases[value.index()] == phase && moduli[value.index()] == modulus)
            };
            let is_converted =
                |value: ValueId| is_foreign(value) || near(value).is_some_and(|of| converts[of as usize]);
            let is_conversion = graph.is_elementwise[line] && node.task.sources().any(is_converted);
            for value in node.task.sources() {
                let of = if is_foreign(value) {
                    is_conversion.then(|| *converted.entry((phase, value)).or_insert(line as u32))
                } else {
                    near(value).filter(|&of| converts[of as usize] == is_conversion)
                };
                if let Some(of) = of {
                    sets.join(of, line as u32);
                }
            }
            converts[line] = is_conversion;
            moduli[node.result.index()] = modulus;
            phases[node.result.index()] = phase;
        }
        let of: Vec<u32> = (0..nodes.len() as u32).map(|line| sets.first(line)).collect();
        // From the end on: the conversions behind each value.
        let mut behind = vec![0_u32; given.len()];
        let mut ahead = vec![0; nodes.len()];
        for (node, &block) in nodes.iter().zip(&of).rev() {
            let result = node.result.index();
            ahead[block as usize] = behind[result].max(ahead[block as usize]);
            for value in node.task.sources() {
                let is_foreign = moduli[value.index()] != moduli[result];
                behind[value.index()] = behind[value.index()].max(behind[result] + u32::from(is_foreign));
            }
        }
        let lines = Lists::of(nodes.len(), of.iter().copied().zip(0..));
        Self { of, lines, converts, ahead }
    }
}

/// Disjoint sets of lines, each named by its first one.
struct Sets(Vec<u32>);

impl Sets {
    fn first(&mut self, mut line: u32) -> u32 {
        while self.0[line as usize] != line {
            self.0[line as usize] = self.0[self.0[line as usize] as usize];
            line = self.0[line as usize];
        }
        line
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.first(one), self.first(other));
        self.0[one.max(other) as usize] = one.min(other);
    }
}

/// What decides which block is next, the least: the number of blocks that had run when its operands were
/// complete, the conversions ahead, and its first line.
type Rank = (Reverse<u32>, Reverse<u32>, u32);

/// Blocks on their way into an order.
struct List<'a> {
    graph: &'a Graph,
    blocks: &'a Blocks,
    /// For each block, the operands of other blocks that are missing.
    missing: Vec<u32>,
    ready: BTreeSet<Rank>,
    lines: Lines,
    order: Vec<Line>,
}

impl<'a> List<'a> {
    fn new(graph: &'a Graph, blocks: &'a Blocks) -> Self {
        let mut missing = vec![0; graph.lines()];
        for line in 0..graph.lines() {
            let block = blocks.of[line];
            let others = graph.sources(line).filter(|&source| blocks.of[source] != block);
            missing[block as usize] += others.count() as u32;
        }
        let first = (0..graph.lines() as u32).filter(|&line| blocks.of[line as usize] == line);
        let first = first.filter(|&block| missing[block as usize] == 0);
        let ready = first.map(|block| (Reverse(0), Reverse(blocks.ahead[block as usize]), block)).collect();
        let order = Vec::with_capacity(graph.lines());
        Self { graph, blocks, missing, ready, lines: Lines::new(graph, blocks), order }
    }

    fn run(mut self) -> Vec<Line> {
        let mut first_left = 0;
        for step in 1.. {
            let begin = self.order.len();
            if let Some((.., block)) = self.ready.pop_first() {
                let lines = self.blocks.lines.get(block as usize);
                if self.blocks.converts[block as usize] {
                    let left =
                        lines.iter().map(|&line| line as Line).filter(|&line| !self.lines.is_done[line]);
                    self.order.extend(left);
                } else {
                    self.lines.run(self.graph, lines, &mut self.order);
                }
            } else {
                let left = self.lines.is_done[first_left..].iter().position(|is_done| !is_done);
                let Some(left) = left else { break };
                first_left += left;
                self.lines.count(self.graph, first_left);
                self.order.push(first_left);
            }
            for place in begin..self.order.len() {
                self.finish(self.order[place], step);
            }
        }
        self.order
    }

    /// Records that a line has run, in the block number `step`.
    fn finish(&mut self, line: Line, step: u32) {
        self.lines.is_done[line] = true;
        for &reader in self.graph.readers.get(line) {
            let block = self.blocks.of[reader as usize];
            if block != self.blocks.of[line] {
                let missing = &mut self.missing[block as usize];
                *missing -= 1;
                if *missing == 0 {
                    self.ready.insert((Reverse(step), Reverse(self.blocks.ahead[block as usize]), block));
                }
            }
        }
    }
}

/// The lines of all blocks. Operands and readers are those of the line's own block.
struct Lines {
    is_done: Vec<bool>,
    block: Vec<u32>,
    /// The last line of the sum of each elementwise line; of another line, the line.
    sum: Vec<u32>,
    of_sum: Lists,
    /// The operands of each line that are missing.
    missing: Vec<u8>,
    /// The same for each sum, without those that it makes.
    missing_of_sum: Vec<u32>,
    /// The readers that each result still has.
    unread: Vec<u32>,
    /// For each sum, the reads ahead of results that wait, and its lines that can run.
    feeds: Vec<u32>,
    open: Vec<u32>,
}

/// What can run in a block.
#[derive(Default)]
struct State {
    /// Transforms and automorphisms whose operands are complete.
    operations: BTreeSet<Line>,
    /// Sums whose operands are complete.
    sums: BTreeSet<Line>,
    /// Lines of sums whose operands are complete, behind their sum.
    lines: BTreeSet<(Line, Line)>,
    /// The number of results of operations that still have readers.
    waiting: usize,
    /// The number of sums that read them.
    fed: usize,
    /// Those of these sums with lines that can run.
    fed_and_open: BTreeSet<Line>,
}

impl Lines {
    fn new(graph: &Graph, blocks: &Blocks) -> Self {
        let count = graph.lines();
        let block = blocks.of.clone();
        let mut sum: Vec<u32> = (0..count as u32).collect();
        for line in (0..count).rev() {
            if let [reader] = *graph.readers.get(line)
                && graph.is_elementwise[line]
                && graph.is_elementwise[reader as usize]
                && block[line] == block[reader as usize]
            {
                sum[line] = sum[reader as usize];
            }
        }
        let (mut missing, mut missing_of_sum, mut unread) = (vec![0; count], vec![0; count], vec![0; count]);
        for line in 0..count {
            for source in graph.sources(line).filter(|&source| block[line] == block[source]) {
                missing[line] += 1;
                unread[source] += 1;
                missing_of_sum[sum[line] as usize] += u32::from(sum[source] != sum[line]);
            }
        }
        let of_sum = Lists::of(count, sum.iter().copied().zip(0..));
        let (is_done, feeds, open) = (vec![false; count], vec![0; count], vec![0; count]);
        Self { is_done, block, sum, of_sum, missing, missing_of_sum, unread, feeds, open }
    }

    /// Appends the lines of a block to `order`, without those that are done.
    fn run(&mut self, graph: &Graph, lines: &[u32], order: &mut Vec<Line>) {
        let mut state = State::default();
        for line in lines.iter().map(|&line| line as Line) {
            if self.is_done[line] {
                self.wait(graph, line, &mut state);
            } else {
                self.offer(graph, line, &mut state);
            }
        }
        let end = order.len() + lines.iter().filter(|&&line| !self.is_done[line as usize]).count();
        while order.len() < end {
            let operation = state.operations.first().copied();
            if let Some(operation) = operation.filter(|&operation| self.adds_no_limb(graph, operation)) {
                self.take(graph, operation, &mut state, order);
            } else if let Some(sum) = state.sums.pop_first() {
                for place in 0..self.of_sum.get(sum).len() {
                    self.take(graph, self.of_sum.get(sum)[place] as Line, &mut state, order);
                }
            } else if state.fed < state.waiting && !state.fed_and_open.is_empty() {
                for sum in std::mem::take(&mut state.fed_and_open) {
                    while let Some(&(_, line)) = state.lines.range((sum, 0)..=(sum, Line::MAX)).next() {
                        self.take(graph, line, &mut state, order);
                    }
                }
            } else {
                let operation = operation.expect("lines of a block do not wait for each other");
                self.take(graph, operation, &mut state, order);
            }
        }
    }

    /// Whether the live limbs of the block do not become more.
    fn adds_no_limb(&self, graph: &Graph, operation: Line) -> bool {
        let dies = |source: Line| self.block[source] == self.block[operation] && self.unread[source] == 1;
        self.unread[operation] == 0 || graph.sources(operation).any(dies)
    }

    /// Runs a line unless it has run.
    fn take(&mut self, graph: &Graph, line: Line, state: &mut State, order: &mut Vec<Line>) {
        if !self.is_done[line] {
            state.operations.remove(&line);
            if state.lines.remove(&(self.sum[line] as Line, line)) {
                self.open[self.sum[line] as usize] -= 1;
                self.note(self.sum[line] as Line, state);
            }
            self.finish(graph, line, state);
            order.push(line);
        }
    }

    /// Counts a line that has run.
    fn count(&mut self, graph: &Graph, line: Line) {
        self.is_done[line] = true;
        for source in graph.sources(line).filter(|&source| self.block[source] == self.block[line]) {
            self.unread[source] -= 1;
        }
        for &reader in graph.readers.get(line) {
            let (reader, sum) = (reader as Line, self.sum[reader as usize]);
            if self.block[reader] == self.block[line] {
                self.missing[reader] -= 1;
                self.missing_of_sum[sum as usize] -= u32::from(sum != self.sum[line]);
            }
        }
    }

    /// Counts a line that has run, and lets others run.
    fn finish(&mut self, graph: &Graph, line: Line, state: &mut State) {
        self.count(graph, line);
        for source in graph.sources(line) {
            if self.block[source] == self.block[line] && !graph.is_elementwise[source] {
                state.waiting -= usize::from(self.unread[source] == 0);
                self.feed(graph, line, -1, state);
            }
        }
        self.wait(graph, line, state);
        for &reader in graph.readers.get(line) {
            if self.block[reader as usize] == self.block[line] {
                self.offer(graph, reader as Line, state);
            }
        }
    }

    /// Lets a line, or its sum, run if its operands are complete.
    fn offer(&mut self, graph: &Graph, line: Line, state: &mut State) {
        let sum = self.sum[line] as Line;
        if self.missing[line] == 0 {
            if graph.is_elementwise[line] {
                self.open[sum] += u32::from(state.lines.insert((sum, line)));
                self.note(sum, state);
            } else {
                state.operations.insert(line);
            }
        }
        if graph.is_elementwise[line] && self.missing_of_sum[sum] == 0 && !self.is_done[sum] {
            state.sums.insert(sum);
        }
    }

    /// Lets the result of a transform or an automorphism wait for its readers.
    fn wait(&mut self, graph: &Graph, line: Line, state: &mut State) {
        if !graph.is_elementwise[line] && self.unread[line] > 0 {
            state.waiting += 1;
            for &reader in graph.readers.get(line) {
                if self.block[reader as usize] == self.block[line] && !self.is_done[reader as usize] {
                    self.feed(graph, reader as Line, 1, state);
                }
            }
        }
    }

    /// Counts a read of a result that waits, if it is one of a sum.
    fn feed(&mut self, graph: &Graph, reader: Line, by: i32, state: &mut State) {
        if graph.is_elementwise[reader] {
            let sum = self.sum[reader] as Line;
            let before = self.feeds[sum];
            self.feeds[sum] = before.wrapping_add_signed(by);
            state.fed = state.fed + usize::from(before == 0) - usize::from(self.feeds[sum] == 0);
            self.note(sum, state);
        }
    }

    /// Notes whether a sum is fed and has lines that can run.
    fn note(&self, sum: Line, state: &mut State) {
        if self.feeds[sum] > 0 && self.open[sum] > 0 {
            state.fed_and_open.insert(sum);
        } else {
            state.fed_and_open.remove(&sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Flow, Task};
    use crate::mapping::Order;
    use crate::testing;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;
    use ring_program::{Interface, RingProgram};
    use std::collections::HashSet;

    fn read(lines: &str) -> RingProgram {
        let text =
            format!("modulus_count 3\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nm[2] 0x4801\n{lines}\nhalt\n");
        ring_program::read("", text.as_bytes(), Interface::Degree(1024)).unwrap()
    }

    /// The lines of the operations, in their order.
    fn order(program: &RingProgram) -> Vec<u32> {
        Flow::of(program, Order::Modulus).nodes.iter().map(|node| node.operation).collect()
    }

    /// All lines once, each behind those that it reads.
    #[test]
    fn each_line_runs_once_behind_its_operands() {
        let mut rng = Random::seed_from_u64(3);
        for case in 0..300 {
            let program = match case % 3 {
                0 => testing::random_program(&mut rng),
                _ => {
                    let choice = |rng: &mut Random| {
                        let byte = |rng: &mut Random| rng.random::<u8>();
                        (byte(rng), [byte(rng), byte(rng), byte(rng)], byte(rng), rng.random(), rng.random())
                    };
                    let lines = rng.random_range(0..200);
                    testing::program(10, (0..lines).map(|_| choice(&mut rng)).collect())
                }
            };
            let [given, ordered] = [Order::Program, Order::Modulus].map(|order| Flow::of(&program, order));
            let made: HashSet<_> = given.nodes.iter().map(|node| node.result).collect();
            let mut done = HashSet::new();
            for node in &ordered.nodes {
                assert!(node.task.sources().all(|source| !made.contains(&source) || done.contains(&source)));
                assert!(done.insert(node.result), "case {case}");
            }
            assert_eq!(done, made, "case {case}");
        }
    }

    /// Both results of a modulus wait for a sum that needs two of them.
    #[test]
    fn results_that_wait_for_each_other_do_not_hold_a_block_up() {
        let program = read(
            "sr_ntt %11, %1, m=1\nsr_ntt %12, %2, m=1\nsr_ntt %13, %3, m=1\nsr_ntt %14, %4, m=1\n\
             sr_mulp %21, %11, %14, m=1\nsr_mulp %22, %12, %13, m=1\nsr_addp %31, %21, %22, m=1",
        );
        // The third one, with the second, is enough for a line.
        assert_eq!(order(&program), [0, 1, 2, 5, 3, 4, 6]);
    }

    /// Moduli change places with the lines that convert between them.
    #[test]
    fn lines_run_modulus_by_modulus_around_a_conversion() {
        let program = read(
            "sr_intt %11, %1, m=1\nsr_intt %12, %2, m=2\nsr_mulps %13, %11, 3, m=1\nsr_mulps %14, %12, 3, m=2\n\
             sr_mulps %21, %13, 5, m=2\nsr_ntt %22, %21, m=2\nsr_mulp %23, %22, %5, m=2\nsr_addp %24, %14, %23, m=2",
        );
        let flow = Flow::of(&program, Order::Modulus);
        let moduli: Vec<usize> = flow
            .nodes
            .iter()
            .map(|node| match node.task {
                Task::Elementwise { modulus, .. } | Task::Operation { modulus, .. } => modulus.get(),
                Task::Permute { .. } => 0,
            })
            .collect();
        assert!(moduli.is_sorted(), "{moduli:?}");
    }
}
