//! What may be done next: the launches whose operands have words, and the inputs that they wait for.
//!
//! Launches are admitted in their order, into a window that the oldest unfinished one begins. In it, each
//! runs as soon as its operands have words. An input gets words for the first admitted launch that reads it.
//! A limb is freed after its last reader, and an input that is quickly made again as soon as no admitted
//! launch still reads it.

use super::{Execution, Failure, LaunchError};
use crate::flow::ValueId;
use ring_program::data::Words;
use ring_program::{Inputs, Limb};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

/// The words that the launches of the window write, and of inputs that they are the first to read: 128 MiB.
/// In a larger window more launches could run at once, but also more limbs would be alive. Set by hand.
pub(super) const WINDOW_WORDS: usize = 1 << 24;

/// The launches of the longest window, set by hand: it bounds the window of small rings.
const LONGEST_WINDOW: usize = 1 << 12;

/// Something to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// Making the words of an input.
    Make(ValueId, Limb),
    /// A launch, by its index.
    Run(usize),
}

/// The order among tasks that are ready: by kernel, so that launches of one kernel come one after the other
/// and have one executor.
pub(super) type Turn = (u64, usize);

/// An admitted launch.
#[derive(Debug)]
struct Admitted {
    /// The operands that lack words.
    missing: u32,
    /// The limbs that it adds to the window.
    limbs: usize,
    is_done: bool,
}

/// The progress of an execution.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    execution: &'a Execution<'a>,
    words: Vec<Option<Words>>,
    /// The launches that have not read the value yet; an output counts as one.
    readers: Vec<u32>,
    /// The inputs that have no words and that no task makes.
    unread: FxHashMap<ValueId, Limb>,
    /// The inputs that are made again, with the admitted launches that have not read them yet.
    again: FxHashMap<ValueId, (Limb, u32)>,
    /// The window, and the index of its first launch.
    window: VecDeque<Admitted>,
    base: usize,
    /// The limbs that its launches add.
    limbs: usize,
    /// The launches that wait for a value.
    waiting: FxHashMap<ValueId, Vec<usize>>,
    ready: BTreeMap<Turn, Task>,
    /// The first launch that has failed.
    failure: Option<Failure>,
}

impl<'a> Progress<'a> {
    /// The beginning.
    pub(super) fn new(execution: &'a Execution<'a>, inputs: &Inputs<'_>) -> Self {
        let Execution { program, flow, launches, .. } = execution;
        let unread: FxHashMap<ValueId, Limb> =
            flow.inputs.iter().map(|&(limb, value)| (value, limb)).collect();
        let again = unread.iter().filter(|&(_, &limb)| !inputs.is_kept(limb));
        let again = again.map(|(&value, &limb)| (value, (limb, 0))).collect();
        let (mut words, mut readers) = (vec![None; flow.values], vec![0; flow.values]);
        words[ValueId::ZERO.index()] = Some(Words::zeros(program.degree().len()));
        readers[ValueId::ZERO.index()] = 1;
        let read = launches.launches.iter().flat_map(|launch| launches.sources(launch));
        for value in read.chain(flow.outputs.iter().flatten()) {
            readers[value.index()] += 1;
        }
        Self {
            execution,
            words,
            readers,
            unread,
            again,
            window: VecDeque::new(),
            base: 0,
            limbs: 0,
            waiting: FxHashMap::default(),
            ready: BTreeMap::new(),
            failure: None,
        }
    }

    /// Admits the launches that the window has room for. Returns the number of tasks that become ready.
    pub(super) fn admit(&mut self) -> usize {
        let Execution { program, launches, .. } = self.execution;
        let room = WINDOW_WORDS / program.degree().len();
        let before = self.ready.len();
        while self.failure.is_none() && self.window.len() < LONGEST_WINDOW {
            let index = self.base + self.window.len();
            let Some(launch) = launches.launches.get(index) else { break };
            let sources = launches.sources(launch);
            let is_new = |value: &&ValueId| self.unread.contains_key(*value);
            let limbs = launches.results(launch).len() + sources.iter().filter(is_new).count();
            if self.limbs + limbs > room && !self.window.is_empty() {
                break;
            }
            let mut missing = 0;
            for &value in sources {
                if let Some((_, readers)) = self.again.get_mut(&value) {
                    *readers += 1;
                }
                if self.words[value.index()].is_none() {
                    missing += 1;
                    self.waiting.entry(value).or_default().push(index);
                }
                if let Some(limb) = self.unread.remove(&value) {
                    self.ready.insert((0, value.index()), Task::Make(value, limb));
                }
            }
            self.limbs += limbs;
            self.window.push_back(Admitted { missing, limbs, is_done: false });
            if missing == 0 {
                self.ready.insert(self.turn(index), Task::Run(index));
            }
        }
        self.ready.len() - before
    }

