//! The memories of a replay, and what events do to them.

use super::image::Image;
use super::parameters::{Buffer, Form, Parameters, ParametersError, Register, Spaces, split};
use super::{Fault, in_order};
use crate::execute::LaunchError;
use crate::flow::ValueId;
use crate::flow::operation::Batch;
use crate::launches::{Launch, Work};
use crate::schedule::record::{Action, Event, Extent};
use crate::schedule::{INSTRUCTION_BYTES, Layout, Plan, ProgramKey, Timeline, program_of};
use b512_asm::{Instr, Program, Role, Space};
use ring::modular::Modulus;
use ring_program::data::Words;
use ring_program::{Inputs, Limb};
use rustc_hash::FxHashMap;
use sim::functional::Executor;
use std::collections::hash_map::Entry;

/// The contents of all memories.
pub(super) struct Memories<'a> {
    plan: &'a Plan<'a>,
    timeline: &'a Timeline,
    layout: Layout,
    /// The inputs: what the generator makes, and keys on the chip.
    inputs: FxHashMap<ValueId, Words>,
    page: usize,
    word_bits: u64,
    vdm: Vec<u128>,
    off_chip: Image,
    /// The instruction memory.
    instructions: FxHashMap<ProgramKey, Vec<Instr>>,
    /// The SDM: what has come for a run of a launch.
    sdm: FxHashMap<(u32, u64), Parameters>,
    /// For each launch, its runs that have fetched parameters, and those that have ended.
    runs: FxHashMap<u32, [u64; 2]>,
    moduli: FxHashMap<u128, Modulus>,
    /// Executors of programs in the instruction memory, by the results that replace their operands.
    executors: FxHashMap<(ProgramKey, Vec<bool>), Executor>,
}

impl<'a> Memories<'a> {
    /// The memories before a timeline begins: inputs, zeros, tables, programs and parameters are off the
    /// chip.
    pub(super) fn new(
        plan: &'a Plan<'a>,
        timeline: &'a Timeline,
        inputs: &Inputs<'_>,
    ) -> Result<Self, LaunchError> {
        let given =
            |&(limb, value): &(Limb, ValueId)| (value, inputs.words(limb).expect("inputs are complete"));
        let (pages, page) = plan.pages();
        let isa = plan.machine.instruction_set();
        let word_bits = u64::from(isa.word_bits());
        let mut memories = Self {
            plan,
            timeline,
            layout: Layout::new(plan),
            inputs: plan.flow.inputs.iter().map(given).collect(),
            page: page as usize,
            word_bits,
            // Whatever reads a word before it is written gets a large one.
            vdm: vec![isa.max_word(); (pages * page) as usize],
            off_chip: Image::new(timeline.places.words * word_bits),
            instructions: FxHashMap::default(),
            sdm: FxHashMap::default(),
            runs: FxHashMap::default(),
            moduli: FxHashMap::default(),
            executors: FxHashMap::default(),
        };
        for (value, words) in memories.inputs.clone() {
            for (index, word) in words.iter().enumerate() {
                memories.set_off_chip(value.0, index, word);
            }
        }
        for index in 0..plan.program.degree().len() {
            memories.set_off_chip(ValueId::ZERO.0, index, 0);
        }
        memories.write_numbers()?;
        memories.write_programs();
        memories.write_registers();
        Ok(memories)
    }

