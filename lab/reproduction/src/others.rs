//! The RPU compared with other machines: printed, measured or simulated, each marked.

use super::Error;
use super::evaluation::{Code, Evaluation};
use super::table::significant;
use serde::{Deserialize, Serialize};

/// The kind of source of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Source {
    /// Printed in the paper.
    Printed,
    /// Measured.
    Measured,
    /// Simulated here.
    Simulated,
}

impl Source {
    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Measured => "measured",
            Self::Simulated => "simulated",
        }
    }
}

/// A transform on some machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Row {
    /// The machine.
    pub machine: String,
    /// Number of points and width of the coefficients.
    pub transform: String,
    /// Microseconds per transform, with three digits.
    pub time_us: String,
    /// Area in square millimetres, if known.
    pub area_mm2: String,
    /// The kind of source of the time.
    pub source: Source,
    /// The source.
    pub reference: String,
}

/// A line of `lab/reproduction/data/h200-bench.csv`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
struct GpuTiming {
    #[serde(rename = "impl")]
    name: String,
    work: String,
    log_n: u32,
    bits: u32,
    modulus_bits: u32,
    moduli: u32,
    batch: u32,
    mode: String,
    us: f64,
}

impl GpuTiming {
    /// The fields before the times.
    fn key(&self) -> String {
        let Self { name, work, log_n, bits, modulus_bits, moduli, batch, mode, .. } = self;
        format!("{name},{work},{log_n},{bits},{modulus_bits},{moduli},{batch},{mode}")
    }
}

/// The rows.
///
/// # Errors
/// Returns an error if the table of GPU times lacks a row.
pub(super) fn rows(evaluation: &Evaluation) -> Result<Vec<Row>, Error> {
    let row =
        |machine: &str, transform: &str, time_us: f64, area: Option<f64>, source, reference: &str| Row {
            machine: machine.into(),
            transform: transform.into(),
            time_us: significant(time_us, 3),
            area_mm2: area.map_or_else(String::new, |area| significant(area, 4)),
            source,
            reference: reference.into(),
        };
    let rpu = |code: Code, n: u32, transform: &str, whole: bool| {
        let run = evaluation.size(code, n);
        let area = if whole { run.report.area_mm2 } else { run.report.area_breakdown_mm2.hples() };
        let machine = format!("RPU (128, 128), {}", code.label());
        row(
            &machine,
            transform,
            run.timing.time_us,
            Some(area),
            Source::Simulated,
            "fig10.csv; area of the model",
        )
    };
    let mut rows = vec![
        row("RPU (128, 128), the paper's program", "64K, 128 bits", 6.7, Some(20.5), Source::Printed, "VIII"),
        rpu(Code::Paper, 65536, "64K, 128 bits", true),
        rpu(Code::Best, 65536, "64K, 128 bits", true),
        row(
            "V100 [35]",
            "64K, 30 bits",
            6.0 * 6.7,
            Some(40.0 * 20.5),
            Source::Printed,
            "VII: 6 times slower than the RPU at 128 bits, 40 times its area",
        ),
    ];
    let gpu = |bits: u32, modulus_bits: u32, batch: u32, mode: &str, what: &str| {
        let key = format!("best,forward,16,{bits},{modulus_bits},1,{batch},{mode}");
        let reference = format!("lab/reproduction/data/h200-bench.csv: {key}");
        let timing = GPU.iter().find(|timing| timing.key() == key);
        let timing = timing.ok_or_else(|| Error::Missing { what: reference.clone() })?;
        let transform = format!("64K, {modulus_bits} bits, {what}");
        Ok::<_, Error>(row("H200, CUDA", &transform, timing.us, None, Source::Measured, &reference))
    };
    for (bits, modulus_bits) in [(128, 126), (32, 30)] {
        rows.push(gpu(bits, modulus_bits, 1, "alone", "one at a time")?);
        rows.push(gpu(bits, modulus_bits, 512, "cold", "each of 512 at a time")?);
    }
    rows.extend([
        row(
            "F1, one cluster",
            "16K, 32 bits",
            2.864,
            Some(11.32),
            Source::Printed,
            "VII; area scaled by 4 there",
        ),
        row("RPU, HPLEs and VRF", "16K, 128 bits", 1.5, Some(12.61), Source::Printed, "VII"),
        rpu(Code::Paper, 16384, "16K, 128 bits; area of HPLEs and VRF", false),
        rpu(Code::Best, 16384, "16K, 128 bits; area of HPLEs and VRF", false),
    ]);
    Ok(rows)
}

/// The measured GPU times.
static GPU: std::sync::LazyLock<Vec<GpuTiming>> = std::sync::LazyLock::new(|| {
    let text = include_str!("../data/h200-bench.csv");
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.collect::<Result<_, _>>().expect("the built-in table is tested")
});
