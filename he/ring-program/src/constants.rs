//! Scalars and roots, of up to 128 bits.

use rustc_hash::FxHashMap;

/// A constant of one program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConstantIndex(u32);

/// The scalars and roots of a program, each once.
#[derive(Clone, Default, Debug)]
pub struct Constants {
    values: Vec<u128>,
    indices: FxHashMap<u128, ConstantIndex>,
}

impl Constants {
    /// The constant with `value`, new if there is none.
    ///
    /// # Panics
    /// Panics beyond 2^32 - 1 constants.
    pub fn intern(&mut self, value: u128) -> ConstantIndex {
        *self.indices.entry(value).or_insert_with(|| {
            let index = ConstantIndex(u32::try_from(self.values.len()).expect("fewer constants"));
            self.values.push(value);
            index
        })
    }

    /// The value of a constant.
    ///
    /// # Panics
    /// Panics if `index` is of another program that has more constants.
    pub fn value(&self, index: ConstantIndex) -> u128 {
        self.values[index.0 as usize]
    }
}

impl PartialEq for Constants {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for Constants {}
