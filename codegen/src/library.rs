//! The library: the fastest known recipes for the paper's machine and its relatives.

use crate::bounds::PassBound;
use crate::compile::compile;
use crate::error::Error;
use crate::forwarding::Removed;
use crate::recipe::Recipe;
use crate::request::Request;
use ring::Degree;
use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::machine::{BankMapping, Busyboard};
use sim::timing::{Cycle, simulate};
use std::sync::LazyLock;

/// The properties of a machine that decide which recipe is fast on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `hple.count`.
    pub hples: u32,
    /// `vdm.banks`.
    pub banks: u32,
    /// `vdm.mapping`.
    pub mapping: BankMapping,
    /// `frontend.busyboard`.
    pub busyboard: Busyboard,
    /// `isa.gs_butterfly`.
    pub gs_butterfly: bool,
    /// `ideal.vrf_ports`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ideal_vrf_ports: bool,
    /// `vdm.multicast`.
    #[serde(default = "on", skip_serializing_if = "is_on")]
    pub multicast: bool,
}

const fn on() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_on(switch: &bool) -> bool {
    *switch
}

impl Target {
    /// The target of a machine.
    pub fn of(machine: &Machine) -> Self {
        Self {
            hples: machine.hple.count,
            banks: machine.vdm.banks,
            mapping: machine.vdm.mapping,
            busyboard: machine.frontend.busyboard,
            gs_butterfly: machine.isa.gs_butterfly,
            ideal_vrf_ports: !machine.sram_ports_are_limited(),
            multicast: machine.vdm.multicast,
        }
    }

    /// The dissimilarity of two targets. The ratio of banks to HPLEs weighs most: it decides whether memory
    /// or arithmetic is the bottleneck.
    fn distance(&self, other: &Self) -> u32 {
        let log2 = |target: &Self| (target.hples.ilog2(), target.banks.ilog2());
        let ((hples, banks), (other_hples, other_banks)) = (log2(self), log2(other));
        let ratio = (hples + other_banks).abs_diff(other_hples + banks);
        let unlike = |weight, same: bool| if same { 0 } else { weight };
        4 * ratio
            + 2 * hples.abs_diff(other_hples)
            + unlike(16, self.mapping == other.mapping)
            + unlike(16, self.gs_butterfly == other.gs_butterfly)
            + unlike(3, self.ideal_vrf_ports == other.ideal_vrf_ports)
            + unlike(1, self.busyboard == other.busyboard)
            + unlike(1, self.multicast == other.multicast)
    }

    /// The paper's machine with this target's properties.
    pub fn machine(&self) -> Machine {
        let mut machine = Machine::rpu_128x128();
        machine.hple.count = self.hples;
        machine.vdm.banks = self.banks;
        machine.vdm.mapping = self.mapping;
        machine.frontend.busyboard = self.busyboard;
        machine.isa.gs_butterfly = self.gs_butterfly;
        machine.ideal.vrf_ports = self.ideal_vrf_ports;
        machine.vdm.multicast = self.multicast;
        machine
    }
}

/// A recipe of the library.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The operation's name.
    pub function: String,
    /// The ring degree.
    pub n: u32,
    /// The number of rings in one program.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub towers: usize,
    /// The targets of the recipe, each with the cycles of the program on it.
    pub targets: Vec<Measured>,
    /// The recipe.
    pub recipe: Recipe,
}

const fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(towers: &usize) -> bool {
    *towers == 1
}

impl Entry {
    /// The request that this recipe serves, with moduli of 60 bits: they do not affect the cycles.
    ///
    /// # Errors
    /// Returns an error if the entry's operation is unknown or its degree is invalid.
    pub fn request(&self) -> Result<Request, Error> {
        let operation = self.function.parse().map_err(|_| Error::Operation(self.function.clone()))?;
        Ok(Request::with_primes(operation, Degree::try_from(self.n)?, 60, self.towers)?)
    }

    /// Compiles the program for a target and runs it through the cycle model.
    ///
    /// # Errors
    /// Returns an error if the entry is invalid or the program does not fit the target.
    pub fn measure(&self, target: &Target) -> Result<Standing, Error> {
        let machine = target.machine();
        let kernel = compile(&self.request()?, &self.recipe, &machine)?;
        let cycles = simulate(&machine, &kernel.program).cycles;
        let passes = kernel.bounds(&machine);
        let sum = |bound: fn(&PassBound) -> Cycle| Cycle(passes.iter().map(|pass| bound(pass).0).sum());
        Ok(Standing {
            cycles,
            bound: sum(PassBound::cycles),
            resource: sum(|pass| pass.resource),
            passes: passes.len(),
            removed: kernel.recipe.forwarding.map(|_| kernel.removed),
        })
    }
}

