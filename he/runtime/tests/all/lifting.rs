//! A second model of lifting, written from the chapter on the schedule: simple, and slow. `LIFTING_CASES` is the number of random
//! programs.

mod calls;

use crate::measures::cases;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::reduction::{InputModulus, input_moduli};
use ring_program::shape::{Binary, Scalar};
use ring_program::{Limb, ModulusIndex, Operation, RingProgram, Shape};
use runtime::flow::ValueId;
use runtime::lift::{self, Executed, Launches, Work};
use runtime::operation::RingOperation;
use runtime::testing::random_program;
use runtime::{Flow, Limits};
use sim::Machine;
use std::collections::HashMap;

/// What a part of a line does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    Add,
    Subtract,
    Multiply,
    Operation(RingOperation),
    Move,
}

/// A line, or a part of it.
#[derive(Clone, Debug)]
struct Part {
    line: u32,
    does: Does,
    reads: Vec<usize>,
    makes: usize,
    m: Option<ModulusIndex>,
    has_scalar: bool,
}

impl Part {
    fn is_elementwise(&self) -> bool {
        matches!(self.does, Does::Add | Does::Subtract | Does::Multiply)
    }
}

const ZERO: usize = 0;

/// The parts of all lines in the order of the program.
struct Reader<'p> {
    program: &'p RingProgram,
    /// The value of each limb.
    now: HashMap<Limb, usize>,
    /// The modulus of whose residues a value consists, if it is known.
    residues: Vec<Option<ModulusIndex>>,
    parts: Vec<Part>,
}

impl Reader<'_> {
    fn value(&mut self, residues: Option<ModulusIndex>) -> usize {
        self.residues.push(residues);
        self.residues.len() - 1
    }

    fn is_reduced(&self, value: usize, m: ModulusIndex) -> bool {
        let q = |m| self.program.moduli().value(m);
        value == ZERO || self.residues[value].is_some_and(|of| q(of) <= q(m))
    }

    fn part(&mut self, line: u32, does: Does, reads: &[usize], m: Option<ModulusIndex>) -> usize {
        let makes = self.value(m);
        let has_scalar = reads.len() == 1 && matches!(does, Does::Add | Does::Subtract | Does::Multiply);
        self.parts.push(Part { line, does, reads: reads.to_vec(), makes, m, has_scalar });
        makes
    }

    fn line(&mut self, line: u32, operation: &Operation) -> usize {
        let of = |limb: Limb| self.now[&limb];
        match *operation {
            Operation::Copy(it) => of(it.a),
            Operation::Zero(_) => ZERO,
            Operation::Add(Binary { a, b, m, .. }) => match (of(a), of(b)) {
                (ZERO, other) | (other, ZERO) if self.is_reduced(other, m) => other,
                (a, b) => self.part(line, Does::Add, &[a, b], Some(m)),
            },
            Operation::Subtract(Binary { a, b, m, .. }) => match (of(a), of(b)) {
                (a, ZERO) if self.is_reduced(a, m) => a,
                (ZERO, b) if self.is_reduced(b, m) => self.part(line, Does::Multiply, &[b], Some(m)),
                (a, b) => self.part(line, Does::Subtract, &[a, b], Some(m)),
            },
            Operation::Multiply(Binary { a, b, m, .. }) => {
                let (mut a, mut b) = (of(a), of(b));
                if !self.is_reduced(b, m) {
                    (a, b) = (b, a);
                }
                if !self.is_reduced(b, m) {
                    b = self.part(line, Does::Multiply, &[b], Some(m));
                }
                self.part(line, Does::Multiply, &[a, b], Some(m))
            }
            Operation::AddScalar(Scalar { a, m, .. }) => self.part(line, Does::Add, &[of(a)], Some(m)),
            Operation::SubtractScalar(Scalar { a, m, .. }) => {
                self.part(line, Does::Subtract, &[of(a)], Some(m))
            }
            Operation::MultiplyScalar(Scalar { a, m, .. }) => {
                self.part(line, Does::Multiply, &[of(a)], Some(m))
            }
            Operation::Negate(it) => self.part(line, Does::Multiply, &[of(it.a)], Some(it.m)),
            Operation::Ntt(it) => {
                self.part(line, Does::Operation(RingOperation::Ntt), &[of(it.a)], Some(it.m))
            }
            Operation::Intt(it) => {
                self.part(line, Does::Operation(RingOperation::Intt), &[of(it.a)], Some(it.m))
            }
            Operation::AutomorphCoefficients(it) => {
                let does = Does::Operation(RingOperation::AutomorphismOfCoefficients { k: it.k });
                self.part(line, does, &[of(it.a)], Some(it.m))
            }
            Operation::AutomorphEvaluation(it) => {
                let a = of(it.a);
                match self.residues[a] {
                    None => self.part(line, Does::Move, &[a], None),
                    Some(m) => {
                        let does = Does::Operation(RingOperation::AutomorphismOfValues { k: it.k });
                        self.part(line, does, &[a], Some(m))
                    }
                }
            }
            Operation::MultiplyMonomial(it) => {
                let a = of(it.a);
                let negative = self.part(line, Does::Multiply, &[a], Some(it.m));
                let made = self.part(line, Does::Move, &[a, negative], None);
                self.residues[made] = Some(it.m);
                made
            }
        }
    }
}