    /// Writes the tables of operations, and the moduli and scalars of all launches.
    fn write_numbers(&mut self) -> Result<(), LaunchError> {
        let plan = self.plan;
        let mut of_operations = FxHashMap::default();
        for (launch, place) in plan.launches.launches.iter().zip(&self.timeline.places.parameters) {
            let (Some(place), Some(kernel)) = (place, plan.kernel(launch)) else { continue };
            let scalars = match plan.launches.batch(launch) {
                None => plan.launches.scalars(launch),
                Some(batch) => {
                    match of_operations.entry((batch, plan.launches.rings(plan.program, launch))) {
                        Entry::Occupied(known) => &*known.into_mut(),
                        Entry::Vacant(new) => {
                            let program = plan.kernels.program(batch, &new.key().1, plan.machine)?;
                            self.write_tables(batch, launch, &program);
                            let segments = program.sdm.segments.into_iter();
                            &*new.insert(segments.flat_map(|segment| segment.words).collect::<Vec<_>>())
                        }
                    }
                }
            };
            let moduli = plan.launches.moduli(launch).iter().map(|&m| plan.program.moduli().value(m));
            let numbers = moduli.take(kernel.moduli.len()).chain(scalars.iter().copied());
            Form::of(plan, launch).write(&mut self.off_chip, 8 * place, numbers);
        }
        Ok(())
    }

    /// Writes the table of each ring.
    fn write_tables(&mut self, batch: Batch, launch: &Launch, program: &Program) {
        let kernel = self.plan.kernels.kernel(batch, self.plan.machine);
        for (ring, item) in self.tables(batch, launch).into_iter().enumerate() {
            for (index, place) in kernel.table_of(ring).enumerate() {
                self.set_off_chip(item, index, program.vdm.segments[0].words[place as usize]);
            }
        }
    }

    fn write_programs(&mut self) {
        for (launch, place) in self.plan.launches.launches.iter().zip(&self.timeline.places.programs) {
            let Some(place) = place else { continue };
            let instructions = &program(self.plan, launch).instructions;
            for (index, instruction) in (0..).zip(instructions) {
                let bit = 8 * (place + INSTRUCTION_BYTES * index);
                self.off_chip.set(bit, 8 * INSTRUCTION_BYTES, instruction.encode().into());
            }
        }
    }

    /// Writes the address registers of all runs.
    fn write_registers(&mut self) {
        let plan = self.plan;
        let pages = plan.program.degree().len().div_ceil(self.page);
        let mut runs: FxHashMap<u32, u64> = FxHashMap::default();
        for number in in_order(self.timeline) {
            let event = &self.timeline.events[number];
            let Action::Run { launch: index, operands, results, scratch } = &event.action else { continue };
            let launch = &plan.launches.launches[*index as usize];
            let of = |item| operands.iter().find(|operand| operand.item == item);
            let tables = plan.launches.batch(launch).map(|batch| self.tables(batch, launch));
            let spaces = Spaces {
                sources: plan.launches.sources(launch).iter().map(|value| of(value.0)).collect(),
                results,
                tables: tables.into_iter().flatten().map(|item| of(item).expect("an operand")).collect(),
                scratch,
            };
            let registers = spaces.registers(program(plan, launch), self.page as u32, pages);
            let run = runs.entry(*index).or_default();
            let first = 8 * self.timeline.places.parameters[*index as usize].expect("a launch with a kernel");
            Form::of(plan, launch).write_run(&mut self.off_chip, first, *run, &registers);
            *run += 1;
        }
    }

    /// The table of each ring of a launch.
    fn tables(&self, batch: Batch, launch: &Launch) -> Vec<u32> {
        let recipe = self.plan.kernels.recipe(batch);
        let rings = self.plan.launches.rings(self.plan.program, launch);
        let table = |ring| self.layout.tables.get(&(batch.operation, recipe, ring)).map(|item| item.0);
        rings.into_iter().filter_map(table).collect()
    }

    /// The first bit of a word of an item in the off-chip memory. Of a limb of which one half is there, these
    /// are the even words.
    fn place(&self, item: u32, word: usize) -> Option<u64> {
        let first = self.timeline.places.items[item as usize]?;
        let word = word as u64;
        let place = match self.layout.items[item as usize].halves {
            0 => None,
            1 => word.is_multiple_of(2).then_some(first + word / 2),
            _ => Some(first + word),
        };
        place.map(|place| place * self.word_bits)
    }

