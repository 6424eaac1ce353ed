//! Execution on data: every launch runs its kernel on the functional engine.
//!
//! Launches run window by window. Launches of a window that do not depend on each other run in parallel. An
//! input has words when a launch first reads it; a limb is freed after its last reader, or at the end of a
//! window if it is quickly made again.

mod reduced;
mod replay;

pub use self::reduced::NotReduced;
pub use self::replay::Fault;
use crate::flow::operation::{Batch, RingOperation, RingParameters};
use crate::flow::{Flow, ValueId};
use crate::launches::kernels::{Kernels, Timed};
use crate::launches::{Launch, Launches, ShapeId, Work};
use b512_asm::Program;
use codegen::NumberWords;
use codegen::elementwise::Elementwise;
use rayon::prelude::*;
use ring::modular::Modulus;
use ring_program::data::Words;
use ring_program::{Inputs, Limb, ModulusIndex, RingProgram};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use sim::Machine;
use sim::functional::{ExecuteError, Executor, LoadError};
use std::hash::{Hash, Hasher};
use std::slice::SliceIndex;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The words that the launches of a window write, and of inputs that they are the first to read: 128 MiB. In
/// a larger window more launches would run in parallel, but also more limbs would be alive.
const WINDOW_WORDS: usize = 1 << 24;

/// The launches of the longest window.
const LONGEST_WINDOW: usize = 1 << 12;

/// The words of idle executors that are kept: 512 MiB, and up to as much for the factors that they have
/// prepared. Those of the transforms for 36 moduli of 2^16 points take 300 MiB.
const IDLE_WORDS: usize = 1 << 25;

/// The idle executors of automorphisms that are kept, set by hand: a few for each thread. There are too many
/// automorphisms, with a kernel for each modulus, to meet one again soon, other than in the same level.
const IDLE_AUTOMORPHISMS: usize = 8;

/// A program that is ready to run on data.
#[derive(Debug)]
pub struct Execution<'a> {
    /// The program.
    pub program: &'a RingProgram,
    /// Its dataflow.
    pub flow: &'a Flow,
    /// Its launches.
    pub launches: &'a Launches,
    /// Its kernels.
    pub kernels: &'a Kernels,
    /// The machine.
    pub machine: &'a Machine,
}

