//! The off-chip traffic of one key switch, counted in limbs.
//!
//! A memory holds a number of whole limbs. An operation needs its operands and its results in it, except a
//! conversion, whose sources stream through. The limb whose next use is farthest makes room; it is stored
//! first if it was computed and is needed again. A source that streams stays only if its next use is
//! nearer than that of the limb that would leave. A transform works in place: its operand is gone. Keys
//! stream, and are not counted. Factors of transforms take space if the memory holds them, and are not
//! counted either.

use Direction::{ToCoefficients, ToValues};
use std::collections::{BTreeMap, BTreeSet};

/// The shape of a key switch.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Moduli q in use.
    pub(super) level: usize,
    /// Special moduli.
    pub(super) special: usize,
    /// Digits.
    pub(super) digits: usize,
}

/// A limb, by component, digit and modulus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Limb {
    Input(usize),
    Coefficients(usize),
    Converted(usize, usize),
    Raised(usize, usize),
    Product(usize, usize, usize),
    Sum(usize, usize),
    Lowered(usize, usize),
    Remainder(usize, usize),
    RemainderValues(usize, usize),
    /// The factors of a modulus' transforms, in one direction.
    Table(usize, Direction),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    ToValues,
    ToCoefficients,
}

/// One operation.
#[derive(Default)]
struct Operation {
    /// Sources that stream.
    streams: Vec<Limb>,
    operands: Vec<Limb>,
    /// The factors of a transform.
    table: Option<Limb>,
    results: Vec<Limb>,
    /// Results that stream out, but stay if there is space.
    leaving: Vec<Limb>,
    /// Outputs, which leave at once.
    outputs: usize,
    in_place: bool,
}

impl Shape {
    fn size(self) -> usize {
        self.level.div_ceil(self.digits)
    }

    fn all(self) -> std::ops::Range<usize> {
        0..self.level + self.special
    }

    fn special(self) -> std::ops::Range<usize> {
        self.level..self.level + self.special
    }

    fn digits(self) -> std::ops::Range<usize> {
        0..self.level.div_ceil(self.size())
    }

    fn own(self, digit: usize) -> std::ops::Range<usize> {
        digit * self.size()..((digit + 1) * self.size()).min(self.level)
    }

    /// Inputs and outputs.
    pub(super) fn compulsory(self) -> usize {
        3 * self.level
    }

    /// The limbs of the key.
    pub(super) fn key(self) -> usize {
        2 * self.digits().len() * self.all().len()
    }
}

/// An order, operation after operation.
struct Order {
    shape: Shape,
    /// Whether the memory holds the factors of transforms too.
    has_tables: bool,
    operations: Vec<Operation>,
}

const COMPONENTS: [usize; 2] = [0, 1];

impl Order {
    fn new(shape: Shape, has_tables: bool) -> Self {
        Self { shape, has_tables, operations: Vec::new() }
    }

    fn transform(&mut self, from: Limb, to: Limb, (modulus, direction): (usize, Direction)) {
        let table = self.has_tables.then_some(Limb::Table(modulus, direction));
        let (operands, results) = (vec![from], vec![to]);
        self.operations.push(Operation { operands, results, table, in_place: true, ..Operation::default() });
    }

    fn compute(&mut self, operands: Vec<Limb>, results: Vec<Limb>) {
        self.operations.push(Operation { operands, results, ..Operation::default() });
    }

    fn scale(&mut self, i: usize) {
        self.transform(Limb::Input(i), Limb::Coefficients(i), (i, ToCoefficients));
    }

    /// A conversion of a digit to one modulus.
    fn convert(&mut self, digit: usize, i: usize) {
        let streams = self.shape.own(digit).map(Limb::Coefficients).collect();
        let results = vec![Limb::Converted(digit, i)];
        self.operations.push(Operation { streams, results, ..Operation::default() });
    }

    fn evaluate(&mut self, digit: usize, i: usize) {
        self.transform(Limb::Converted(digit, i), Limb::Raised(digit, i), (i, ToValues));
    }

    fn values(&self, digit: usize, i: usize) -> Limb {
        if self.shape.own(digit).contains(&i) { Limb::Input(i) } else { Limb::Raised(digit, i) }
    }

    fn multiply_and_add(&mut self, digit: usize, i: usize) {
        let sums = COMPONENTS.map(|c| Limb::Sum(c, i));
        let before: &[Limb] = if digit == 0 { &[] } else { &sums };
        self.compute([&[self.values(digit, i)], before].concat(), sums.to_vec());
    }

