//! Machines and the hashes of their keys.

use super::key::PointKey;
use sim::Machine;
use sim::machine::Values;
use std::sync::Arc;

/// A machine with the hash of its keys.
#[derive(Clone, Debug)]
pub(super) struct Hashed {
    pub(super) machine: Arc<Machine>,
    pub(super) hash: Arc<str>,
}

impl Hashed {
    pub(super) fn new(machine: Machine, base: &Sections) -> Self {
        let hash = PointKey::of_all(&base.hashes_of(&machine)).to_string();
        Self { hash: hash.into(), machine: Arc::new(machine) }
    }
}

/// The hash of each section of a base machine. Others share most sections with it.
pub(super) struct Sections {
    base: Machine,
    hashes: Vec<PointKey>,
}

/// The hash of each section of a machine: the known one if the base machine has the same section. Names every
/// section, so that none is forgotten.
macro_rules! hashes {
    ($machine:expr, $base:expr, $known:expr; $($section:ident),*) => {{
        let Values { $($section),* } = &**$machine;
        let mut known = $known.iter().copied();
        vec![$({
            let known = known.next().filter(|_| *$section == $base.$section);
            known.unwrap_or_else(|| PointKey::of($section))
        }),*]
    }};
}

impl Sections {
    pub(super) fn new(base: &Machine) -> Self {
        let unknown = Self { base: base.clone(), hashes: Vec::new() };
        Self { hashes: unknown.hashes_of(base), ..unknown }
    }

    fn hashes_of(&self, machine: &Machine) -> Vec<PointKey> {
        hashes!(
            machine, self.base, self.hashes;
            name, technology, clock, isa, law, frontend, scalar, hple, vrf, sbar, vbar, vdm, sdm, launch, generator, hbm, ideal
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_machine_does_not_depend_on_the_base() {
        let machine = Machine::rpu_128x128();
        let (mut other, mut third) = (machine.clone(), machine.clone());
        other.edit(|values| values.technology.node_nm = 7).unwrap();
        third
            .edit(|values| {
                values.hple.count = 64;
                values.ideal.queues = true;
            })
            .unwrap();
        let machines = [machine, Machine::rpu_128x128_paper(), other, third];
        let hashes = machines.each_ref().map(|base| {
            let sections = Sections::new(base);
            machines.each_ref().map(|machine| Hashed::new(machine.clone(), &sections).hash)
        });
        assert!(hashes.iter().all(|of_base| *of_base == hashes[0]));
        assert!((1..hashes.len()).all(|i| !hashes[0][..i].contains(&hashes[0][i])));
    }
}
