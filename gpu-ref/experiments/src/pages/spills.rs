//! Kernels that spill registers.

use super::{folder, table};
use std::io::{Error, Result};

/// A default recipe compared with the fastest neighbour whose kernels spill no registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Spilling {
    /// Options of `examples/tune.rs`.
    pub options: String,
    /// Microseconds of the default recipe.
    pub us: f64,
    /// Bytes that its kernels spill.
    pub spilled: u32,
    /// Microseconds of the neighbour.
    pub other_us: f64,
    /// The neighbour's recipe.
    pub other: String,
}

/// A line of `examples/tune.rs`: microseconds, recipe, spilled bytes.
fn line(text: &str) -> Option<(f64, &str, u32)> {
    let (us, rest) = text.split_once(',')?;
    let (recipe, spilled) = rest.rsplit_once(',')?;
    Some((us.parse().ok()?, recipe, spilled.parse().ok()?))
}

/// A block of lines: options, the default recipe, its neighbours from the fastest on.
fn block(text: &str) -> Option<Spilling> {
    let mut lines = text.lines();
    let options = lines.next()?.trim().replace(" --near", "");
    let mut lines = lines.map(line);
    let (us, _, spilled) = lines.next()??;
    let (other_us, other, _) = lines.flatten().find(|line| line.2 == 0)?;
    Some(Spilling { options, us, spilled, other_us, other: other.to_owned() })
}

/// The recipes in `reports/gpu/h200-tune.csv`.
///
/// # Errors
/// Returns an error if the file is missing or has another form.
pub fn spilling() -> Result<Vec<Spilling>> {
    let text = std::fs::read_to_string(folder().join("h200-tune.csv"))?;
    let blocks = text.split("# ").skip(1).map(block).collect::<Option<_>>();
    blocks.ok_or_else(|| Error::other("h200-tune.csv: expected blocks of options and recipes"))
}

pub(super) fn spills() -> Result<String> {
    let row = |Spilling { options, us, spilled, other_us, other }: Spilling| {
        let ratio = format!("{:.3}", other_us / us);
        let [options, other] = [options, other].map(|code| format!("`{code}`"));
        vec![options, format!("{us:.4}"), spilled.to_string(), format!("{other_us:.4}"), other, ratio]
    };
    let header = ["options", "default, µs", "spilled bytes", "without spills, µs", "recipe", "ratio"];
    Ok(table(&header, spilling()?.into_iter().map(row)))
}
