//! The words that cross the channel to the off-chip memory, by kind.

use crate::flow::{Flow, ValueId};
use ring_program::RingProgram;
use std::ops::{Index, IndexMut};

/// The origin of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keys {
    /// The off-chip memory has them, and they stream in like inputs.
    #[default]
    Streamed,
    /// As above, but one polynomial of each pair is expanded from a seed on the chip: half of the
    /// bytes.
    Seeded,
    /// A memory of their own on the chip has them. They take no traffic and no space in the VDM.
    Resident,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $Kind:ident $name:literal,)*) => {
        /// The kind of a transfer.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Kind {
            $($(#[$doc])* $Kind,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$Kind),*];

            /// The name in results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// Limbs of inputs, keys aside.
    Inputs "inputs",
    /// Limbs of outputs.
    Outputs "outputs",
    /// Limbs of keys.
    Keys "keys",
    /// Factors of transforms, and zeros.
    Tables "tables",
    /// Programs, and the parameters of their launches.
    Programs "programs",
    /// Limbs that are saved for lack of space, and loaded again.
    Spills "spills",
    /// Limbs whose words are moved.
    Permutations "permutations",
}

/// Bytes by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic([u64; Kind::ALL.len()]);

impl Index<Kind> for Traffic {
    type Output = u64;
    fn index(&self, kind: Kind) -> &u64 {
        &self.0[kind as usize]
    }
}

impl IndexMut<Kind> for Traffic {
    fn index_mut(&mut self, kind: Kind) -> &mut u64 {
        &mut self.0[kind as usize]
    }
}

/// Whether an input holds keys: its name contains `key` or `evk`.
pub fn is_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("key") || name.contains("evk")
}

/// The kinds of the values that a program loads.
#[derive(Debug)]
pub(crate) struct Sources {
    is_key: Vec<bool>,
    is_input: Vec<bool>,
    keys: Keys,
}

impl Sources {
    pub(crate) fn of(program: &RingProgram, flow: &Flow, keys: Keys) -> Self {
        let mut key_limbs = vec![false; program.limbs().len()];
        for group in program.inputs().iter().filter(|group| is_key(&group.name)) {
            group.limbs.iter().for_each(|limb| key_limbs[limb.index()] = true);
        }
        let (mut of_keys, mut of_inputs) = (vec![false; flow.values], vec![false; flow.values]);
        for &(limb, value) in &flow.inputs {
            of_keys[value.index()] = key_limbs[limb.index()];
            of_inputs[value.index()] = true;
        }
        Self { is_key: of_keys, is_input: of_inputs, keys }
    }

    /// Whether a value lies in a memory of its own.
    pub(crate) fn is_on_chip(&self, value: ValueId) -> bool {
        self.keys == Keys::Resident && self.is_key[value.index()]
    }

    /// The kind of a load, and the share of the bytes that it transfers.
    pub(crate) fn load(&self, value: ValueId) -> (Kind, f64) {
        match () {
            () if self.is_key[value.index()] => {
                (Kind::Keys, if self.keys == Keys::Seeded { 0.5 } else { 1.0 })
            }
            () if self.is_input[value.index()] => (Kind::Inputs, 1.0),
            () if value == ValueId::ZERO => (Kind::Tables, 1.0),
            () => (Kind::Spills, 1.0),
        }
    }
}