/// A program of lines without launches.
fn read(program: &RingProgram, limits: Limits, same: &HashMap<Limb, Limb>) -> Model {
    let mut reader = Reader { program, now: HashMap::new(), residues: vec![None], parts: Vec::new() };
    let given = input_moduli(program);
    for &limb in program.inputs().iter().flat_map(|group| &group.limbs) {
        let first = same.get(&limb).unwrap_or(&limb);
        if let Some(&value) = reader.now.get(first) {
            reader.now.insert(limb, value);
        } else {
            let residues = match given[limb.index()] {
                Some(InputModulus::Residues(m)) => Some(m),
                Some(InputModulus::Words(_)) | None => None,
            };
            let value = reader.value(residues);
            reader.now.insert(limb, value);
        }
    }
    let given = reader.now.clone();
    for (line, operation) in (0..).zip(program.operations()) {
        let value = reader.line(line, operation);
        reader.now.insert(operation.destination(), value);
    }
    let Reader { now, residues, mut parts, .. } = reader;
    let outputs: Vec<usize> =
        program.outputs().iter().flat_map(|group| &group.limbs).map(|limb| now[limb]).collect();
    let mut wanted = outputs.clone();
    for part in parts.iter().rev() {
        if wanted.contains(&part.makes) {
            wanted.extend(&part.reads);
        }
    }
    parts.retain(|part| wanted.contains(&part.makes));
    let mut reads = vec![0; residues.len()];
    parts.iter().flat_map(|part| &part.reads).chain(&outputs).for_each(|&value| reads[value] += 1);
    // The first line of each part of the program, by spreading the smallest number over all lines that share results.
    let made: Vec<usize> = parts.iter().map(|part| part.makes).collect();
    let maker = |value: &usize| made.iter().position(|made| made == value);
    let mut first: Vec<usize> = (0..parts.len()).collect();
    loop {
        let before = first.clone();
        for (at, part) in parts.iter().enumerate() {
            for other in part.reads.iter().filter_map(maker) {
                let least = first[at].min(first[other]);
                (first[at], first[other]) = (least, least);
            }
        }
        if first == before {
            break;
        }
    }
    let mut sorted: Vec<(usize, Part)> = first.into_iter().zip(parts).collect();
    sorted.sort_by_key(|&(first, _)| first);
    let parts: Vec<Part> = sorted.into_iter().map(|(_, part)| part).collect();
    // Stages: even ones are elementwise.
    let mut result = Vec::new();
    for parts in parts.chunks(limits.window) {
        let mut staged: Vec<(usize, Part)> = Vec::new();
        for part in parts {
            let of =
                |value: &usize| staged.iter().find(|(_, other)| other.makes == *value).map(|other| other.0);
            let mut stage = part.reads.iter().filter_map(of).max().unwrap_or(0);
            match part.is_elementwise() {
                true => stage += stage % 2,
                false => stage += 1 + stage % 2,
            }
            staged.push((stage, part.clone()));
        }
        staged.sort_by_key(|&(stage, _)| stage);
        result.extend(staged.into_iter().map(|(_, part)| part));
    }
    Model { parts: result, reads, given, outputs, limits, launches: Vec::new() }
}

