//! The first wrong coefficient of a program's results.

use crate::session::{Session, Stop};
use b512_asm::Space;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A coefficient of an output that is wrong at the end of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The position behind the last instruction that stores it; the end if none does.
    pub position: usize,
    /// The output.
    pub output: String,
    /// The index of the coefficient.
    pub index: usize,
    /// Its value at the end.
    pub found: u128,
    /// What it should be.
    pub expected: u128,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { output, index, found, expected, .. } = self;
        write!(f, "{output}+{index} is {found:#x} and should be {expected:#x}")
    }
}

impl Session {
    /// Finds the first coefficient that is wrong at the end of the program, if outputs in the VDM should hold these words, and goes to
    /// the beginning. [`resume`](Self::resume) and [`reverse`](Self::reverse) stop behind the instruction that stores it.
    pub fn expect(&mut self, outputs: &BTreeMap<String, Vec<u128>>) {
        let end = self.end();
        if let Stop::Fault(_) = self.go_to(end) {
            self.go_to(0);
            return;
        }
        let mut wrong: HashMap<u32, Wrong> = HashMap::new();
        for (output, expected) in outputs {
            let symbol = self.source().program.symbol(output).filter(|symbol| symbol.space == Space::Vdm);
            let Some(symbol) = symbol.cloned() else { continue };
            let found = self.words(Space::Vdm, symbol.start..symbol.start + symbol.words);
            for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
                if found != expected {
                    let output = output.clone();
                    let one = Wrong { position: end, output, index, found, expected };
                    wrong.insert(symbol.start + index as u32, one);
                }
            }
        }
        let mut first: Option<Wrong> = None;
        let mut take = |one: Wrong| {
            let key = |one: &Wrong| (one.position, one.output.clone(), one.index);
            if first.as_ref().is_none_or(|first| key(&one) < key(first)) {
                first = Some(one);
            }
        };
        for index in (0..end).rev() {
            for word in self.source().stored(index) {
                if let Some(one) = wrong.remove(&word) {
                    take(Wrong { position: index + 1, ..one });
                }
            }
        }
        wrong.into_values().for_each(take);
        self.set_wrong(first);
        self.go_to(0);
    }
}