    fn raise_and_add(&mut self, digit: usize, i: usize) {
        if !self.shape.own(digit).contains(&i) {
            self.convert(digit, i);
            self.evaluate(digit, i);
        }
        self.multiply_and_add(digit, i);
    }

    fn lower(&mut self, i: usize) {
        COMPONENTS
            .iter()
            .for_each(|&c| self.transform(Limb::Sum(c, i), Limb::Lowered(c, i), (i, ToCoefficients)));
    }

    /// The conversion, the transform and the division for one modulus.
    fn divide(&mut self, c: usize, i: usize) {
        let streams = self.shape.special().map(|p| Limb::Lowered(c, p)).collect();
        let results = vec![Limb::Remainder(c, i)];
        self.operations.push(Operation { streams, results, ..Operation::default() });
        self.finish(c, i);
    }

    /// The transform of a remainder, and the division.
    fn finish(&mut self, c: usize, i: usize) {
        self.transform(Limb::Remainder(c, i), Limb::RemainderValues(c, i), (i, ToValues));
        self.subtract(c, i);
    }

    fn subtract(&mut self, c: usize, i: usize) {
        let operands = vec![Limb::RemainderValues(c, i), Limb::Sum(c, i)];
        self.operations.push(Operation { operands, outputs: 1, ..Operation::default() });
    }
}

/// The operations of a dataflow; `tile` is the number of output limbs of a tile.
fn order(dataflow: &str, shape: Shape, tile: usize, has_tables: bool) -> Vec<Operation> {
    let mut order = Order::new(shape, has_tables);
    match dataflow {
        "mp" => order.max_parallel(),
        "dc" => order.digit_centric(),
        "oc" => order.output_centric(),
        "oct" => order.output_tiles(tile),
        "ocs" => order.output_slices(),
        other => panic!("no model of `{other}`"),
    }
    order.operations
}

impl Order {
    fn max_parallel(&mut self) {
        let shape = self.shape;
        (0..shape.level).for_each(|i| self.scale(i));
        let pairs = |shape: Shape| shape.digits().flat_map(move |j| shape.all().map(move |i| (j, i)));
        let raised = || pairs(shape).filter(|&(j, i)| !shape.own(j).contains(&i));
        raised().for_each(|(j, i)| self.convert(j, i));
        raised().for_each(|(j, i)| self.evaluate(j, i));
        for (j, i) in pairs(shape) {
            self.compute(vec![self.values(j, i)], COMPONENTS.map(|c| Limb::Product(c, j, i)).to_vec());
        }
        for i in shape.all() {
            for c in COMPONENTS {
                self.compute(shape.digits().map(|j| Limb::Product(c, j, i)).collect(), vec![Limb::Sum(c, i)]);
            }
        }
        shape.special().for_each(|i| self.lower(i));
        let outputs = || COMPONENTS.into_iter().flat_map(|c| (0..shape.level).map(move |i| (c, i)));
        for (c, i) in outputs() {
            let streams = shape.special().map(|p| Limb::Lowered(c, p)).collect();
            let results = vec![Limb::Remainder(c, i)];
            self.operations.push(Operation { streams, results, ..Operation::default() });
        }
        for (c, i) in outputs() {
            self.transform(Limb::Remainder(c, i), Limb::RemainderValues(c, i), (i, ToValues));
        }
        outputs().for_each(|(c, i)| self.subtract(c, i));
    }

    fn digit_centric(&mut self) {
        let shape = self.shape;
        for j in shape.digits() {
            shape.own(j).for_each(|i| self.scale(i));
            shape.all().for_each(|i| self.raise_and_add(j, i));
        }
        shape.special().for_each(|i| self.lower(i));
        for c in COMPONENTS {
            (0..shape.level).for_each(|i| self.divide(c, i));
        }
    }

    fn output_centric(&mut self) {
        let shape = self.shape;
        (0..shape.level).for_each(|i| self.scale(i));
        for i in shape.special() {
            shape.digits().for_each(|j| self.raise_and_add(j, i));
            self.lower(i);
        }
        for i in 0..shape.level {
            shape.digits().for_each(|j| self.raise_and_add(j, i));
            COMPONENTS.iter().for_each(|&c| self.divide(c, i));
        }
    }

