//! Executors that have done a launch and keep their kernels for later ones.

use crate::flow::operation::{RingOperation, RingParameters};
use crate::launches::ShapeId;
use rustc_hash::FxHashMap;
use sim::functional::Executor;
use std::collections::BTreeMap;

/// A kernel in an executor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Loaded {
    Elementwise(ShapeId),
    Operation(RingOperation, Vec<RingParameters>),
}

impl Loaded {
    pub(super) fn is_automorphism(&self) -> bool {
        match self {
            Self::Elementwise(_) | Self::Operation(RingOperation::Ntt | RingOperation::Intt, _) => false,
            Self::Operation(
                RingOperation::AutomorphismOfValues { .. } | RingOperation::AutomorphismOfCoefficients { .. },
                _,
            ) => true,
        }
    }
}

/// Idle executors; those that were used the longest time ago go first.
pub(super) struct Idle {
    /// By their last use.
    executors: BTreeMap<u64, (Loaded, Box<Executor>)>,
    /// The last uses of the executors of a kernel, in order.
    uses: FxHashMap<Loaded, Vec<u64>>,
    next_use: u64,
    /// The bytes that they hold.
    bytes: usize,
    most: usize,
    most_bytes: usize,
    /// Whether one has been replaced.
    is_full: bool,
}

impl Idle {
    fn new(most: usize, most_bytes: usize) -> Self {
        let (executors, uses) = (BTreeMap::new(), FxHashMap::default());
        Self { executors, uses, next_use: 0, bytes: 0, most, most_bytes, is_full: false }
    }

    /// For executors with any kernels: 512 MiB, set by hand, and up to as much for the factors that they have
    /// prepared. Those of the transforms for 36 moduli of 2^16 points take 300 MiB.
    pub(super) fn for_kernels() -> Self {
        Self::new(usize::MAX, 1 << 29)
    }

    /// For executors of automorphisms, set by hand: a few for each thread. There are too many automorphisms,
    /// with a kernel for each modulus, to meet one again soon.
    pub(super) fn for_automorphisms() -> Self {
        Self::new(8, usize::MAX)
    }

    /// An executor with a kernel.
    pub(super) fn take(&mut self, key: &Loaded) -> Option<Box<Executor>> {
        let last = self.uses.get_mut(key)?.pop()?;
        Some(self.remove(last).1)
    }

    /// An executor with another kernel, for its memory, if no more are kept.
    pub(super) fn take_if_full(&mut self) -> Option<Box<Executor>> {
        if self.is_full { self.take_oldest() } else { None }
    }

    /// Keeps an executor. Returns those that it replaces.
    pub(super) fn give_back(&mut self, key: Loaded, executor: Box<Executor>) -> Vec<Box<Executor>> {
        self.uses.entry(key.clone()).or_default().push(self.next_use);
        self.bytes += executor.bytes_held();
        self.executors.insert(self.next_use, (key, executor));
        self.next_use += 1;
        let mut replaced = Vec::new();
        while self.executors.len() > self.most || self.bytes > self.most_bytes {
            self.is_full = true;
            replaced.extend(self.take_oldest());
        }
        replaced
    }

    fn take_oldest(&mut self) -> Option<Box<Executor>> {
        let (&oldest, _) = self.executors.first_key_value()?;
        let (key, executor) = self.remove(oldest);
        let uses = self.uses.get_mut(&key).expect("the executor has a use");
        uses.remove(0);
        if uses.is_empty() {
            self.uses.remove(&key);
        }
        Some(executor)
    }

    fn remove(&mut self, last: u64) -> (Loaded, Box<Executor>) {
        let (key, executor) = self.executors.remove(&last).expect("the executor is idle");
        self.bytes -= executor.bytes_held();
        (key, executor)
    }
}