    fn set_off_chip(&mut self, item: u32, word: usize, value: u128) {
        if let Some(bit) = self.place(item, word) {
            self.off_chip.set(bit, self.word_bits, value);
        }
    }

    /// A word that comes from the off-chip memory, from the generator, or from a memory of keys.
    fn word(&self, item: u32, word: usize) -> u128 {
        match self.place(item, word) {
            Some(bit) => self.off_chip.get(bit, self.word_bits),
            None => self.inputs[&ValueId(item)].at(word),
        }
    }

    pub(super) fn limb_off_chip(&self, value: ValueId) -> Words {
        (0..self.plan.program.degree().len()).map(|index| self.word(value.0, index)).collect()
    }

    /// The place of a word of a space in the VDM.
    fn at(&self, (offset, pages): (u32, &[u32]), word: usize) -> usize {
        let word = offset as usize + word;
        pages[word / self.page] as usize * self.page + word % self.page
    }

    fn read(&self, space: (u32, &[u32]), words: usize) -> Vec<u128> {
        (0..words).map(|word| self.vdm[self.at(space, word)]).collect()
    }

    fn write(&mut self, space: (u32, &[u32]), words: &[u128]) {
        for (word, &value) in words.iter().enumerate() {
            let place = self.at(space, word);
            self.vdm[place] = value;
        }
    }

    pub(super) fn apply(&mut self, number: usize, event: &Event) -> Result<(), Fault> {
        match &event.action {
            Action::Load(extents) => {
                for extent in extents {
                    let words = extent.first as usize..(extent.first + extent.words) as usize;
                    let words: Vec<u128> = words.map(|word| self.word(extent.item, word)).collect();
                    self.write(space(extent), &words);
                }
            }
            Action::Store(extents) => {
                for extent in extents {
                    let words = self.read(space(extent), extent.words as usize);
                    for (word, value) in (extent.first as usize..).zip(words) {
                        self.set_off_chip(extent.item, word, value);
                    }
                }
            }
            Action::Fetch { launch, with_program } => self.fetch(number, *launch, *with_program)?,
            Action::Gather { launch, result } => {
                let launch = &self.plan.launches.launches[*launch as usize];
                let Work::Permute(permutation) = launch.work else {
                    unreachable!("a kernel gathers nothing")
                };
                let sources = self.plan.launches.sources(launch);
                let sources: Vec<Words> = sources.iter().map(|&value| self.limb_off_chip(value)).collect();
                let moved = permutation.apply(&sources[0], sources.last().expect("a source"));
                self.write(space(result), &moved.iter().collect::<Vec<_>>());
            }
            Action::Run { launch, results, scratch, .. } => {
                self.run(number, *launch, &results[0])?;
                // Its scratch words are lost.
                let lost = self.plan.machine.instruction_set().max_word();
                for &page in scratch {
                    self.vdm[page as usize * self.page..][..self.page].fill(lost);
                }
            }
        }
        Ok(())
    }

    /// Fetches the parameters of a launch's next run, and its program if that comes too.
    fn fetch(&mut self, number: usize, index: u32, with_program: bool) -> Result<(), Fault> {
        let plan = self.plan;
        let (launch, places) = (&plan.launches.launches[index as usize], &self.timeline.places);
        let first = |places: &[Option<u64>]| 8 * places[index as usize].expect("a launch with a kernel");
        if with_program {
            let (first, width) = (first(&places.programs), 8 * INSTRUCTION_BYTES);
            let count = plan.kernel(launch).expect("a launch with a kernel").instructions as u64;
            let word = |index| self.off_chip.get(first + width * index, width) as u64;
            let instructions: Result<Vec<Instr>, _> =
                (0..count).map(|index| Instr::decode(word(index))).collect();
            let instructions = instructions.map_err(|error| Fault::Program { event: number, error })?;
            let program = program_of(plan.launches, launch);
            if self.instructions.get(&program) != Some(&instructions) {
                self.executors.retain(|(known, _), _| *known != program);
                self.instructions.insert(program, instructions);
            }
        }
        let [fetched, _] = self.runs.entry(index).or_default();
        let parameters = Form::of(plan, launch).read(&self.off_chip, first(&places.parameters), *fetched);
        let fault = |error| Fault::Parameters { event: number, error };
        for &modulus in &parameters.moduli {
            let value = Modulus::new(modulus).map_err(|error| fault(ParametersError::Modulus(error)))?;
            self.moduli.insert(modulus, value);
        }
        let pages = plan.pages().0;
        let mut named = parameters.registers.iter().flat_map(|register| &register.pages);
        if let Some(&page) = named.find(|&&page| u64::from(page) >= pages) {
            return Err(fault(ParametersError::Page { page, pages }));
        }
        self.sdm.insert((index, *fetched), parameters);
        *fetched += 1;
        Ok(())
    }

