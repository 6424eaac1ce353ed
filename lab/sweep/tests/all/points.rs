//! The result of a point depends on the point alone: whoever asks, it is the same.

use codegen::{choose, compile};
use golden::{Kind, OPERATIONS, Operation};
use lab_run::{Mode, Options};
use lab_sweep::{Definition, KernelTask, Plan, Record, Results, Selection, Shard, generate, run, verify};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use sim::{Machine, MachineBase, Override};
use std::collections::BTreeSet;

/// The number of points; `RPU_POINTS` sets another.
fn number() -> usize {
    std::env::var("RPU_POINTS").map_or(24, |points| points.parse().expect("a number"))
}

/// A random kernel on a random machine.
struct Point {
    operation: Operation,
    n: u32,
    modulus_bits: u32,
    towers: usize,
    settings: Vec<(&'static str, b512_asm::Setting)>,
    plan: &'static str,
    machine: Vec<String>,
}

impl Point {
    fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        let operation = *OPERATIONS.choose(random).unwrap();
        let mut value = |kind: Kind| match kind {
            Kind::Choice(words) => b512_asm::Setting::Word((*words.choose(random).unwrap()).to_owned()),
            Kind::Exponent => b512_asm::Setting::Number(2 * random.random_range(0..256) + 1),
            Kind::Number | Kind::Degree | Kind::Modulus | Kind::Root => {
                b512_asm::Setting::Number(random.random_range(0..1 << 30))
            }
        };
        let settings = operation.parameters().map(|spec| (spec.name, value(spec.kind))).collect();
        let mut key = |name: &str, values: &[&str]| format!("{name}={}", values.choose(random).unwrap());
        let machine = vec![
            key("hple.count", &["32", "64", "128"]),
            key("vdm.banks", &["32", "64", "128"]),
            key("hple.multiplier_latency_cycles", &["4", "8", "11"]),
            key("sbar.latency_cycles", &["3", "5", "7"]),
        ];
        Self {
            operation,
            n: *[512, 1024].choose(random).unwrap(),
            modulus_bits: random.random_range(40..=120),
            towers: *[1, 1, 2].choose(random).unwrap(),
            settings,
            plan: ["best", "kl", "unoptimised"].choose(random).unwrap(),
            machine,
        }
    }

    /// The point as a row of a sweep.
    fn row(&self) -> String {
        let Self { operation, n, modulus_bits, towers, settings, plan, machine } = self;
        let mut row = format!(
            "[[list]]\nkernel = '{operation}'\nn = {n}\nmodulus_bits = {modulus_bits}\ntowers = {towers}\nplan = '{plan}'\n"
        );
        for (name, value) in settings {
            row += &match value {
                b512_asm::Setting::Number(number) => format!("{name} = {number}\n"),
                b512_asm::Setting::Word(word) => format!("{name} = '{word}'\n"),
            };
        }
        row + &machine.join("\n") + "\n"
    }

    /// Its cycles by `rpu gen` and `rpu run`.
    fn cycles(&self) -> Result<u64, String> {
        let overrides: Vec<Override> =
            self.machine.iter().map(|text| Override::parse(text).unwrap()).collect();
        let machine: Machine = MachineBase::built_in("rpu-128x128").unwrap().machine(&overrides).unwrap();
        let rings = [
            ("n", self.n.to_string()),
            ("modulus_bits", self.modulus_bits.to_string()),
            ("towers", self.towers.to_string()),
            ("plan", self.plan.to_owned()),
        ];
        let text = |value: &b512_asm::Setting| match value {
            b512_asm::Setting::Number(number) => number.to_string(),
            b512_asm::Setting::Word(word) => word.clone(),
        };
        let settings = self.settings.iter().map(|(name, value)| (*name, text(value)));
        let parameters = rings.into_iter().chain(settings).map(|(name, text)| (name.to_owned(), text));
        let parameters: Vec<_> = parameters.collect();
        let KernelTask { request, plan } = KernelTask::parse(self.operation, &parameters).unwrap();
        let choice = choose(&request, &machine, &plan).map_err(|error| error.to_string())?;
        let kernel = compile(&request, &choice.recipe, &machine).map_err(|error| error.to_string())?;
        let options = Options { mode: Mode::TimingOnly, ..Options::default() };
        let report =
            lab_run::run(&kernel.program, &machine, &options).map_err(|error| error.to_string())?.report;
        Ok(report.cycles.unwrap())
    }
}

#[test]
fn a_point_has_the_same_cycles_by_a_run_a_sweep_and_a_replay() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(39);
    // A sweep has each row once.
    let mut known = BTreeSet::new();
    let mut points: Vec<Point> = (0..number()).map(|_| Point::draw(&mut random)).collect();
    points.retain(|point| known.insert(point.row()));
    let rows: String = points.iter().map(Point::row).collect();
    let plan = Plan::new(&Definition::parse("points.toml", &rows).unwrap()).unwrap();
    assert_eq!(plan.len(), points.len());

    let folder = tempfile::tempdir().unwrap();
    let part = Selection { shard: Shard::WHOLE, retry_failed: false, stop: Default::default() };
    assert_eq!(run(&plan, folder.path(), &part, &|_, _| ()).unwrap(), points.len());
    let records = Results::merge(&[folder.path()]).unwrap().records().unwrap();
    let cycles = |record: &Record| record.report.as_ref()?.cycles;
    let differing: Vec<String> = points
        .par_iter()
        .zip(&records)
        .filter_map(|(point, record)| {
            let alone = point.cycles();
            let same = alone.as_ref().ok().copied() == cycles(record);
            (!same).then(|| {
                format!("{}: {alone:?}, in the sweep {:?} {:?}", point.row(), cycles(record), record.error)
            })
        })
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(records.iter().filter(|record| cycles(record).is_some()).count() > points.len() / 2);

    let replayed = points.len() / 5;
    let verified = verify(folder.path(), Some(replayed), 0, &generate, &|_, _| ()).unwrap();
    assert_eq!((verified.verified, verified.differing.len()), (replayed, 0), "{:?}", verified.differing);
}

/// Beside a machine that dominates it, a machine has the program that it has alone.
#[test]
fn the_neighbours_of_a_point_change_nothing() {
    let point = |latencies: &str| {
        let text = format!(
            "n = 4096\n[grid]\nhple.count = [32]\nhple.multiplier_latency_cycles = {latencies}\nsbar.latency_cycles = [3]"
        );
        let plan = Plan::new(&Definition::parse("one.toml", &text).unwrap()).unwrap();
        lab_sweep::records(&plan, &generate).pop().unwrap()
    };
    assert_eq!(point("[5]"), point("[8, 5]"));
}
