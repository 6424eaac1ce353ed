//! Exploration: the Pareto front of a space that is too large for a sweep.
//!
//! A space is a sweep's definition of one task. Each axis of `[grid]`, and `[zip]` and `[[list]]`, is a
//! decision; the table `[explore]` has the objectives and constraints:
//!
//! ```toml
//! [explore]
//! objectives = ["time_us", "area_mm2"]   # columns to minimise
//! constraints = ["area < 25 mm2"]        # limits on such columns
//! population = 24                        # designs at first
//! ```
//!
//! The search is Bayesian optimisation. It begins with the base machine and a spread over all axes. In
//! rounds of a quarter of these, it then evaluates what gains most by forecasts: in most
//! rounds, the least first objective within each area, in others a mean of all objectives. Axes may be keys
//! of machines and choices for one task, such as the order of an algorithm: they are searched together. The
//! front covers all evaluated designs. Each design is evaluated like a point of a sweep: generate, check,
//! simulate, append a record to the journal. A design with a record does not run again.
//!
//! The search depends on the definition and the seed only. It ignores which records exist already, so a
//! search that was killed continues as if it had not been. Each shard searches with a seed of its own and
//! uses the records of all shards in its folder.

mod forecast;
mod model;
mod proposals;
mod search;

mod volume;
pub use search::{Explored, explore};

use super::definition::Definition;
use super::front::{Exploration, Goals};
use super::key::PointKey;
use super::manifest::Manifest;
use super::measure::{Costs, Measure};
use super::parameter::{PARAMETERS, Setting, Settings};
use super::plan::{manifest, title};
use super::point::{Class, PlannedPoint, Source};
use super::points::Points;
use super::resolver::Resolver;
use super::task::Task;
use super::workload::TECHNOLOGY;
use diagnostic::{Diagnostic, Diagnostics};
use serde_json::Value;
use sim::Area;
use sim::area::Usage;

/// A design: the number of the alternative on each axis.
pub(super) type Design = Vec<usize>;

/// A space of designs.
pub struct Space {
    resolver: Resolver,
    exploration: Exploration,
    goals: Goals,
    /// Whether designs have an off-chip memory, whose interface takes area.
    off_chip: bool,
}

impl Space {
    /// The space of a definition. Every value is checked, but not every combination.
    ///
    /// # Errors
    /// Returns an error if a key or a value is invalid, or nothing varies.
    pub fn new(definition: &Definition) -> Result<Self, Diagnostics> {
        let exploration = definition.explore.clone().unwrap_or_default();
        let resolver = Resolver::new(definition)?;
        let goals = goals(definition, &exploration)?;
        check_task(definition)?;
        let mut space = Self { resolver, exploration, goals, off_chip: false };
        if space.axes().is_empty() {
            let help = "write keys with lists of values in [grid]";
            return Err(definition.error(0..0, "nothing varies", help).into());
        }
        // Points that share work have a number of 128 bits.
        if space
            .axes()
            .iter()
            .try_fold(1, |product: u128, &count| product.checked_mul(count as u128))
            .is_none()
        {
            let help = "vary fewer keys: a space has at most 2^128 designs";
            return Err(definition.error(0..0, "the space has too many designs", help).into());
        }
        let mut errors = Diagnostics::default();
        for (axis, count) in space.axes().into_iter().enumerate() {
            for alternative in 0..count {
                errors.keep(space.check(axis, alternative));
            }
        }
        let first = space.point(&vec![0; space.axes().len()]);
        space.off_chip =
            first.is_some_and(|point| point.stream.is_some() || matches!(point.task, Task::Ring(_)));
        errors.or(space)
    }

    /// Checks one alternative of one axis on its own.
    fn check(&self, axis: usize, alternative: usize) -> Result<(), Diagnostics> {
        let mut design = vec![0; self.axes().len()];
        design[axis] = alternative;
        let own = self.definition().alternative(axis, alternative);
        match self.resolver.point(&design) {
            // Its keys may not go with the first alternatives of other axes.
            Err(error) if self.resolver.rejects(own) => Err(error),
            _ => Ok(()),
        }
    }

    /// The number of alternatives of each axis.
    pub(super) fn axes(&self) -> Vec<usize> {
        self.definition().axis_lengths().collect()
    }

    /// Whether the alternatives of an axis follow each other: a number of theirs ascends or descends.
    pub(super) fn is_ordered(&self, axis: usize) -> bool {
        let rows = &self.definition().axes()[axis];
        let number = |row: &[Setting], key: &str| {
            let setting = row.iter().find(|setting| &*setting.key == key)?;
            setting.value.as_float().or(setting.value.as_integer().map(|number| number as f64))
        };
        rows[0].iter().any(|Setting { key, .. }| {
            let numbers: Option<Vec<f64>> = rows.iter().map(|row| number(row, key)).collect();
            numbers.is_some_and(|numbers| {
                numbers.is_sorted_by(|a, b| a < b) || numbers.is_sorted_by(|a, b| a > b)
            })
        })
    }

