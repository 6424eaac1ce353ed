//! Programs with calls: the lines of a function are lifted once for all calls that need the same results, and
//! each call has these launches. A call of which no output needs a result has none.

use super::{Executed, Launch, Launches, Limits, ShapeId, Work, lift, span};
use crate::flow::{Flow, ValueId};
use crate::mapping::Order;
use ring_program::need::{Need, Needs};
use ring_program::{Call, Function, Limb, RingProgram};
use rustc_hash::FxHashMap;

/// The dataflow of a program with calls, without its nodes, and its launches.
pub fn lift_calls(program: &RingProgram, order: Order, limits: Limits) -> (Flow, Launches) {
    let calls: Vec<&Call> = program.calls().collect();
    let needs = Needs::of(program, &calls);
    let mut expansion = Expansion::new(program, (order, limits));
    for (index, (call, need)) in (0..).zip(calls.into_iter().zip(needs.iter())) {
        expansion.calls = index;
        expansion.call(call, need);
    }
    expansion.finish()
}

/// The flow and the launches of a program without calls. Aliases and outputs are as in
/// [`Flow::with_aliases`].
fn lift_lines(
    program: &RingProgram,
    (aliases, outputs): (&[Option<Limb>], &[&[Limb]]),
    (order, limits): (Order, Limits),
) -> (Flow, Launches) {
    let flow = Flow::with_aliases(program, aliases, outputs, order);
    (flow.without_nodes(), lift(&flow, limits))
}

/// A function whose arguments are equal in the same way, and of which the same is needed.
struct Body {
    flow: Flow,
    /// Its launches. Lists other than those of values are in the program's.
    launches: Vec<Launch>,
    values: Vec<ValueId>,
    /// The results of the launches, in the order of the lines.
    made: Vec<ValueId>,
    /// The place of each parameter that the lines depend on, and its value.
    parameters: Vec<(usize, ValueId)>,
    /// The program's value for each of its values, in the newest call.
    current: Vec<ValueId>,
}

struct Expansion<'p> {
    program: &'p RingProgram,
    rules: (Order, Limits),
    /// The bodies by function, by the first needed parameter with the value of each, and by the needed
    /// results.
    bodies: FxHashMap<(usize, Vec<u32>, Vec<bool>), Body>,
    /// The lines before those of each function.
    lines: Vec<u32>,
    shapes: FxHashMap<codegen::elementwise::Elementwise, ShapeId>,
    launches: Launches,
    /// The value of each limb.
    current: Vec<Option<ValueId>>,
    /// The calls before the one in progress.
    calls: u32,
    flow: Flow,
}

impl<'p> Expansion<'p> {
    fn new(program: &'p RingProgram, rules: (Order, Limits)) -> Self {
        let mut current = vec![None; program.limbs().len()];
        let mut inputs = Vec::new();
        for &limb in program.inputs().iter().flat_map(|group| &group.limbs) {
            current[limb.index()].get_or_insert_with(|| {
                let value = ValueId(inputs.len() as u32 + 1);
                inputs.push((limb, value));
                value
            });
        }
        let lines = |before: &mut u32, function: &Function| {
            let first = *before;
            *before += function.body().operations().len() as u32;
            Some(first)
        };
        let values = inputs.len() + 1;
        Self {
            program,
            rules,
            bodies: FxHashMap::default(),
            lines: program.functions().iter().scan(0, lines).collect(),
            shapes: FxHashMap::default(),
            launches: Launches::default(),
            current,
            calls: 0,
            flow: Flow { inputs, values, ..Flow::default() },
        }
    }

    fn value(&self, limb: Limb) -> ValueId {
        self.current[limb.index()].expect("a valid program writes limbs before it reads them")
    }

