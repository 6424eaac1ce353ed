//! Kernels composed at the level of code: the instructions of several kernels, one after the other, in which a stored vector that
//! a later kernel loads stays in a register, and a store that nobody reads is dropped.

use crate::page::Fault;
use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, Image, Instr, MReg, Program, Role};
use codegen::code::{BufferId, Code, Constant, MemRef, Tower, TowerId, ValueId};
use codegen::forwarding::forward;
use codegen::number::Number;
use codegen::schedule::{Addresses, Graph, Tuning, schedule};
use codegen::{Kernel, check};
use sim::Machine;
use sim::timing::{Timing, simulate};
use std::collections::HashMap;

/// The most values that live at once because of forwarding, and whether instructions are sorted by the demand of the stores. The scheduler
/// spills values without a register.
const FORWARDING: [(u32, bool); 3] = [(40, false), (u32::MAX, false), (u32::MAX, true)];

/// The code of a kernel, and the limbs and moduli of one launch of it, by their numbers in the program.
pub(super) struct Part<'c> {
    pub(super) kernel: &'c Kernel,
    pub(super) sources: &'c [u32],
    pub(super) results: &'c [u32],
    pub(super) moduli: &'c [u32],
}

/// The code of several launches under construction.
struct Composition {
    code: Code,
    limbs: HashMap<u32, BufferId>,
    towers: HashMap<u32, TowerId>,
    /// The buffer of all words beside the limbs.
    scratch: BufferId,
    /// The scalars of the parts so far.
    scalars: u128,
}

impl Composition {
    fn new(machine: &Machine) -> Self {
        let mut code = Code::for_isa(machine.instruction_set());
        let scratch = code.buffer("scratch", 0, Role::Scratch, TowerId(0));
        Self { code, limbs: HashMap::new(), towers: HashMap::new(), scratch, scalars: 0 }
    }

    /// Appends a part. A limb that no other launch reads is no result of the whole.
    fn append(&mut self, part: &Part<'_>, is_read_outside: &impl Fn(u32) -> bool) {
        let (mut sources, mut results) = (part.sources.iter(), part.results.iter());
        let towers: Vec<TowerId> = std::iter::zip(part.moduli, &part.kernel.code.towers)
            .map(|(&modulus, tower)| self.tower(modulus, tower))
            .collect();
        // The place of each buffer.
        let mut places = Vec::new();
        for buffer in &part.kernel.code.buffers {
            let limb = match buffer.role {
                Role::Input => sources.next(),
                Role::Output => results.next(),
                Role::Table | Role::Scratch => None,
            };
            let Some(&limb) = limb else {
                let words = &mut self.code.buffers[self.scratch.index()].words;
                places.push((self.scratch, *words));
                *words += buffer.words.next_multiple_of(self.code.isa.vector_length());
                continue;
            };
            let is_inner = buffer.role == Role::Output && !is_read_outside(limb);
            let role = if is_inner { Role::Scratch } else { buffer.role };
            let code = &mut self.code;
            let add = || code.buffer(format!("l{limb}"), buffer.words, role, TowerId(0));
            places.push((*self.limbs.entry(limb).or_insert_with(add), 0));
        }
        self.instructions(&part.kernel.code, &towers, &places);
    }

    fn tower(&mut self, modulus: u32, tower: &Tower) -> TowerId {
        let id = *self.towers.entry(modulus).or_insert_with(|| self.code.tower(*tower));
        if tower.root != 0 {
            self.code.towers[id.index()] = *tower;
        }
        id
    }

    fn instructions(&mut self, other: &Code, towers: &[TowerId], places: &[(BufferId, u32)]) {
        use codegen::number::Expression;
        let code = &mut self.code;
        let mut scalars = 0;
        let mut expressions = Vec::new();
        for expression in &other.expressions {
            // The scalars of an elementwise kernel are numbered. Each part has its own.
            expressions.push(match expression {
                Expression::Value(value) => {
                    scalars = scalars.max(value + 1);
                    code.number(Expression::Value(value + self.scalars))
                }
                other => code.number(other.clone()),
            });
        }
        self.scalars += scalars;
        let tower = |tower: TowerId| towers[tower.index()];
        let number = |number: Number| match number {
            Number::Root { .. } => number,
            Number::Expression(id) => expressions[id.index()],
        };
        let constant = |constant: &Constant| Constant {
            tower: tower(constant.tower),
            numbers: constant.numbers.iter().map(|&element| number(element)).collect(),
        };
        let constants: Vec<_> = other.constants.iter().map(|known| code.constant(constant(known))).collect();
        let scalars: Vec<_> =
            other.scalars.iter().map(|known| code.scalar(tower(known.tower), number(known.number))).collect();
        let values = code.values;
        code.values += other.values;
        let value = |value: ValueId| ValueId(value.0 + values);
        code.insts.extend(other.insts.iter().map(|inst| codegen::code::Inst {
            sources: inst.sources.map(value),
            results: inst.results.map(value),
            constant: inst.constant.map(|known| constants[known.index()]),
            scalar: inst.scalar.map(|known| scalars[known.index()]),
            tower: tower(inst.tower),
            memory: inst.memory.map(|at| {
                let (buffer, word) = places[at.buffer.index()];
                MemRef { buffer, word: at.word + word, ..at }
            }),
            ..inst.clone()
        }));
    }
}

