//! Cycles and times of other projects' open tools beside this one's, within tolerances:
//! `reports/outside/README.md`.
//!
//! A ratio outside its tolerance fails the study. The tables of the other tools are committed beside the
//! page.

use crate::page::{Fault, Files, fill, lines, records_of, repository, text};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A row of `heracles.csv`.
#[derive(Deserialize)]
struct Heracles {
    operation: String,
    n: u32,
    limbs: u32,
    cycles: f64,
    remark: String,
}

/// A row of `fhe-accelerator-sim.csv`.
#[derive(Deserialize)]
struct Rotation {
    dnum: u32,
    us: f64,
}

/// The largest distances of a ratio from 1: of transforms in several rings at once, of other operations but
/// single transforms, and of rotations.
const BULK: f64 = 0.10;
const OPERATION: f64 = 0.35;
const ROTATION: f64 = 0.15;

fn table<T: DeserializeOwned>(name: &str) -> Result<Vec<T>, Fault> {
    let file = repository(format!("reports/outside/{name}"));
    csv::Reader::from_path(file)?.into_deserialize().map(|row| Ok(row?)).collect()
}

/// The tolerance of an operation; none of a single transform, which our vectors of 4,096 words and HERACLES'
/// pairs of 8,192 do in other ways.
fn tolerance(row: &Heracles) -> Option<f64> {
    let is_transform = ["ntt", "intt"].contains(&&*row.operation);
    match (is_transform, row.limbs) {
        (true, 1) => None,
        (true, _) => Some(BULK),
        (false, _) => Some(OPERATION),
    }
}

/// The ratio as a cell; an error beyond the tolerance.
fn checked(what: &str, ratio: f64, tolerance: Option<f64>) -> Result<String, Fault> {
    match tolerance {
        Some(most) if ratio.is_nan() || (ratio - 1.0).abs() > most => {
            Err(format!("{what}: {ratio:.2} times the outside number, not within {most} of 1").into())
        }
        _ => Ok(format!("{ratio:.2}")),
    }
}

pub(crate) fn files() -> Files {
    let theirs: Vec<Heracles> = table("heracles.csv")?;
    let ours = records_of("configs/sweeps/heracles.toml")?;
    if ours.len() != theirs.len() {
        return Err("the sweep and the table have different operations".into());
    }
    let mut operations = Vec::new();
    for (row, record) in theirs.iter().zip(&ours) {
        let Heracles { operation, n, limbs, cycles, remark } = row;
        let what = format!("{operation}, n = {n}, {limbs} limbs");
        let report = record.report.as_ref().ok_or_else(|| format!("{what}: {:?}", record.error))?;
        let own = report.cycles.ok_or("a run in time")?;
        let tolerance = tolerance(row);
        let ratio = checked(&what, own as f64 / cycles, tolerance)?;
        let tolerance = tolerance.map_or("none".to_owned(), |most| format!("{most}"));
        operations.push(format!(
            "| {operation} | {n} | {limbs} | {cycles} | {own} | {ratio} | {tolerance} | {remark} |"
        ));
    }
    let theirs: Vec<Rotation> = table("fhe-accelerator-sim.csv")?;
    let ours = records_of("configs/sweeps/fhe-accelerator-sim.toml")?;
    if ours.len() != theirs.len() {
        return Err("the sweep and the table have different rotations".into());
    }
    let mut rotations = Vec::new();
    for (Rotation { dnum, us }, record) in theirs.iter().zip(&ours) {
        let what = format!("a rotation with dnum = {dnum}");
        let report = record.report.as_ref().ok_or_else(|| format!("{what}: {:?}", record.error))?;
        let own = report.time_us.ok_or("a run in time")?;
        rotations
            .push(format!("| {dnum} | {us} | {own:.0} | {} |", checked(&what, own / us, Some(ROTATION))?));
    }
    let page = fill(
        include_str!("outside.md"),
        &[
            ("operations", &lines(operations)),
            ("rotations", &lines(rotations)),
            ("bulk", &BULK),
            ("operation", &OPERATION),
            ("rotation", &ROTATION),
        ],
    );
    Ok(vec![text("reports/outside/README.md", page)])
}