/// A launch that failed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LaunchError {
    /// The kernel does not exist for the launch.
    #[error(transparent)]
    Kernel(#[from] codegen::Error),
    /// The kernel cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An instruction faults: the operands are not residues.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A word is not reduced.
    #[error(transparent)]
    NotReduced(#[from] NotReduced),
}

/// The failure of a run, with the index of the launch.
pub type Failure = (usize, LaunchError);

impl Execution<'_> {
    /// Runs the program. The result has the words of each output, in the order of
    /// [`RingProgram::outputs`].
    ///
    /// # Errors
    /// Returns an error if a launch fails.
    ///
    /// # Panics
    /// Panics if an input is missing.
    pub fn run(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<Words>>, Failure> {
        let mut values = Values::new(self);
        let pools = Pools::new(self.program.degree().len());
        let moduli = moduli(self.program);
        let worker = Worker { execution: self, moduli: &moduli, pools: &pools };
        let launches = &self.launches.launches;
        let mut start = 0;
        while start < launches.len() {
            let window = &launches[start..values.end_of_window(self, start)];
            for level in levels(self.launches, window) {
                values.make_inputs(
                    inputs,
                    level.iter().flat_map(|&place| self.launches.sources(&window[place])),
                );
                let run = |&place: &usize| {
                    let launch = &window[place];
                    worker
                        .run(launch, &values)
                        .map_err(|error| (start + place, self.explain(launch, &values, error)))
                };
                let results: Vec<Vec<Words>> = level.par_iter().map(run).collect::<Result<_, _>>()?;
                for (&place, results) in level.iter().zip(results) {
                    values.commit(self.launches, &window[place], results, &pools);
                }
            }
            start += window.len();
            values.drop_made(&pools);
        }
        values.make_inputs(inputs, self.flow.outputs.iter().flatten());
        Ok(values.outputs(self.flow))
    }

    /// The reason for the failure of a launch in terms of the program, if there is one.
    fn explain(&self, launch: &Launch, values: &Values, error: LaunchError) -> LaunchError {
        match error {
            LaunchError::Execute(_) => {
                let sources: Vec<&Words> =
                    self.launches.sources(launch).iter().map(|&value| values.get(value)).collect();
                NotReduced::find(self.program, self.machine, (self.launches, launch), &sources)
                    .map_or(error, LaunchError::from)
            }
            LaunchError::Kernel(_) | LaunchError::Load(_) | LaunchError::NotReduced(_) => error,
        }
    }
}

/// The moduli of a program.
pub(crate) fn moduli(program: &RingProgram) -> FxHashMap<ModulusIndex, Modulus> {
    let modulus = |(index, value)| (index, Modulus::new(value).expect("moduli are odd primes"));
    program.moduli().iter().map(modulus).collect()
}

/// Sets the moduli and scalars of an elementwise launch.
pub(crate) fn set_parameters(
    executor: &mut Executor,
    kernel: &Timed,
    (launches, launch): (&Launches, &Launch),
    moduli: &FxHashMap<ModulusIndex, Modulus>,
) {
    for (&register, modulus) in kernel.moduli.iter().zip(launches.moduli(launch)) {
        executor.set_modulus(register, moduli[modulus]);
    }
    let scalars = kernel.scalars.iter().zip(launches.scalars(launch));
    let constant = |(at, &scalar): (&NumberWords, &u128)| (at.space, at.words.clone(), scalar);
    executor.write_constants(scalars.map(constant));
}

/// The launches of a window by depth: those of one level depend on earlier levels only. In a level, those of
/// one kernel and the same moduli are next to each other: then they have one executor, one after the other.
fn levels(launches: &Launches, window: &[Launch]) -> Vec<Vec<usize>> {
    let mut depths: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (place, launch) in window.iter().enumerate() {
        let sources = launches.sources(launch).iter();
        let depth = sources.filter_map(|source| depths.get(source)).max().map_or(0, |depth| depth + 1);
        launches.results(launch).iter().for_each(|&result| {
            depths.insert(result, depth);
        });
        if levels.len() <= depth {
            levels.push(Vec::new());
        }
        levels[depth].push(place);
    }
    let kernel = |&place: &usize| {
        let launch = &window[place];
        let mut hasher = FxHasher::default();
        (launch.work, launches.moduli(launch)).hash(&mut hasher);
        (hasher.finish(), place)
    };
    levels.iter_mut().for_each(|level| level.sort_by_cached_key(kernel));
    levels
}

/// The words of the values that are alive.
struct Values {
    words: Vec<Option<Words>>,
    /// The launches that have not read the value yet; an output counts as one.
    readers: Vec<u32>,
    /// The inputs that no launch has read, or whose words have been dropped.
    unread: FxHashMap<ValueId, Limb>,
    /// The inputs among those of this window whose words are not kept.
    made: Vec<(ValueId, Limb)>,
}

impl Values {
    fn new(execution: &Execution<'_>) -> Self {
        let Execution { program, flow, launches, .. } = execution;
        let unread = flow.inputs.iter().map(|&(limb, value)| (value, limb)).collect();
        let (words, readers) = (vec![None; flow.values], vec![0; flow.values]);
        let mut values = Self { words, readers, unread, made: Vec::new() };
        values.words[ValueId::ZERO.index()] = Some(Words::zeros(program.degree().len()));
        values.readers[ValueId::ZERO.index()] = 1;
        let read = launches.launches.iter().flat_map(|launch| launches.sources(launch));
        for value in read.chain(flow.outputs.iter().flatten()) {
            values.readers[value.index()] += 1;
        }
        values
    }

    /// The index after the last launch of the window that begins with the launch `start`.
    fn end_of_window(&self, execution: &Execution<'_>, start: usize) -> usize {
        let Execution { program, launches, .. } = execution;
        let longest = WINDOW_WORDS / program.degree().len();
        let (mut limbs, mut new) = (0, FxHashSet::default());
        let mut fits = |launch: &Launch| {
            let is_new = |value: &&ValueId| self.unread.contains_key(*value) && new.insert(**value);
            limbs += launches.results(launch).len() + launches.sources(launch).iter().filter(is_new).count();
            limbs <= longest
        };
        let window = launches.launches[start..].iter().take(LONGEST_WINDOW);
        start + window.take_while(|launch| fits(launch)).count().max(1)
    }

    /// Makes the words of inputs among `values` that have not been read.
    fn make_inputs<'v>(&mut self, inputs: &Inputs<'_>, values: impl Iterator<Item = &'v ValueId>) {
        let new: Vec<(ValueId, Limb)> =
            values.filter_map(|&value| self.unread.remove(&value).map(|limb| (value, limb))).collect();
        let words = |&(value, limb): &(ValueId, Limb)| (value, inputs.words(limb));
        for (value, words) in new.par_iter().map(words).collect::<Vec<_>>() {
            self.words[value.index()] = Some(words.expect("inputs are complete"));
        }
        self.made.extend(new.into_iter().filter(|&(_, limb)| !inputs.is_kept(limb)));
    }

    /// Drops the words of inputs that need not be kept between windows.
    fn drop_made(&mut self, pools: &Pools) {
        for (value, limb) in self.made.drain(..) {
            if let Some(words) = self.words[value.index()].take() {
                pools.give_back_memory(words);
                self.unread.insert(value, limb);
            }
        }
    }

    fn get(&self, value: ValueId) -> &Words {
        self.words[value.index()].as_ref().expect("a value with readers has words")
    }

    fn commit(&mut self, launches: &Launches, launch: &Launch, results: Vec<Words>, pools: &Pools) {
        for (value, words) in launches.results(launch).iter().zip(results) {
            self.words[value.index()] = Some(words);
        }
        for value in launches.sources(launch) {
            let readers = &mut self.readers[value.index()];
            *readers -= 1;
            if *readers == 0
                && let Some(words) = self.words[value.index()].take()
            {
                pools.give_back_memory(words);
            }
        }
    }

    fn outputs(&self, flow: &Flow) -> Vec<Vec<Words>> {
        let limbs = |limbs: &Vec<ValueId>| limbs.iter().map(|&value| self.get(value).clone()).collect();
        flow.outputs.iter().map(limbs).collect()
    }
}

