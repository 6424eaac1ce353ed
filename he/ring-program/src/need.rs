//! What of a function each call needs: the results on which an output depends, and the parameters on which
//! these depend.
//!
//! A call of which nothing is needed is no work, and neither are the lines of a function that only other
//! results need.

use crate::{Call, Function, RingProgram, Shape};
use rustc_hash::FxHashMap;

/// What of its function a call needs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Need {
    /// Whether an output depends on each result.
    pub results: Vec<bool>,
    /// Whether one of these results depends on each parameter.
    pub parameters: Vec<bool>,
}

impl Need {
    /// Whether no output depends on a result of the call.
    pub fn is_nothing(&self) -> bool {
        !self.results.contains(&true)
    }
}

/// What of their functions all calls of a program need.
#[derive(Debug)]
pub struct Needs {
    kinds: Vec<Need>,
    /// For each call, the index of its kind.
    of_calls: Vec<u32>,
}

impl Needs {
    /// The needs of all calls of a program, in order: see [`RingProgram::calls`].
    pub fn of(program: &RingProgram, calls: &[&Call]) -> Self {
        let mut is_live = vec![false; program.limbs().len()];
        let outputs = program.outputs().iter().flat_map(|group| &group.limbs);
        outputs.for_each(|limb| is_live[limb.index()] = true);
        let (mut kinds, mut known) = (Vec::new(), FxHashMap::default());
        let mut of_calls = vec![0; calls.len()];
        for (of_call, call) in of_calls.iter_mut().zip(calls).rev() {
            let Call { function, arguments, results } = call;
            let needed: Vec<bool> = results.iter().map(|limb| is_live[limb.index()]).collect();
            let kind = *known.entry((function.index(), needed)).or_insert_with_key(|(function, needed)| {
                let parameters = read_by(&program.functions()[*function], needed);
                kinds.push(Need { results: needed.clone(), parameters });
                kinds.len() as u32 - 1
            });
            *of_call = kind;
            results.iter().for_each(|limb| is_live[limb.index()] = false);
            let parameters = arguments.iter().zip(&kinds[kind as usize].parameters);
            parameters.filter(|&(_, &is_read)| is_read).for_each(|(limb, _)| is_live[limb.index()] = true);
        }
        Self { kinds, of_calls }
    }

    /// The need of each call, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Need> {
        self.of_calls.iter().map(|&kind| &self.kinds[kind as usize])
    }
}

/// Whether some results of a function depend on each of its parameters.
fn read_by(function: &Function, needed: &[bool]) -> Vec<bool> {
    let mut is_live = vec![false; function.body().limbs().len()];
    let results = function.results().iter().zip(needed);
    results.for_each(|(limb, &is_needed)| is_live[limb.index()] |= is_needed);
    for operation in function.body().operations().iter().rev() {
        if std::mem::take(&mut is_live[operation.destination().index()]) {
            operation.sources().into_iter().flatten().for_each(|limb| is_live[limb.index()] = true);
        }
    }
    function.parameters().iter().map(|limb| is_live[limb.index()]).collect()
}