/// A launch: the parts in it, by number in their order. Its place in the order of launches is that in the list.
#[derive(Clone, Debug)]
struct Launch {
    parts: Vec<usize>,
    /// The products that became a part of a sum, with the sum.
    fused: Vec<(usize, usize)>,
}

struct Model {
    /// The parts that an output depends on, in the order in which they become launches.
    parts: Vec<Part>,
    /// The number of reads of each value.
    reads: Vec<usize>,
    /// The values of the inputs.
    given: HashMap<Limb, usize>,
    outputs: Vec<usize>,
    limits: Limits,
    launches: Vec<Launch>,
}

/// What both models say of a launch.
#[derive(Clone, PartialEq, Debug)]
struct Described {
    /// None for an elementwise kernel.
    does: Option<Does>,
    first: u32,
    operands: Vec<usize>,
    results: Vec<usize>,
    /// None for a movement, and the next.
    moduli: Vec<ModulusIndex>,
    executed: Vec<Executed>,
}

/// The launches of the runtime.
fn described(launches: &Launches) -> Vec<Described> {
    let indices = |values: &[ValueId]| values.iter().map(|it| it.index()).collect::<Vec<_>>();
    let describe = |launch: &lift::Launch| {
        let does = match launch.work {
            Work::Elementwise(_) => None,
            Work::Operation(operation) => Some(Does::Operation(operation)),
            Work::Permute(_) => Some(Does::Move),
        };
        let is_move = does == Some(Does::Move);
        Described {
            does,
            first: launch.first,
            operands: indices(launches.sources(launch)),
            results: indices(launches.results(launch)),
            moduli: if is_move { Vec::new() } else { launches.moduli(launch).to_vec() },
            executed: if is_move { Vec::new() } else { launches.operations(launch).to_vec() },
        }
    };
    launches.launches.iter().map(describe).collect()
}

impl Model {
    fn does(&self, launch: usize) -> Does {
        self.parts[self.launches[launch].parts[0]].does
    }

    fn is_group(&self, launch: usize) -> bool {
        self.parts[self.launches[launch].parts[0]].is_elementwise()
    }

    /// The launch of a value.
    fn of(&self, value: usize) -> Option<usize> {
        self.launches.iter().position(|it| it.parts.iter().any(|&part| self.parts[part].makes == value))
    }

    /// The reads of a value in a launch.
    fn read_in(&self, launch: usize, value: usize) -> usize {
        let parts = self.launches[launch].parts.iter();
        parts.flat_map(|&part| &self.parts[part].reads).filter(|&&read| read == value).count()
    }

    fn is_made_in(&self, launch: usize, value: usize) -> bool {
        self.of(value) == Some(launch)
    }

    /// The operands of a launch, each once.
    fn operands(&self, launch: usize) -> Vec<usize> {
        let mut operands = Vec::new();
        for &value in self.launches[launch].parts.iter().flat_map(|&part| &self.parts[part].reads) {
            if !self.is_made_in(launch, value) && !operands.contains(&value) {
                operands.push(value);
            }
        }
        operands
    }