    /// The areas of a design, without a simulation, resident keys and a generator of keys; `None` if its
    /// machine cannot be.
    pub(super) fn areas(&self, design: &Design) -> Option<Costs> {
        let machine = self.resolver.machine_of(design)?;
        let area = Area::of_run(&machine, &Usage { off_chip: self.off_chip, key_bytes: 0, seeded: false });
        let mut costs = Costs::UNKNOWN;
        costs.set(Measure::AreaMm2, area.total());
        costs.set(Measure::AreaRpuMm2, area.rpu());
        Some(costs)
    }

    /// The design of the base machine, or one like it: on each axis, the alternative with its values, or that
    /// with the values that follow where it leaves them open, or else the first.
    pub(super) fn base(&self) -> Design {
        let base = self.resolver.base();
        let machines = [base.clone(), base.resolved()].map(|machine| serde_json::to_value(machine).ok());
        let has = |machine: &Value, Setting { key, value, .. }: &Setting| {
            let of_machine = key.split('.').try_fold(machine, |value, key| value.get(key));
            of_machine.is_some() && of_machine == serde_json::to_value(value).ok().as_ref()
        };
        let alternative = |(axis, count): (usize, usize)| {
            let of = |machine: &Value| {
                (0..count).find(|&number| {
                    self.definition().alternative(axis, number).iter().all(|setting| has(machine, setting))
                })
            };
            machines.iter().flatten().find_map(of).unwrap_or(0)
        };
        self.axes().into_iter().enumerate().map(alternative).collect()
    }

    /// Every design, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = Design> {
        // No search reaches the end of more.
        let last = self.axes().iter().fold(1, |all: u64, &count| all.saturating_mul(count as u64));
        (0..last).map(|number| self.definition().digits(number))
    }

    /// The number of designs.
    pub fn designs(&self) -> f64 {
        self.axes().iter().map(|&count| count as f64).product()
    }

    /// The table `[explore]` of the definition.
    pub fn exploration(&self) -> &Exploration {
        &self.exploration
    }

    /// The objectives and constraints.
    pub fn goals(&self) -> &Goals {
        &self.goals
    }

    /// The point of a design; `None` if its keys do not go together.
    pub(super) fn point(&self, design: &Design) -> Option<PlannedPoint> {
        self.resolver.point(design).ok()
    }

    /// The design with these settings; `None` if the space has none.
    pub(super) fn find(&self, settings: &Settings) -> Option<Design> {
        let alternative = |axis| self.definition().alternative_of(axis, settings);
        let design: Design = (0..self.axes().len()).map(alternative).collect::<Option<_>>()?;
        self.point(&design).filter(|point| point.settings == *settings).map(|_| design)
    }

    /// The manifest of the space. It lists no points: they are those with a record.
    pub fn manifest(&self) -> Manifest {
        let first = self.point(&vec![0; self.axes().len()]);
        let points: Points = first.iter().map(|point| (point.key, point.settings.clone())).collect();
        let name = self.definition().name.clone();
        let title = first.map_or(name, |first| title(self.definition(), &first, &points, &self.goals));
        Manifest {
            explored: Some(self.key()),
            goals: Some(self.goals.clone()),
            points: Points::default(),
            ..manifest(self.definition(), title, points)
        }
    }

    /// The key of the space: of the design of each alternative of each axis, with the first ones of the
    /// others. Whatever determines a result is in one of them. Designs whose keys do not go together have
    /// their number.
    fn key(&self) -> PointKey {
        let mut keys = Vec::new();
        for (axis, count) in self.axes().into_iter().enumerate() {
            for alternative in 0..count {
                let mut design = vec![0; self.axes().len()];
                design[axis] = alternative;
                keys.push(self.resolver.key(&design).unwrap_or_else(|_| PointKey::of(&design)));
            }
        }
        PointKey::of_all(&keys)
    }

    fn definition(&self) -> &Definition {
        self.resolver.definition()
    }
}

/// The goals of the space of a definition. Its designs have one task, see [`check_task`].
fn goals(definition: &Definition, exploration: &Exploration) -> Result<Goals, Diagnostic> {
    let has_stream =
        definition.common("stream").is_some() || definition.varied().any(|setting| &*setting.key == "stream");
    let time = if has_stream { Measure::StreamUs } else { Measure::TimeUs };
    let constraints = exploration.constraints.clone();
    let objectives = exploration.objectives.clone().unwrap_or_else(|| vec![time, Measure::AreaMm2]);
    let limited = constraints.iter().map(|constraint| constraint.measure);
    let wanted: Vec<Measure> = objectives.iter().copied().chain(limited).collect();
    // A program of a file may be any.
    let is_of = |wanted: &dyn Fn(&str) -> bool| match definition.common("kernel") {
        Some(kernel) => wanted(&kernel.text()),
        None => definition.common("program").is_some(),
    };
    let of_some_tasks = [
        (
            Measure::StreamUs,
            has_stream,
            "`stream_us` is the time of a stream, but the designs have none",
            "set `stream = 8` for streams of 8 runs, or take `time_us`, the time of one run",
        ),
        (
            Measure::SlotLevelNs,
            is_of(&|kernel| kernel == "bootstrap"),
            "`slot_level_ns` is of bootstraps, but the program of the designs is another",
            "set `kernel = \"bootstrap\"`, or take `time_us`",
        ),
        (
            Measure::EnergyHbmUj,
            has_stream || is_of(&|kernel| programs::find_program(kernel).is_some()),
            "`energy_hbm_uj` is of the off-chip memory, but the designs transfer nothing",
            "set `stream = 8` for streams of 8 runs, or take `energy_uj`",
        ),
        (
            Measure::KeyMib,
            is_of(&|kernel| programs::find_program(kernel).is_some()),
            "`key_mib` is of ring programs, but the designs run a kernel",
            "set `kernel` to a name of `rpu gen program`",
        ),
    ];
    if let Some((.., message, help)) = of_some_tasks.iter().find(|(of, has, ..)| !has && wanted.contains(of))
    {
        return Err(definition.error(definition.explore_span.clone(), *message, *help));
    }
    Ok(Goals { objectives, constraints })
}