    /// Runs the program of a launch on the pages that its parameters name. `result` has the words of a limb
    /// that the run makes.
    fn run(&mut self, number: usize, index: u32, result: &Extent) -> Result<(), Fault> {
        let plan = self.plan;
        let launch = &plan.launches.launches[index as usize];
        let [_, run] = self.runs.entry(index).or_default();
        let run = std::mem::replace(run, *run + 1);
        let parameters = self.sdm.remove(&(index, run)).ok_or(Fault::NoParameters(number))?;
        let key = program_of(plan.launches, launch);
        let instructions = self.instructions.get(&key).ok_or(Fault::NoProgram(number))?;
        let program = program(plan, launch);
        let operands = split(program).0.zip(&parameters.registers);
        let operands = operands.filter(|(buffer, _)| !matches!(buffer, Buffer::Scratch(_)));
        for (_, register) in operands {
            let end = register.offset as usize + result.words as usize;
            let words = register.pages.len() * self.page;
            if end > words {
                return Err(Fault::Parameters { event: number, error: ParametersError::End { end, words } });
            }
        }
        let in_place = in_place(program, &parameters.registers);
        let executor = match self.executors.remove(&(key, in_place.clone())) {
            Some(executor) => Ok(executor),
            None => {
                let program = Program { instructions: instructions.clone(), ..program.clone() };
                self.executor(with_results_at(program, &in_place))
            }
        };
        let error = |error| Fault::Launch { event: number, error };
        let mut executor = executor.map_err(error)?;
        self.execute(&mut executor, launch, (&parameters, result)).map_err(error)?;
        self.executors.insert((key, in_place), executor);
        Ok(())
    }

    fn executor(&self, program: Program) -> Result<Executor, LaunchError> {
        let mut executor = Executor::for_program(self.plan.machine, &program);
        executor.load(&program)?;
        Ok(executor)
    }