    fn output_tiles(&mut self, tile: usize) {
        let shape = self.shape;
        (0..shape.level).for_each(|i| self.scale(i));
        let special: Vec<usize> = shape.special().collect();
        for towers in special.chunks(tile) {
            self.tile_sums(towers);
            towers.iter().for_each(|&i| self.lower(i));
        }
        let all: Vec<usize> = (0..shape.level).collect();
        for towers in all.chunks(tile) {
            self.tile_sums(towers);
            for c in COMPONENTS {
                let sources: Vec<Limb> = special.iter().map(|&p| Limb::Lowered(c, p)).collect();
                self.tile_conversion(&sources, towers.iter().map(|&i| Limb::Remainder(c, i)).collect());
                towers.iter().for_each(|&i| self.finish(c, i));
            }
        }
    }

    fn output_slices(&mut self) {
        let shape = self.shape;
        for j in shape.digits() {
            shape.own(j).for_each(|i| self.scale(i));
            let others = shape.all().filter(|i| !shape.own(j).contains(i));
            let targets = others.map(|i| Limb::Converted(j, i)).collect();
            self.sliced_conversion(shape.own(j).map(Limb::Coefficients).collect(), targets);
        }
        for i in shape.special() {
            self.slice_sums(i);
            self.lower(i);
        }
        for c in COMPONENTS {
            let targets = (0..shape.level).map(|i| Limb::Remainder(c, i)).collect();
            self.sliced_conversion(shape.special().map(|p| Limb::Lowered(c, p)).collect(), targets);
        }
        for i in 0..shape.level {
            self.slice_sums(i);
            COMPONENTS.iter().for_each(|&c| self.finish(c, i));
        }
    }

    fn slice_sums(&mut self, i: usize) {
        for j in self.shape.digits() {
            if !self.shape.own(j).contains(&i) {
                self.evaluate(j, i);
            }
            self.multiply_and_add(j, i);
        }
    }

    /// A conversion slice by slice, in which sources and targets stream.
    fn sliced_conversion(&mut self, streams: Vec<Limb>, leaving: Vec<Limb>) {
        self.operations.push(Operation { streams, leaving, ..Operation::default() });
    }

    fn tile_sums(&mut self, towers: &[usize]) {
        let shape = self.shape;
        for j in shape.digits() {
            let others: Vec<usize> = towers.iter().copied().filter(|i| !shape.own(j).contains(i)).collect();
            let sources: Vec<Limb> = shape.own(j).map(Limb::Coefficients).collect();
            self.tile_conversion(&sources, others.iter().map(|&i| Limb::Converted(j, i)).collect());
            for &i in towers {
                if others.contains(&i) {
                    self.evaluate(j, i);
                }
                self.multiply_and_add(j, i);
            }
        }
    }

    /// A conversion to several moduli, source after source.
    fn tile_conversion(&mut self, sources: &[Limb], targets: Vec<Limb>) {
        if targets.is_empty() {
            return;
        }
        for (place, &source) in sources.iter().enumerate() {
            let operands = if place == 0 { Vec::new() } else { targets.clone() };
            let (streams, results) = (vec![source], targets.clone());
            self.operations.push(Operation { streams, operands, results, ..Operation::default() });
        }
    }
}

/// The limbs loaded and stored by a dataflow with space for `capacity` limbs, among them the factors
/// of transforms if it `has_tables`. `None` if an operation does
/// not fit.
pub(super) fn traffic(
    dataflow: &str,
    shape: Shape,
    tile: usize,
    has_tables: bool,
    capacity: usize,
) -> Option<usize> {
    let operations = order(dataflow, shape, tile, has_tables);
    let mut uses: BTreeMap<Limb, Vec<usize>> = BTreeMap::new();
    for (time, operation) in operations.iter().enumerate().rev() {
        for &limb in operation.streams.iter().chain(&operation.operands).chain(&operation.table) {
            uses.entry(limb).or_default().push(time);
        }
    }
    let saved = (0..shape.level).map(Limb::Input).collect();
    let mut memory =
        Memory { capacity, uses, resident: BTreeSet::new(), computed: BTreeSet::new(), saved, traffic: 0 };
    operations.iter().enumerate().try_for_each(|(time, operation)| memory.run(time, operation))?;
    Some(memory.traffic)
}

struct Memory {
    capacity: usize,
    /// The times of the uses ahead of each limb, the next one last.
    uses: BTreeMap<Limb, Vec<usize>>,
    resident: BTreeSet<Limb>,
    /// The residents that the off-chip memory lacks.
    computed: BTreeSet<Limb>,
    /// The limbs that the off-chip memory has.
    saved: BTreeSet<Limb>,
    traffic: usize,
}

impl Memory {
    /// The time of the next use, or the largest number.
    fn next(&self, limb: Limb) -> usize {
        self.uses.get(&limb).and_then(|times| times.last()).copied().unwrap_or(usize::MAX)
    }