    /// The values that a launch makes and that do not stay in it as far as is known.
    fn results(&self, launch: usize) -> Vec<usize> {
        let made = self.launches[launch].parts.iter().map(|&part| self.parts[part].makes);
        made.filter(|&value| self.read_in(launch, value) < self.reads[value]).collect()
    }

    fn moduli(&self, launch: usize) -> Vec<ModulusIndex> {
        let mut moduli = Vec::new();
        for m in self.launches[launch].parts.iter().filter_map(|&part| self.parts[part].m) {
            if !moduli.contains(&m) || !self.is_group(launch) {
                moduli.push(m);
            }
        }
        moduli
    }

    /// The last value of the sum of a part.
    fn sum(&self, part: usize) -> usize {
        let mut last = self.parts[part].makes;
        loop {
            let reader = self.parts.iter().find(|part| part.is_elementwise() && part.reads.contains(&last));
            match reader.filter(|_| self.reads[last] == 1) {
                Some(reader) => last = reader.makes,
                None => return last,
            }
        }
    }

    /// Whether a group has a line of the sum of the part.
    fn has_sum(&self, group: usize, part: usize) -> bool {
        self.launches[group].parts.iter().any(|&other| self.sum(other) == self.sum(part))
    }

    fn has_room(&self, group: usize, part: usize) -> bool {
        if !self.is_group(group) {
            return false;
        }
        let Launch { parts, fused } = &self.launches[group];
        let Part { reads, m, .. } = &self.parts[part];
        let operands = self.operands(group);
        let is_known = |value: &usize| self.is_made_in(group, *value) || operands.contains(value);
        let newest_of_sum = (0..self.launches.len())
            .filter(|&launch| self.is_group(launch) && self.has_sum(launch, part))
            .max_by_key(|&launch| {
                self.launches[launch].parts.iter().rfind(|&&it| self.sum(it) == self.sum(part))
            });
        let is_of_sum = newest_of_sum == Some(group);
        let is_chained =
            parts.iter().any(|&it| self.parts[it].reads.iter().any(|value| self.is_made_in(group, *value)));
        let is_related = self.limits.unrelated || !is_chained || is_of_sum || reads.iter().any(is_known);
        let grown = parts.iter().max().expect("a launch has parts");
        let is_near = part - grown <= self.limits.reach;
        let mut count = operands.len() + self.results(group).len() + 1;
        for value in reads {
            if !self.is_made_in(group, *value) {
                count += usize::from(!operands.contains(value));
            } else if self.read_in(group, *value) + 1 == self.reads[*value] {
                count -= 1;
            }
        }
        let mut moduli = self.moduli(group);
        moduli.retain(|other| Some(*other) != *m);
        let is_fused = |part: &usize| fused.iter().any(|(product, _)| product == part);
        let scalars = parts.iter().filter(|it| self.parts[**it].has_scalar && !is_fused(it)).count();
        is_related
            && (is_near || is_of_sum && reads.iter().all(is_known))
            && count <= self.limits.operands.min(62)
            && parts.len() < self.limits.steps
            && moduli.len() < 62
            && scalars < 62
    }

    /// The groups that a part can join, in the order in which they are asked.
    fn candidates(&self, part: usize) -> Vec<usize> {
        let latest = self.parts[part].reads.iter().filter_map(|&value| self.of(value)).max();
        let sums =
            (0..self.launches.len()).filter(|&launch| self.is_group(launch) && self.has_sum(launch, part));
        let sum = sums.max_by_key(|&launch| {
            self.launches[launch].parts.iter().rfind(|&&it| self.sum(it) == self.sum(part))
        });
        let newest = (0..self.launches.len()).rfind(|&launch| self.is_group(launch));
        let is_young = |launch: &usize| latest.is_none_or(|latest| *launch >= latest);
        [sum.filter(is_young), latest, newest.filter(is_young)].into_iter().flatten().collect()
    }