    fn execute(
        &mut self,
        executor: &mut Executor,
        launch: &Launch,
        (parameters, result): (&Parameters, &Extent),
    ) -> Result<(), LaunchError> {
        let (plan, program) = (self.plan, program(self.plan, launch));
        let kernel = plan.kernel(launch).expect("a launch with a kernel");
        for (&(register, _), modulus) in program.moduli.iter().zip(&parameters.moduli) {
            executor.set_modulus(register, self.moduli[modulus]);
        }
        match launch.work {
            Work::Elementwise(_) => {
                let scalars = kernel.scalars.iter().zip(&parameters.scalars);
                executor.write_constants(scalars.map(|(at, &scalar)| (at.space, at.words.clone(), scalar)));
            }
            Work::Operation(_) | Work::Permute(_) => {
                let scalars = (0..).zip(&parameters.scalars);
                executor.write_constants(scalars.map(|(word, &scalar)| (Space::Sdm, word..word + 1, scalar)));
            }
        }
        let space = |register: usize| {
            let Register { offset, pages } = &parameters.registers[register];
            (*offset, &pages[..])
        };
        let (first, words) = (result.first as usize, result.words as usize);
        let symbol = |buffer| {
            let (role, place) = match buffer {
                Buffer::Source(place) => (Role::Input, place),
                Buffer::Result(place) => (Role::Output, place),
                Buffer::Scratch(_) => return None,
            };
            Some(name(program, role, place))
        };
        for (register, buffer) in split(program).0.enumerate() {
            let Buffer::Source(source) = buffer else { continue };
            let value = plan.launches.sources(launch)[source];
            let operand = match self.layout.is_on_chip(value) {
                true => (first..first + words).map(|word| self.inputs[&value].at(word)).collect(),
                false => self.read(space(register), words),
            };
            let symbol = symbol(buffer).expect("an operand");
            executor.write(symbol, &operand).expect("a kernel has its operands");
        }
        let own = program.addresses.len();
        // Those of tables come before those of scratch words.
        let factors = program.symbols.iter().find(|symbol| symbol.role == Role::Table);
        if let (Some(_), Some(factors)) = (plan.launches.batch(launch), factors) {
            let tables = [&parameters.registers[own - 2]].into_iter().chain(&parameters.registers[own..]);
            let pages: Vec<u32> = tables.flat_map(|register| register.pages.iter().copied()).collect();
            let words = self.read((0, &pages), factors.words as usize);
            executor.write(&factors.name, &words).expect("a kernel has its table");
        }
        executor.run()?;
        for (register, buffer) in split(program).0.enumerate() {
            if let Some(symbol) = symbol(buffer)
                && (matches!(buffer, Buffer::Result(_)) || kernel.overwrites_operand)
            {
                let words = executor.read(symbol).expect("a kernel has its results");
                self.write(space(register), &words);
            }
        }
        Ok(())
    }
}

fn space(extent: &Extent) -> (u32, &[u32]) {
    (extent.offset, &extent.pages)
}

/// The program of a launch. Its rings and numbers are those of another one.
fn program<'p>(plan: &'p Plan<'_>, launch: &Launch) -> &'p Program {
    match (launch.work, plan.launches.batch(launch)) {
        (Work::Elementwise(shape), _) => plan.kernels.elementwise_program(shape),
        (_, Some(batch)) => &plan.kernels.kernel(batch, plan.machine).program,
        (_, None) => unreachable!("a movement has no program"),
    }
}

/// The name of a symbol: of those with a role, the one at this place.
fn name(program: &Program, role: Role, place: usize) -> &str {
    let symbol = program.symbols.iter().filter(|symbol| symbol.role == role).nth(place);
    &symbol.expect("an operand").name
}

/// Whether each result of a launch has the pages of its operand.
fn in_place(program: &Program, registers: &[Register]) -> Vec<bool> {
    let register =
        |wanted| split(program).0.position(|buffer| buffer == wanted).map(|place| &registers[place]);
    let is_in_place = |index| {
        let operand = register(Buffer::Source(index));
        operand.is_some() && operand == register(Buffer::Result(index))
    };
    let results = program.symbols.iter().filter(|symbol| symbol.role == Role::Output).count();
    (0..results).map(is_in_place).collect()
}

/// A program that has these results in the memory of their operands.
fn with_results_at(mut program: Program, in_place: &[bool]) -> Program {
    for place in (0..in_place.len()).filter(|&place| in_place[place]) {
        let [from, to] = [Role::Output, Role::Input].map(|role| {
            let mut symbols = program.symbols.iter().filter(|symbol| symbol.role == role);
            symbols.nth(place).expect("an operand").start
        });
        let registers = program.addresses.iter_mut().filter(|(_, address)| *address == from);
        registers.for_each(|(_, address)| *address = to);
        let symbols = program.symbols.iter_mut().filter(|symbol| symbol.start == from);
        symbols.for_each(|symbol| symbol.start = to);
    }
    program
}