/// A program's cycles compared with the bounds of its plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Its cycles.
    pub cycles: Cycle,
    /// The sum over its passes of the larger of resource and dependence bound, see
    /// [`PassBound`].
    pub bound: Cycle,
    /// The sum of the resource bounds alone.
    pub resource: Cycle,
    /// Its passes.
    pub passes: usize,
    /// The loads and stores that forwarding removed, if the recipe uses it.
    pub removed: Option<Removed>,
}

/// A target and the cycles of a recipe on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Cycles on the paper's machine with the target's properties.
    pub cycles: u64,
    /// The target.
    pub machine: Target,
}

/// A file of the library.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// The recipes.
    #[serde(default)]
    pub entry: Vec<Entry>,
}

impl Library {
    /// Adds the result of a search, unless the existing recipe for that target is at least as fast.
    /// Returns whether it did.
    pub fn insert(&mut self, request: &Request, recipe: Recipe, measured: Measured) -> bool {
        let (name, n, towers) = (request.operation.name(), request.n(), request.towers());
        let same_task = |entry: &Entry| entry.function == name && entry.n == n && entry.towers == towers;
        let mut known = self.entry.iter().filter(|entry| same_task(entry)).flat_map(|entry| &entry.targets);
        if known.any(|known| known.machine == measured.machine && known.cycles <= measured.cycles) {
            return false;
        }
        for entry in self.entry.iter_mut().filter(|entry| same_task(entry)) {
            entry.targets.retain(|target| target.machine != measured.machine);
        }
        self.entry.retain(|entry| !entry.targets.is_empty());
        match self.entry.iter_mut().find(|entry| same_task(entry) && entry.recipe == recipe) {
            Some(entry) => entry.targets.push(measured),
            None => {
                let (function, targets) = (name.to_owned(), vec![measured]);
                self.entry.push(Entry { function, n, towers, targets, recipe });
            }
        }
        true
    }

    /// The recipes for a request's operation, degree and number of rings, on any machine.
    pub fn recipes(&self, request: &Request) -> impl Iterator<Item = &Recipe> {
        let (name, n, towers) = (request.operation.name(), request.n(), request.towers());
        let same_task = move |e: &&Entry| e.function == name && e.n == n && e.towers == towers;
        self.entry.iter().filter(same_task).map(|entry| &entry.recipe)
    }

    /// The recipes for a request's operation, degree and number of rings: those for similar targets first.
    pub fn nearest(&self, request: &Request, target: &Target) -> impl Iterator<Item = &Recipe> {
        let (name, n, towers) = (request.operation.name(), request.n(), request.towers());
        let same_task = |e: &&Entry| e.function == name && e.n == n && e.towers == towers;
        let mut entries: Vec<&Entry> = self.entry.iter().filter(same_task).collect();
        // The sort is stable: of equals, the library's first comes first.
        entries.sort_by_cached_key(|entry| {
            entry.targets.iter().map(|known| known.machine.distance(target)).min()
        });
        entries.into_iter().map(|entry| &entry.recipe)
    }

    /// Looks up the recipe for a request on a target. Falls back to the nearest number of rings if
    /// the request has several, from ideal to real VRF ports, and from a VDM without multicast to one
    /// with it.
    pub fn find(&self, request: &Request, target: &Target) -> Option<&Recipe> {
        self.lookup(request.operation.name(), request.n(), request.towers(), target)
    }

    /// Like [`find`](Self::find), for an operation's name, a degree and a number of rings.
    pub fn lookup(&self, operation: &str, n: u32, towers: usize, target: &Target) -> Option<&Recipe> {
        let usable = |entry: &&Entry| {
            let alike = (entry.towers > 1) == (towers > 1);
            alike && entry.function == operation && entry.n == n
        };
        let with_ports = Target { ideal_vrf_ports: false, ..target.clone() };
        let with_multicast = [target, &with_ports].map(|t| Target { multicast: true, ..t.clone() });
        [target, &with_ports].into_iter().chain(&with_multicast).find_map(|target| {
            let entries = self.entry.iter().filter(usable);
            let entries = entries.filter(|entry| entry.targets.iter().any(|known| known.machine == *target));
            entries.min_by_key(|entry| entry.towers.abs_diff(towers)).map(|entry| &entry.recipe)
        })
    }
}

/// The built-in library.
pub static BUILT_IN: LazyLock<Library> = LazyLock::new(|| {
    toml::from_str(include_str!("../plans/best.toml")).expect("the built-in library is tested")
});