    fn described(&self) -> Vec<Described> {
        let describe = |(index, Launch { parts, fused }): (usize, &Launch)| {
            let does = Some(self.does(index)).filter(|_| !self.is_group(index));
            let is_move = does == Some(Does::Move);
            let line = |part: &usize| self.parts[*part].line;
            let kept = parts.iter().filter(|part| fused.iter().all(|(product, _)| product != *part));
            let executed = kept.map(|part| {
                let product = fused.iter().find(|(_, sum)| sum == part).map_or(part, |(product, _)| product);
                Executed { result: line(part), product: line(product) }
            });
            Described {
                does,
                first: line(&parts[0]),
                operands: self.operands(index),
                results: self.results(index),
                moduli: if is_move { Vec::new() } else { self.moduli(index) },
                executed: if is_move { Vec::new() } else { executed.collect() },
            }
        };
        self.launches.iter().enumerate().map(describe).collect()
    }

    fn elementwise(&mut self, part: usize) {
        let place = self.candidates(part).into_iter().find(|&group| self.has_room(group, part));
        let group = place.unwrap_or_else(|| {
            self.launches.push(Launch { parts: Vec::new(), fused: Vec::new() });
            self.launches.len() - 1
        });
        let Part { does, reads, m, has_scalar, .. } = self.parts[part].clone();
        let is_sum = matches!(does, Does::Add | Does::Subtract) && !has_scalar;
        let second_first = reads.iter().rev().take(if does == Does::Add { 2 } else { 1 });
        let product = second_first.filter(|_| is_sum).find_map(|value| {
            let mut parts = self.launches[group].parts.iter().copied();
            let made = parts.find(|&it| self.parts[it].makes == *value)?;
            let it = &self.parts[made];
            let suits = it.does == Does::Multiply && (!it.has_scalar || self.limits.constants);
            (suits && it.m == m && self.reads[*value] == 1).then_some(made)
        });
        let launch = &mut self.launches[group];
        launch.fused.extend(product.map(|product| (product, part)));
        launch.parts.push(part);
    }

    fn operation(&mut self, part: usize) {
        let Part { does, ref reads, .. } = self.parts[part];
        let a = reads[0];
        let maker = self.of(a);
        let newest = (0..self.launches.len())
            .filter(|&launch| self.does(launch) == does)
            .max_by_key(|&launch| self.launches[launch].parts.iter().max().copied());
        let begun = (0..self.launches.len()).filter(|&launch| self.does(launch) == does).count() as u32;
        let place = newest.filter(|&newest| {
            let is_new = self.launches[newest].parts.iter().all(|&it| self.parts[it].reads[0] != a);
            let makes = |value: &usize| self.is_made_in(newest, *value);
            let mut others = self.parts[..part].iter().chain([&self.parts[part]]);
            let is_read = others.any(|other| other.reads.iter().any(makes));
            // The first launch has one, the second two, the third four.
            let of_ramp = if self.limits.ramp { 2_usize.saturating_pow(begun - 1) } else { usize::MAX };
            self.launches[newest].parts.len() < self.limits.rings.min(of_ramp)
                && is_new
                && (maker.is_none_or(|maker| maker < newest) || !is_read)
        });
        match place {
            None => self.launches.push(Launch { parts: vec![part], fused: Vec::new() }),
            Some(place) => {
                self.launches[place].parts.push(part);
                if maker.is_some_and(|maker| maker > place) {
                    let moved = self.launches.remove(place);
                    self.launches.push(moved);
                }
            }
        }
    }
}

/// The launches of a program of lines. Inputs may have the words of others: `same` has the first limb with them.
fn model(program: &RingProgram, limits: Limits, same: &HashMap<Limb, Limb>) -> Model {
    let mut model = read(program, limits, same);
    for part in 0..model.parts.len() {
        match model.parts[part].does {
            Does::Add | Does::Subtract | Does::Multiply => model.elementwise(part),
            Does::Operation(_) => model.operation(part),
            Does::Move => model.launches.push(Launch { parts: vec![part], fused: Vec::new() }),
        }
    }
    model
}