/// A kernel in an executor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Loaded {
    Elementwise(ShapeId),
    Operation(RingOperation, Vec<RingParameters>),
}

impl Loaded {
    fn is_automorphism(&self) -> bool {
        match self {
            Self::Elementwise(_) | Self::Operation(RingOperation::Ntt | RingOperation::Intt, _) => false,
            Self::Operation(
                RingOperation::AutomorphismOfValues { .. } | RingOperation::AutomorphismOfCoefficients { .. },
                _,
            ) => true,
        }
    }
}

/// What launches leave to later ones.
struct Pools {
    n: usize,
    /// Executors with their kernels loaded. By use, the newest last.
    free: Mutex<Vec<(Loaded, Executor)>>,
    /// Those of automorphisms.
    automorphisms: Mutex<Vec<(Loaded, Executor)>>,
    /// The memory of limbs that have been read. The system would clear it again for each limb, which takes as
    /// long as most launches.
    memory: Mutex<Vec<Vec<u64>>>,
}

impl Pools {
    fn new(n: usize) -> Self {
        Self { n, free: Mutex::default(), automorphisms: Mutex::default(), memory: Mutex::default() }
    }

    /// A limb without words.
    fn limb(&self) -> Words {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner).pop();
        memory.map_or_else(|| Words::with_capacity(self.n), Words::from)
    }

    fn give_back_memory(&self, words: Words) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.len() < WINDOW_WORDS / self.n
            && let Some(mut words) = words.into_memory()
        {
            words.clear();
            memory.push(words);
        }
    }

    /// The executors among which one for a kernel may be.
    fn idle(&self, key: &Loaded) -> MutexGuard<'_, Vec<(Loaded, Executor)>> {
        let idle = if key.is_automorphism() { &self.automorphisms } else { &self.free };
        idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, key: &Loaded) -> Option<Executor> {
        let mut idle = self.idle(key);
        let place = idle.iter().rposition(|(loaded, _)| loaded == key)?;
        Some(idle.remove(place).1)
    }

    /// An executor of another kernel, for its memory.
    fn take_other(&self, key: &Loaded) -> Option<Executor> {
        let mut idle = self.idle(key);
        let is_full = key.is_automorphism() && idle.len() >= IDLE_AUTOMORPHISMS;
        is_full.then(|| idle.remove(0).1)
    }

    fn give_back(&self, key: Loaded, executor: Executor) {
        let is_automorphism = key.is_automorphism();
        let mut free = self.idle(&key);
        free.push((key, executor));
        if is_automorphism {
            let dropped = free.len().saturating_sub(IDLE_AUTOMORPHISMS);
            free.drain(..dropped);
            return;
        }
        let words = free.iter().rev().scan(0, |words, (_, executor)| {
            *words += executor.words_held();
            Some(*words)
        });
        let dropped = free.len() - words.take_while(|&words| words <= IDLE_WORDS).count();
        free.drain(..dropped);
    }
}