    /// Ends the uses of a limb up to `time`.
    fn advance(&mut self, limb: Limb, time: usize) {
        let times = self.uses.entry(limb).or_default();
        while times.last().is_some_and(|&next| next <= time) {
            times.pop();
        }
    }

    fn is_over(&self, limb: Limb) -> bool {
        self.next(limb) == usize::MAX
    }

    fn drop(&mut self, limb: Limb) {
        if self.computed.remove(&limb) && !self.is_over(limb) {
            self.traffic += 1;
            self.saved.insert(limb);
        }
        self.resident.remove(&limb);
    }

    /// The resident whose next use is farthest, without those to keep.
    fn victim(&self, keep: &[Limb]) -> Option<Limb> {
        let candidates = self.resident.iter().copied().filter(|limb| !keep.contains(limb));
        candidates.max_by_key(|&limb| (self.next(limb), !self.computed.contains(&limb), limb))
    }

    /// Makes room until fewer than `limit` limbs are resident.
    fn make_room(&mut self, limit: usize, keep: &[Limb]) -> Option<()> {
        while self.resident.len() >= limit {
            let victim = self.victim(keep)?;
            self.drop(victim);
        }
        Some(())
    }

    fn load(&mut self, limb: Limb) {
        if let Limb::Table(..) = limb {
            return;
        }
        assert!(self.saved.contains(&limb), "a limb is computed before it is read");
        self.traffic += 1;
    }

    fn run(&mut self, time: usize, operation: &Operation) -> Option<()> {
        let Operation { streams, operands, table, results, leaving, outputs, in_place } = operation;
        let mut keep = operands.clone();
        keep.extend(results.iter().filter(|limb| self.resident.contains(limb)));
        keep.extend(table);
        for &limb in operands.iter().chain(table) {
            if !self.resident.contains(&limb) {
                self.load(limb);
                self.make_room(self.capacity, &keep)?;
                self.resident.insert(limb);
            }
        }
        operands.iter().chain(table).for_each(|&limb| self.advance(limb, time));
        if streams.is_empty() {
            self.drop_finished(operands, results);
            if *in_place {
                operands.iter().for_each(|&limb| self.drop(limb));
                keep = table.iter().copied().collect();
            }
        }
        keep.extend(results);
        for &limb in results {
            if !self.resident.contains(&limb) {
                self.make_room(self.capacity, &keep)?;
                self.resident.insert(limb);
            }
            self.computed.insert(limb);
            self.saved.remove(&limb);
        }
        let limit = self.capacity.checked_sub(*outputs)?;
        if *outputs > 0 {
            self.make_room(limit + 1, &keep)?;
        }
        streams.iter().for_each(|&limb| self.stream(limb, time, limit, &keep));
        self.drop_finished(operands, results);
        leaving.iter().for_each(|&limb| self.stream_out(limb));
        self.traffic += outputs;
        Some(())
    }

    /// Keeps a result that streams if that saves a store and a load of a limb with a later use.
    fn stream_out(&mut self, limb: Limb) {
        let mut has_room = self.resident.len() < self.capacity;
        if !has_room {
            let victim = self.victim(&[]).filter(|&victim| self.next(victim) > self.next(limb));
            victim.into_iter().for_each(|victim| {
                self.drop(victim);
                has_room = true;
            });
        }
        if has_room {
            self.resident.insert(limb);
            self.computed.insert(limb);
        } else {
            self.traffic += 1;
            self.saved.insert(limb);
        }
    }

    fn drop_finished(&mut self, operands: &[Limb], results: &[Limb]) {
        for &limb in operands {
            if self.is_over(limb) && !results.contains(&limb) {
                self.drop(limb);
            }
        }
    }

    /// Reads a source that streams, and keeps it if that saves a later load.
    fn stream(&mut self, limb: Limb, time: usize, limit: usize, keep: &[Limb]) {
        let is_resident = self.resident.contains(&limb);
        if !is_resident {
            self.load(limb);
        }
        self.advance(limb, time);
        match (is_resident, self.is_over(limb)) {
            (true, true) => self.drop(limb),
            (true, false) | (false, true) => {}
            (false, false) if self.resident.len() < limit => {
                self.resident.insert(limb);
            }
            (false, false) => {
                let victim = self.victim(keep).filter(|&victim| self.next(victim) > self.next(limb));
                if let Some(victim) = victim {
                    self.drop(victim);
                    self.resident.insert(limb);
                }
            }
        }
    }
}