/// The instructions and the timing of launches in one program: the fastest of some orders, with the scheduler's settings by default
/// and those of an operation. `None` if it has more operands or moduli than registers. With `prove`, its code is proven equal to
/// the code of the launches in sequence.
pub(super) fn composed(
    parts: &[Part<'_>],
    is_read_outside: impl Fn(u32) -> bool,
    machine: &Machine,
    prove: bool,
) -> Result<Option<(usize, Timing)>, Fault> {
    let mut composition = Composition::new(machine);
    parts.iter().for_each(|part| composition.append(part, &is_read_outside));
    let before = composition.code;
    let codes = FORWARDING.map(|(registers, is_by_demand)| {
        let mut code = before.clone();
        forward(&mut code, registers);
        if is_by_demand {
            code.order_by_demand();
        }
        code
    });
    let default = Tuning::default();
    let of_operation = parts.iter().map(|part| &part.kernel.recipe.tuning).find(|&tuning| *tuning != default);
    let mut fastest: Option<(usize, Timing)> = None;
    for code in &codes {
        if prove {
            check::forwarding(&before, code)?;
        }
        let Some((addresses, launch)) = memory(code) else { return Ok(None) };
        let graph = Graph::of(code);
        for tuning in std::iter::once(&default).chain(of_operation) {
            let scheduled = schedule(code, &graph, &addresses, &launch, machine, tuning)?;
            let program = program(code, scheduled.instructions, launch.clone());
            let timing = simulate(machine, &program);
            if fastest.as_ref().is_none_or(|(_, known)| timing.cycles < known.cycles) {
                fastest = Some((program.instructions.len(), timing));
            }
        }
    }
    Ok(fastest)
}

/// A program to be timed, without data.
fn program(code: &Code, mut instructions: Vec<Instr>, addresses: Vec<(AReg, u32)>) -> Program {
    instructions.push(Instr::Halt {});
    Program {
        isa: code.isa,
        name: "composed".to_owned(),
        instructions,
        vdm: Image::default(),
        sdm: Image::default(),
        addresses,
        moduli: Vec::new(),
        symbols: Vec::new(),
        claims: Vec::new(),
    }
}

/// The memory map of code, and its address registers: one for each buffer, the table and the spilled vectors.
fn memory(code: &Code) -> Option<(Addresses, Vec<(AReg, u32)>)> {
    if code.buffers.len() + 2 > REGISTERS || code.towers.len() > REGISTERS {
        return None;
    }
    let aligned = |word: u32| word.next_multiple_of(code.isa.vector_length());
    let (mut end, mut starts) = (0, Vec::new());
    let mut take = |words: u32| {
        starts.push(end);
        end += aligned(words);
    };
    code.buffers.iter().for_each(|buffer| take(buffer.words));
    // The largest constants first, so that each is aligned.
    let mut order: Vec<usize> = (0..code.constants.len()).collect();
    order.sort_by_key(|&constant| std::cmp::Reverse(code.constants[constant].numbers.len()));
    let (mut constants, mut table) = (vec![0; order.len()], 0);
    for constant in order {
        constants[constant] = table;
        table += code.constants[constant].numbers.len() as u32;
    }
    take(table);
    take(0);
    let buffers = code.buffers.len();
    let addresses = Addresses {
        buffers: (0..buffers).map(AReg::at).collect(),
        table: AReg::at(buffers),
        constants,
        spills: AReg::at(buffers + 1),
        moduli: (0..code.towers.len()).map(|tower| Some(MReg::at(tower))).collect(),
        scalars: (0..code.scalars.len() as u32).collect(),
    };
    Some((addresses, (0..).map(AReg::at).zip(starts).collect()))
}