/// The limits of the table.
fn limits(n: u64, machine: &Machine) -> Limits {
    let (vectors, limbs) = (n / u64::from(machine.isa.vector_length), u64::from(machine.vdm_words()) / n);
    let window = if n <= u64::from(machine.isa.vector_length) { 512 } else { 256 / vectors as usize };
    let constants = vectors >= 4;
    match vectors < 16 {
        true => Limits {
            operands: (limbs / 4).clamp(32, 62).min(limbs).max(3) as usize,
            steps: 128.min(256 / vectors) as usize,
            rings: (32 / vectors).min(16).min(limbs / 8).max(1) as usize,
            ramp: false,
            window,
            reach: window,
            unrelated: true,
            constants,
        },
        false => {
            let (rings, ramp, window) = (1, false, 1);
            Limits { operands: 62, steps: 512, rings, ramp, window, reach: 4, unrelated: false, constants }
        }
    }
}

/// The limits of finer launches, by the text on the choice of kernels.
fn finer(limits: Limits) -> Vec<Limits> {
    if limits.window == 1 {
        let [more, fewer] = [(16, 64), (8, 32)].map(|(operands, reach)| Limits { operands, reach, ..limits });
        return vec![more, fewer];
    }
    let (mut finer, operands) = (Vec::new(), limits.operands.min(32));
    if limits.operands > 32 {
        finer.push(Limits { operands, ..limits });
    }
    for parts in [2, 4, 8].into_iter().filter(|&parts| parts <= limits.rings) {
        finer.push(Limits { operands, rings: limits.rings / parts, ..limits });
    }
    if limits.rings > 1 {
        finer.push(Limits { operands, ramp: true, ..limits });
    }
    finer
}

/// The limits of a degree and a machine, or any.
fn random_limits(rng: &mut Random, program: &RingProgram) -> Limits {
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.vdm.size_mib = 1 << rng.random_range(0..6)).unwrap();
    let n = program.degree().get() << rng.random_range(0..5);
    let limits = limits(n, &machine);
    assert_eq!(limits, Limits::for_degree(n, &machine), "n = {n}");
    assert_eq!(finer(limits), limits.finer(), "n = {n}");
    match rng.random_range(0..3) {
        0 => limits,
        1 => finer(limits).pop().unwrap_or(limits),
        _ => Limits {
            operands: rng.random_range(3..40),
            steps: rng.random_range(1..80),
            rings: rng.random_range(1..5),
            ramp: rng.random_range(0..2) == 0,
            window: rng.random_range(1..200),
            reach: rng.random_range(0..200),
            unrelated: rng.random_range(0..2) == 0,
            constants: rng.random_range(0..2) == 0,
        },
    }
}

#[test]
fn both_models_make_the_same_launches() {
    let mut rng = Random::seed_from_u64(11);
    let (mut moved, mut grouped) = (0, 0);
    for case in 0..cases("LIFTING_CASES", 300) {
        let program = random_program(&mut rng);
        let limits = random_limits(&mut rng, &program);
        let model = model(&program, limits, &HashMap::new());
        let launches = described(&lift::lift(&Flow::of(&program), limits));
        let expected = model.described();
        let differs =
            (0..launches.len().max(expected.len())).find(|&at| launches.get(at) != expected.get(at));
        if let Some(at) = differs {
            let (found, expected) = (launches.get(at), expected.get(at));
            panic!(
                "case {case}, launch {at}: {found:?}, not {expected:?}, {limits:?}\n{}",
                program.to_text()
            );
        }
        grouped += launches.iter().filter(|launch| launch.executed.len() > 1).count();
        moved += usize::from(model.launches.windows(2).any(|pair| pair[0].parts[0] > pair[1].parts[0]));
    }
    assert!(
        grouped > 0 && moved > 0,
        "{grouped} launches of several lines, {moved} programs with moved launches"
    );
}
