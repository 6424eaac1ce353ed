//! The first wrong coefficient of a program's results.

use crate::debugger::source::Listing;
use b512_asm::Space;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;

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

impl Wrong {
    /// The first coefficient that is wrong at position `end`, if `words` are those of the VDM there and
    /// outputs should be `expected`.
    pub(crate) fn first(
        source: &Listing,
        end: usize,
        words: impl Fn(Range<u32>) -> Vec<u128>,
        expected: &BTreeMap<String, Vec<u128>>,
    ) -> Option<Self> {
        let mut wrong: HashMap<u32, Self> = HashMap::new();
        for (output, expected) in expected {
            let symbol = source.program.symbol(output).filter(|symbol| symbol.space == Space::Vdm);
            let Some(symbol) = symbol else { continue };
            let found = words(symbol.start..symbol.start + symbol.words);
            for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
                if found != expected {
                    let one = Self { position: end, output: output.clone(), index, found, expected };
                    wrong.insert(symbol.start + index as u32, one);
                }
            }
        }
        let mut stored = Vec::new();
        for index in (0..end).rev() {
            let here = source.stored(index).filter_map(|word| wrong.remove(&word));
            stored.extend(here.map(|one| Self { position: index + 1, ..one }));
        }
        let all = stored.into_iter().chain(wrong.into_values());
        all.min_by_key(|one| (one.position, one.output.clone(), one.index))
    }
}
