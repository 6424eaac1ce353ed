//! Threads' work: a launch on an executor with its kernel.

use super::idle::{Idle, Loaded};
use super::order::WINDOW_WORDS;
use super::{Execution, LaunchError, set_parameters};
use crate::flow::operation::Batch;
use crate::launches::{Launch, Work};
use b512_asm::Program;
use codegen::elementwise::Elementwise;
use ring::modular::Modulus;
use ring_program::ModulusIndex;
use ring_program::data::Words;
use rustc_hash::FxHashMap;
use sim::functional::{self, Executor};
use std::slice::SliceIndex;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What launches leave to later ones.
pub(super) struct Pools {
    n: usize,
    executors: Mutex<Idle>,
    /// Executors of automorphisms.
    automorphisms: Mutex<Idle>,
    /// The memory of limbs that have been read. The system would clear it again for each limb, which takes as
    /// long as most launches.
    memory: Mutex<Vec<Vec<u64>>>,
}

impl Pools {
    pub(super) fn new(n: usize) -> Self {
        let [executors, automorphisms] = [Idle::for_kernels(), Idle::for_automorphisms()].map(Mutex::new);
        Self { n, executors, automorphisms, memory: Mutex::default() }
    }

    /// A limb without words.
    fn limb(&self) -> Words {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner).pop();
        memory.map_or_else(|| Words::with_capacity(self.n), Words::from)
    }

    pub(super) fn give_back_memory(&self, words: Words) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.len() < WINDOW_WORDS / self.n
            && let Some(mut words) = words.into_memory()
        {
            words.clear();
            memory.push(words);
        }
    }

    /// The executors among which one for a kernel may be.
    fn idle(&self, key: &Loaded) -> MutexGuard<'_, Idle> {
        let idle = if key.is_automorphism() { &self.automorphisms } else { &self.executors };
        idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_back(&self, key: Loaded, executor: Box<Executor>) {
        let dropped = self.idle(&key).give_back(key, executor);
        // Without the lock: it takes the system a while to take back their memory.
        drop(dropped);
    }
}

/// What all launches share.
#[derive(Clone, Copy)]
pub(super) struct Worker<'a> {
    pub(super) execution: &'a Execution<'a>,
    pub(super) moduli: &'a FxHashMap<ModulusIndex, Modulus>,
    pub(super) pools: &'a Pools,
}

impl Worker<'_> {
    /// The results of a launch from its operands.
    pub(super) fn run(&self, launch: &Launch, sources: &[Words]) -> Result<Vec<Words>, LaunchError> {
        let Execution { launches, kernels, program, machine, .. } = self.execution;
        match launch.work {
            Work::Permute(permutation) => {
                Ok(vec![permutation.apply(&sources[0], sources.last().expect("a source"))])
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
                    append(&mut words, &executor, &batch.symbol("y", ring));
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
                let results = self.slices(&mut executor, kernel.slice as usize, sources, results)?;
                self.pools.give_back(key, executor);
                Ok(results)
            }
        }
    }

    fn executor(
        &self,
        key: &Loaded,
        program: impl FnOnce() -> Result<Program, codegen::Error>,
    ) -> Result<Box<Executor>, LaunchError> {
        if let Some(executor) = self.pools.idle(key).take(key) {
            return Ok(executor);
        }
        let program = program()?;
        let other = self.pools.idle(key).take_if_full();
        if let Some(mut executor) = other {
            executor.reload(&program)?;
            return Ok(executor);
        }
        let mut executor = Box::new(Executor::for_program(self.execution.machine, &program));
        executor.load(&program)?;
        Ok(executor)
    }

    /// Runs an elementwise kernel on all slices.
    fn slices(
        &self,
        executor: &mut Executor,
        slice: usize,
        sources: &[Words],
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
                append(words, executor, &Elementwise::output_name(index));
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

fn append(words: &mut Words, executor: &Executor, symbol: &str) {
    match executor.view(symbol).expect("a kernel has its results") {
        functional::Words::Narrow(more) => words.extend_from_narrow(more),
        functional::Words::Wide(more) => words.extend_from_slice(more),
    }
}
