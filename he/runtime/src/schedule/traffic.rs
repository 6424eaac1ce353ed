//! The words that cross the channel to the off-chip memory, by kind.

use crate::flow::{Flow, ValueId};
use ring_program::{KeyPart, RingProgram, key_part};
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// The origin of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keys {
    /// The off-chip memory has them, and they stream in like inputs.
    #[default]
    Streamed,
    /// As above, but the random polynomial of each pair is expanded from a seed by the generator on the chip.
    /// Its limbs are those that the manifest lists as `seeded`. Without a list, they are those of an input
    /// with `a` between dots in its name, such as `evk.a.0`; those of its partner have `b`. If the name says
    /// neither, half of each limb is expanded.
    Seeded,
    /// A memory of their own on the chip has them. They take no traffic and no space in the VDM.
    Resident,
}

impl Keys {
    /// All origins.
    pub const ALL: [Self; 3] = [Self::Streamed, Self::Seeded, Self::Resident];

    /// How many bytes of keys lie in a memory of their own.
    pub(crate) const fn on_chip(self, bytes: u64) -> u64 {
        match self {
            Self::Streamed | Self::Seeded => 0,
            Self::Resident => bytes,
        }
    }

    /// The name in options, definitions and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Streamed => "streamed",
            Self::Seeded => "seeded",
            Self::Resident => "resident",
        }
    }

    /// The meaning in one line.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Streamed => "From off-chip memory",
            Self::Seeded => {
                "As streamed, but the limbs that the manifest lists as `seeded` come from a seed on the chip. Without a \
                 list, half of each key does"
            }
            Self::Resident => "In a memory of their own on the chip",
        }
    }
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

/// Whether an input holds keys: its name contains `key` or `evk`, or ends in `.b.J` or `.a.J` for a digit J,
/// such as `galois.5.b.0`.
pub fn is_key(name: &str) -> bool {
    key_part(name).is_some()
}

/// The halves of a key's bytes that the off-chip memory has if the rest is expanded from a seed.
fn streamed_halves(name: &str) -> u8 {
    match key_part(name) {
        Some(KeyPart::Random) => 0,
        Some(KeyPart::Both) => 1,
        Some(KeyPart::Masked) | None => 2,
    }
}

/// The kinds of the values that a program loads.
#[derive(Debug)]
pub(crate) struct Sources {
    /// The halves of the bytes that a load of a key transfers; none for other values.
    key_halves: Vec<Option<u8>>,
    is_input: Vec<bool>,
    keys: Keys,
}

impl Sources {
    pub(crate) fn of(program: &RingProgram, flow: &Flow, keys: Keys) -> Self {
        let mut halves_of_limb = vec![None; program.limbs().len()];
        for group in program.inputs().iter().filter(|group| is_key(&group.name)) {
            let halves = match (keys, program.seeded()) {
                (Keys::Seeded, None) => streamed_halves(&group.name),
                (Keys::Seeded, Some(_)) | (Keys::Streamed | Keys::Resident, _) => 2,
            };
            group.limbs.iter().for_each(|limb| halves_of_limb[limb.index()] = Some(halves));
        }
        // Random limbs belong to keys, whatever their inputs' names.
        let halves = if keys == Keys::Seeded { 0 } else { 2 };
        program.seeded().into_iter().flatten().for_each(|limb| halves_of_limb[limb.index()] = Some(halves));
        let (mut key_halves, mut is_input) = (vec![None; flow.values], vec![false; flow.values]);
        for &(limb, value) in &flow.inputs {
            key_halves[value.index()] = halves_of_limb[limb.index()];
            is_input[value.index()] = true;
        }
        Self { key_halves, is_input, keys }
    }

    /// Whether a value lies in a memory of its own.
    pub(crate) fn is_on_chip(&self, value: ValueId) -> bool {
        self.keys == Keys::Resident && self.key_halves[value.index()].is_some()
    }

    /// Whether the generator makes a value, or a half of it.
    pub(crate) fn is_expanded(&self, value: ValueId) -> bool {
        self.key_halves[value.index()].is_some_and(|halves| halves < 2)
    }

    /// The halves of limbs of keys that a memory holds, each limb once.
    pub(crate) fn key_halves(&self) -> u64 {
        self.key_halves.iter().flatten().map(|&halves| u64::from(halves)).sum()
    }

    /// The kind of a load, and the halves of the bytes that it transfers.
    pub(crate) fn load(&self, value: ValueId) -> (Kind, u8) {
        match self.key_halves[value.index()] {
            Some(halves) => (Kind::Keys, halves),
            None if self.is_input[value.index()] => (Kind::Inputs, 2),
            None if value == ValueId::ZERO => (Kind::Tables, 2),
            None => (Kind::Spills, 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_random_half_of_a_key_is_expanded() {
        let halves = ["evk.a.0", "evk7.b.3", "rotation_key", "a.key.b"].map(streamed_halves);
        assert_eq!(halves, [0, 2, 1, 1]);
    }
}