/// What all launches share.
struct Worker<'a> {
    execution: &'a Execution<'a>,
    moduli: &'a FxHashMap<ModulusIndex, Modulus>,
    pools: &'a Pools,
}

impl Worker<'_> {
    fn run(&self, launch: &Launch, values: &Values) -> Result<Vec<Words>, LaunchError> {
        let Execution { launches, kernels, program, machine, .. } = self.execution;
        let sources: Vec<&Words> = launches.sources(launch).iter().map(|&value| values.get(value)).collect();
        match launch.work {
            Work::Permute(permutation) => {
                Ok(vec![permutation.apply(sources[0], sources.last().expect("a source"))])
            }
            Work::Operation(operation) => {
                let rings = launches.rings(program, launch);
                let batch = Batch { operation, rings: rings.len() as u16 };
                let key = Loaded::Operation(operation, rings.clone());
                let mut executor = self.executor(&key, || kernels.program(batch, &rings, machine))?;
                for (ring, source) in sources.iter().enumerate() {
                    write(&mut executor, &batch.symbol("x", ring), source, ..);
                }
                executor.run()?;
                let result = |ring| {
                    let mut words = self.pools.limb();
                    words.extend_from_slice(read(&executor, &batch.symbol("y", ring)));
                    words
                };
                let results = (0..rings.len()).map(result).collect();
                self.pools.give_back(key, executor);
                Ok(results)
            }
            Work::Elementwise(shape) => {
                let key = Loaded::Elementwise(shape);
                let kernel = kernels.elementwise(shape);
                let mut executor = self.executor(&key, || Ok(kernels.elementwise_program(shape).clone()))?;
                set_parameters(&mut executor, kernel, (launches, launch), self.moduli);
                let results = launches.results(launch).len();
                let results = self.slices(&mut executor, kernel.slice as usize, &sources, results)?;
                self.pools.give_back(key, executor);
                Ok(results)
            }
        }
    }

    fn executor(
        &self,
        key: &Loaded,
        program: impl FnOnce() -> Result<Program, codegen::Error>,
    ) -> Result<Executor, LaunchError> {
        if let Some(executor) = self.pools.take(key) {
            return Ok(executor);
        }
        let program = program()?;
        if let Some(mut executor) = self.pools.take_other(key) {
            executor.reload(&program)?;
            return Ok(executor);
        }
        let mut executor = Executor::for_program(self.execution.machine, &program);
        executor.load(&program)?;
        Ok(executor)
    }

    /// Runs an elementwise kernel on all slices.
    fn slices(
        &self,
        executor: &mut Executor,
        slice: usize,
        sources: &[&Words],
        results: usize,
    ) -> Result<Vec<Words>, LaunchError> {
        let n = self.execution.program.degree().len();
        let mut words: Vec<Words> = (0..results).map(|_| self.pools.limb()).collect();
        for start in (0..n).step_by(slice) {
            for (index, source) in sources.iter().enumerate() {
                write(executor, &Elementwise::input_name(index), source, start..start + slice);
            }
            executor.run()?;
            for (index, words) in words.iter_mut().enumerate() {
                words.extend_from_slice(read(executor, &Elementwise::output_name(index)));
            }
        }
        Ok(words)
    }
}

fn write(
    executor: &mut Executor,
    symbol: &str,
    words: &Words,
    part: impl SliceIndex<[u64], Output = [u64]> + SliceIndex<[u128], Output = [u128]>,
) {
    let written = match words {
        Words::Narrow(words) => executor.write_narrow(symbol, &words[part]),
        Words::Wide(words) => executor.write(symbol, &words[part]),
    };
    written.expect("a kernel has its operands");
}

fn read<'e>(executor: &'e Executor, symbol: &str) -> &'e [u128] {
    executor.read(symbol).expect("a kernel has its results")
}