    fn turn(&self, index: usize) -> Turn {
        let launches = self.execution.launches;
        let launch = &launches.launches[index];
        let mut hasher = FxHasher::default();
        (launch.work, launches.moduli(launch)).hash(&mut hasher);
        (hasher.finish(), index)
    }

    /// The task after one that a thread has done: the next one of its kernel, else of the next kernel.
    pub(super) fn take(&mut self, after: Turn) -> Option<(Turn, Task)> {
        loop {
            let next = self.ready.range(after..).next().or_else(|| self.ready.iter().next());
            let turn = *next?.0;
            let task = self.ready.remove(&turn).expect("the task is ready");
            let is_needed = match (task, &self.failure) {
                (Task::Run(index), Some((failed, _))) => index < *failed,
                (Task::Run(_) | Task::Make(..), _) => true,
            };
            if is_needed {
                return Some((turn, task));
            }
        }
    }

    /// The words of the operands of a launch.
    pub(super) fn sources(&self, index: usize) -> Vec<Words> {
        let launches = self.execution.launches;
        let words = |value: &ValueId| self.words[value.index()].clone().expect("a ready launch has operands");
        launches.sources(&launches.launches[index]).iter().map(words).collect()
    }

    /// Takes the words of a value. Returns the number of tasks that become ready.
    pub(super) fn arrive(&mut self, value: ValueId, words: Words) -> usize {
        self.words[value.index()] = Some(words);
        let before = self.ready.len();
        for index in self.waiting.remove(&value).unwrap_or_default() {
            let admitted = &mut self.window[index - self.base];
            admitted.missing -= 1;
            if admitted.missing == 0 {
                self.ready.insert(self.turn(index), Task::Run(index));
            }
        }
        self.ready.len() - before
    }

    /// Takes the results of a launch, and gives limbs that nobody reads any more to `free`. Returns the
    /// number of tasks that become ready.
    pub(super) fn finish(&mut self, index: usize, results: Vec<Words>, mut free: impl FnMut(Words)) -> usize {
        let launches = self.execution.launches;
        let launch = &launches.launches[index];
        for &value in launches.sources(launch) {
            let readers = &mut self.readers[value.index()];
            *readers -= 1;
            let mut is_free = *readers == 0;
            if let Some((limb, admitted)) = self.again.get_mut(&value) {
                *admitted -= 1;
                is_free = *admitted == 0;
                if is_free && *readers > 0 {
                    self.unread.insert(value, *limb);
                }
            }
            if is_free && let Some(words) = self.words[value.index()].take() {
                free(words);
            }
        }
        let mut tasks = 0;
        for (&value, words) in launches.results(launch).iter().zip(results) {
            if self.readers[value.index()] == 0 {
                free(words);
            } else {
                tasks += self.arrive(value, words);
            }
        }
        self.window[index - self.base].is_done = true;
        while let Some(first) = self.window.front()
            && first.is_done
        {
            self.base += 1;
            self.limbs -= first.limbs;
            self.window.pop_front();
        }
        tasks + self.admit()
    }

    /// Takes the failure of a launch. Only earlier launches run from now on: one of them may fail too.
    pub(super) fn fail(&mut self, index: usize, error: LaunchError) {
        if self.failure.as_ref().is_none_or(|(first, _)| index < *first) {
            self.failure = Some((index, error));
        }
    }

    /// The words of each output, in the order of the program.
    ///
    /// # Errors
    /// Returns the failure of the first launch that failed.
    pub(super) fn outputs(self, inputs: &Inputs<'_>) -> Result<Vec<Vec<Words>>, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let words = |value: &ValueId| match self.unread.get(value) {
            Some(&limb) => inputs.words(limb).expect("inputs are complete"),
            None => self.words[value.index()].clone().expect("an output has words"),
        };
        let outputs = self.execution.flow.outputs.iter();
        Ok(outputs.map(|limbs| limbs.iter().map(words).collect()).collect())
    }
}