/// Checks that all designs have one task and one technology: a front of several would compare designs for
/// different ones.
fn check_task(definition: &Definition) -> Result<(), Diagnostic> {
    let identifying = PARAMETERS.iter().filter(|parameter| parameter.identifies);
    // Areas of two technologies are not comparable.
    for key in identifying.map(|parameter| parameter.name).chain([TECHNOLOGY]) {
        let Some(first) = definition.varied().find(|setting| &*setting.key == key) else { continue };
        let mut values: Vec<String> = Vec::new();
        let own = |row: &[Setting]| row.iter().rfind(|setting| &*setting.key == key).map(Setting::text);
        for row in definition.axes().iter().filter(|axis| axis.iter().any(|row| own(row).is_some())).flatten()
        {
            let value = own(row).or_else(|| definition.common(key).map(Setting::text));
            let value = value.unwrap_or_else(|| "its default".into());
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.len() > 1 {
            let one = if key == TECHNOLOGY { "technology" } else { "task" };
            let message = format!("a space has one {one}, but `{key}` has the values {}", values.join(", "));
            let help = format!("set `{key}` for all designs, and use one `rpu explore` per value");
            return Err(definition.error(first.key_span.clone(), message, help));
        }
    }
    Ok(())
}

/// Some designs of a space, each of which has a point.
pub(super) struct Designs<'s> {
    pub(super) space: &'s Space,
    pub(super) designs: Vec<Design>,
}

impl Source for Designs<'_> {
    fn point(&self, index: usize) -> PlannedPoint {
        self.space.point(&self.designs[index]).expect("the design has a point")
    }

    fn class(&self, index: usize) -> Class {
        self.space.resolver.class(&self.designs[index])
    }

    fn data(&self) -> &super::Data {
        self.space.resolver.data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(text: &str) -> Space {
        Space::new(&Definition::parse("space.toml", text).unwrap()).unwrap()
    }

    #[test]
    fn designs_come_in_the_order_of_a_sweep() {
        let space = space("n = 1024\n[grid]\nhple.count = [4, 8]\nvdm.banks = [32, 64, 128]");
        assert!(space.all().eq([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]));
    }

    /// Stages that the base machine leaves open are those that it has.
    #[test]
    fn the_first_design_is_that_of_the_base_machine() {
        let axes =
            "[grid]\nhple.count = [64, 128]\nvbar.latency_cycles = [2, 4, 6]\nsbar.latency_cycles = [9, 8]";
        let design = space(&format!("n = 1024\nmachine = 'rpu-128x128'\n{axes}")).base();
        assert_eq!(design, [1, 1, 0], "128 HPLEs, 4 stages, and the first");
        let zero = space("n = 1024\nmachine = 'rpu-128x128'\n[grid]\nvbar.latency_cycles = [4, 0]").base();
        assert_eq!(zero, [1], "open stages");
    }

    /// A technology is a file, and not the value of a key.
    #[test]
    fn areas_are_those_of_the_points_in_any_technology() {
        let mut known = Vec::new();
        for technology in ["gf12", "gf12-built"] {
            let space = space(&format!(
                "n = 1024\n[grid]\ntechnology = ['{technology}']\nhple.count = [64, 128]\n\
                 vdm.banks = [64, 128]\nvdm.size_mib = [4, 8]"
            ));
            for design in space.all() {
                let machine = space.point(&design).unwrap().machine;
                let usage = Usage { off_chip: false, key_bytes: 0, seeded: false };
                let expected = Area::of_run(&machine, &usage);
                let areas = space.areas(&design).unwrap();
                assert_eq!(Measure::AreaMm2.of(&areas), expected.total(), "{design:?}");
                assert_eq!(Measure::AreaRpuMm2.of(&areas), expected.rpu(), "{design:?}");
                known.push(expected.total());
            }
        }
        known.sort_by(f64::total_cmp);
        known.dedup();
        assert_eq!(known.len(), 16);
    }
}