    fn call(&mut self, Call { function, arguments, results }: &Call, need: &Need) {
        if need.is_nothing() {
            self.flow.unused += self.program.function(*function).body().operations().len() as u64;
            return;
        }
        let mut first: FxHashMap<ValueId, u32> = FxHashMap::default();
        let equal = (0..).zip(arguments).zip(&need.parameters).map(|((index, &limb), &is_read)| {
            if is_read { *first.entry(self.value(limb)).or_insert(index) } else { index }
        });
        let key = (function.index(), equal.collect(), need.results.clone());
        let mut body = match self.bodies.remove(&key) {
            Some(body) => body,
            None => self.body(function.index(), &key.1, &need.results),
        };
        for &(place, value) in &body.parameters {
            body.current[value.index()] = self.value(arguments[place]);
        }
        for value in &body.made {
            body.current[value.index()] = ValueId(u32::try_from(self.flow.values).expect("fewer values"));
            self.flow.values += 1;
        }
        for launch in &body.launches {
            let start = self.launches.values.len() as u32;
            let values = &body.values[span(&launch.values)];
            self.launches.values.extend(values.iter().map(|value| body.current[value.index()]));
            let end = u32::try_from(self.launches.values.len()).expect("fewer operands");
            self.launches.launches.push(Launch { call: self.calls, values: start..end, ..launch.clone() });
        }
        let needed = results.iter().zip(&need.results).filter(|&(_, &is_needed)| is_needed);
        for ((limb, _), value) in needed.zip(&body.flow.outputs[0]) {
            self.current[limb.index()] = Some(body.current[value.index()]);
        }
        self.flow.renamed += body.flow.renamed;
        self.flow.unused += body.flow.unused;
        self.bodies.insert(key, body);
    }

    /// Lifts a function. `equal` has the first parameter with the value of each, `needed` the results to
    /// make.
    fn body(&mut self, index: usize, equal: &[u32], needed: &[bool]) -> Body {
        let function = &self.program.functions()[index];
        let (program, parameters) = (function.body(), function.parameters());
        let mut aliases = vec![None; program.limbs().len()];
        for (limb, &first) in parameters.iter().zip(equal) {
            aliases[limb.index()] = Some(parameters[first as usize]);
        }
        let results = function.results().iter().zip(needed).filter(|&(_, &is_needed)| is_needed);
        let results: Vec<Limb> = results.map(|(&limb, _)| limb).collect();
        let (flow, body) = lift_lines(program, (&aliases, &[&results]), self.rules);
        let made = body.launches.iter().flat_map(|launch| body.results(launch));
        let mut made: Vec<ValueId> = made.copied().collect();
        made.sort_unstable();
        let mut places = vec![0; program.limbs().len()];
        parameters.iter().enumerate().for_each(|(place, limb)| places[limb.index()] = place);
        let all = &mut self.launches;
        let shapes: Vec<ShapeId> = body
            .shapes
            .into_iter()
            .map(|shape| {
                *self.shapes.entry(shape).or_insert_with_key(|shape| {
                    all.shapes.push(shape.clone());
                    ShapeId(all.shapes.len() as u32 - 1)
                })
            })
            .collect();
        let lines = self.lines[index];
        let [moduli, scalars, operations] =
            [all.moduli.len(), all.scalars.len(), all.operations.len()].map(|length| length as u32);
        let moved = |range: &std::ops::Range<u32>, by: u32| range.start + by..range.end + by;
        let launches = body.launches.iter().map(|launch| Launch {
            work: match launch.work {
                Work::Elementwise(shape) => Work::Elementwise(shapes[shape.index()]),
                Work::Operation(operation) => Work::Operation(operation),
                Work::Permute(permutation) => Work::Permute(permutation),
            },
            first: launch.first + lines,
            moduli: moved(&launch.moduli, moduli),
            scalars: moved(&launch.scalars, scalars),
            operations: moved(&launch.operations, operations),
            ..launch.clone()
        });
        let launches = launches.collect();
        all.moduli.extend(body.moduli);
        all.scalars.extend(body.scalars);
        let executed = |Executed { result, product }: Executed| Executed {
            result: result + lines,
            product: product + lines,
        };
        all.operations.extend(body.operations.into_iter().map(executed));
        let parameters = flow.inputs.iter().map(|&(limb, value)| (places[limb.index()], value)).collect();
        let current = vec![ValueId::ZERO; flow.values];
        Body { flow, launches, values: body.values, made, parameters, current }
    }

    fn finish(mut self) -> (Flow, Launches) {
        let groups = self.program.outputs().iter();
        self.flow.outputs =
            groups.map(|group| group.limbs.iter().map(|&limb| self.value(limb)).collect()).collect();
        let mut used = vec![false; self.flow.values];
        let outputs = self.flow.outputs.iter().flatten();
        self.launches.values.iter().chain(outputs).for_each(|value| used[value.index()] = true);
        self.flow.inputs.retain(|(_, value)| used[value.index()]);
        (self.flow, self.launches)
    }
}
