//! Counts of a program, by stage.

use crate::definition::SwitchingKey;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The stages of a program, in order. Stages of one name count as one.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Ledger {
    stages: Vec<Stage>,
    /// The index of the stage under construction.
    current: usize,
    /// The transforms at its begin.
    transforms: usize,
}

/// What one stage of a program does.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Stage {
    /// The name.
    pub name: Arc<str>,
    /// The level of the ciphertext at its begin, the first time.
    pub level: usize,
    /// Forward and inverse transforms of one limb.
    pub transforms: usize,
    /// Products of ciphertexts.
    pub products: usize,
    /// Products of a ciphertext and a plaintext.
    pub plaintext_products: usize,
    /// Key switches after products.
    pub relinearisations: usize,
    /// Key switches of rotations and conjugations.
    pub automorphisms: usize,
    /// Key switches from other secrets, such as the ephemeral sparse one.
    pub secret_switches: usize,
    /// The keys.
    pub keys: BTreeSet<SwitchingKey>,
    /// The limbs of keys that the switches read, again for each switch.
    pub key_limbs: usize,
}

impl Ledger {
    /// The stages, in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The stage with a name, or one without counts.
    pub fn stage(&self, name: &str) -> Stage {
        self.stages.iter().find(|stage| &*stage.name == name).cloned().unwrap_or_default()
    }

    /// The sum of all stages.
    pub fn total(&self) -> Stage {
        let mut total = Stage {
            name: "total".into(),
            level: self.stages.first().map_or(0, |stage| stage.level),
            ..Stage::default()
        };
        self.stages.iter().for_each(|stage| total.add(stage));
        total
    }

    /// Adds the stages of a function, which is not in construction.
    pub(super) fn add(&mut self, function: &Self) {
        for stage in &function.stages {
            match self.stages.iter_mut().find(|known| known.name == stage.name) {
                Some(known) => known.add(stage),
                None => self.stages.push(stage.clone()),
            }
        }
    }

    /// Begins to count transforms here.
    pub(super) fn begin_at(transforms: usize) -> Self {
        Self { transforms, ..Self::default() }
    }

    /// Leaves out the transforms since the last stage or the last call of this.
    pub(super) fn skip_to(&mut self, transforms: usize) {
        self.transforms = transforms;
    }

    pub(super) fn begin(&mut self, name: Arc<str>, level: usize, transforms: usize) {
        self.finish(transforms);
        self.current = self.stages.iter().position(|stage| stage.name == name).unwrap_or(self.stages.len());
        if self.current == self.stages.len() {
            self.stages.push(Stage { name, level, ..Stage::default() });
        }
    }

    pub(super) fn finish(&mut self, transforms: usize) {
        if let Some(stage) = self.stages.get_mut(self.current) {
            stage.transforms += transforms - self.transforms;
        }
        self.transforms = transforms;
    }

    /// The stage under construction.
    pub(super) fn current(&mut self) -> &mut Stage {
        if self.stages.is_empty() {
            self.stages.push(Stage { name: "all".into(), ..Stage::default() });
        }
        &mut self.stages[self.current]
    }
}

/// A line for each stage and for their sum; nothing for a program of one stage.
impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stages.len() < 2 {
            return Ok(());
        }
        for stage in self.stages.iter().chain([&self.total()]) {
            writeln!(
                f,
                "  {} at level {}: {} transforms, {} products, {} with plaintexts, {} relinearisations, {} automorphisms \
                 with {} keys, {} other switches, {} limbs of keys read",
                stage.name,
                stage.level,
                stage.transforms,
                stage.products,
                stage.plaintext_products,
                stage.relinearisations,
                stage.automorphisms,
                stage.galois_keys(),
                stage.secret_switches,
                stage.key_limbs
            )?;
        }
        Ok(())
    }
}

impl Stage {
    /// The distinct keys of rotations and conjugations.
    pub fn galois_keys(&self) -> usize {
        self.keys.iter().filter(|key| matches!(key, SwitchingKey::Galois(_))).count()
    }

    fn add(&mut self, other: &Self) {
        self.transforms += other.transforms;
        self.products += other.products;
        self.plaintext_products += other.plaintext_products;
        self.relinearisations += other.relinearisations;
        self.automorphisms += other.automorphisms;
        self.secret_switches += other.secret_switches;
        self.keys.extend(&other.keys);
        self.key_limbs += other.key_limbs;
    }

    pub(super) fn count_switch(&mut self, key: SwitchingKey, limbs: usize) {
        match key {
            SwitchingKey::Relinearisation => self.relinearisations += 1,
            SwitchingKey::Galois(_) => self.automorphisms += 1,
            SwitchingKey::DenseToSparse | SwitchingKey::SparseToDense | SwitchingKey::Unnamed => {
                self.secret_switches += 1;
            }
        }
        self.keys.insert(key);
        self.key_limbs += limbs;
    }
}
