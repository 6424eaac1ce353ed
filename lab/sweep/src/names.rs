//! Names of columns: their units, their short names, and the columns that a name may mean.

use std::collections::BTreeSet;
use thiserror::Error;

/// The ends of names that state a unit.
const UNITS: [(&str, &str); 14] = [
    ("_um2", "µm²"),
    ("_mm2", "mm²"),
    ("_pj", "pJ"),
    ("_uj", "µJ"),
    ("_ps", "ps"),
    ("_ns", "ns"),
    ("_us", "µs"),
    ("_ghz", "GHz"),
    ("_nm", "nm"),
    ("_kib", "KiB"),
    ("_mib", "MiB"),
    ("_bits", "bits"),
    ("_w", "W"),
    ("_cycles", "cycles"),
];

/// A column's name without its units, and these: `area_delay` and `mm² µs` for `area_delay_mm2_us`.
pub(super) fn without_units(column: &str) -> (&str, Option<String>) {
    let last = UNITS.iter().find_map(|(end, unit)| Some((column.strip_suffix(end)?, *unit)));
    let Some((stem, last)) = last else { return (column, None) };
    let (stem, others) = without_units(stem);
    (stem, Some(others.map_or_else(|| last.to_owned(), |others| format!("{others} {last}"))))
}

/// A column's name without its units: `area` for `area_mm2`.
pub(super) fn short_name(column: &str) -> &str {
    without_units(column).0
}

/// A unit as it can be typed: `mm2*us` for `mm² µs`.
pub(super) fn typed(unit: &str) -> String {
    let words = unit.split(|c: char| c.is_whitespace() || "*×·".contains(c)).filter(|word| !word.is_empty());
    let plain = |word: &str| word.replace(['µ', 'μ'], "u").replace('²', "2");
    words.map(plain).collect::<Vec<_>>().join("*")
}

/// A name that no column has, or a short name of several.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown column `{name}`")]
pub(super) struct UnknownName {
    name: String,
    /// The columns that may be meant.
    near: Vec<String>,
}

impl UnknownName {
    /// The remedy, if `known` lists the columns.
    pub(super) fn help(&self, known: &str) -> String {
        if self.near.is_empty() {
            return format!("the columns are {known}");
        }
        let near: Vec<String> = self.near.iter().map(|column| format!("`{column}`")).collect();
        format!("did you mean {}?", near.join(" or "))
    }
}

/// The column with a name, or with a short name that only one column has.
pub(super) fn find<'n>(name: &str, columns: &[&'n str]) -> Result<&'n str, UnknownName> {
    if let Some(column) = columns.iter().find(|column| **column == name) {
        return Ok(column);
    }
    let columns = || columns.iter().copied();
    let mut near: BTreeSet<&str> = columns().filter(|column| short_name(column) == name).collect();
    if let (1, Some(column)) = (near.len(), near.first()) {
        return Ok(column);
    }
    if near.is_empty() {
        let end =
            |column: &str| column.rsplit('.').next().is_some_and(|end| short_name(end) == short_name(name));
        near = columns().filter(|column| end(column)).collect();
    }
    if near.is_empty() {
        let known = columns().chain(columns().map(short_name));
        let nearest = diagnostic::nearest(name, known);
        near = columns()
            .filter(|column| nearest == Some(column) || nearest == Some(short_name(column)))
            .collect();
    }
    Err(UnknownName { name: name.to_owned(), near: near.into_iter().map(str::to_owned).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_short_names_and_unknown_ones_a_remedy() {
        let columns = ["area_mm2", "area_delay_mm2_us", "vdm_mm2", "vdm_uj", "vdm.banks", "vdm.size_mib"];
        let found =
            |name: &str| find(name, &columns).map_err(|error| format!("{error}; {}", error.help("a, b")));
        for (name, column) in [
            ("area", Ok("area_mm2")),
            ("area_delay", Ok("area_delay_mm2_us")),
            ("vdm.size", Ok("vdm.size_mib")),
            ("vdm", Err("unknown column `vdm`; did you mean `vdm_mm2` or `vdm_uj`?")),
            ("banks", Err("unknown column `banks`; did you mean `vdm.banks`?")),
            ("vdm.bank", Err("unknown column `vdm.bank`; did you mean `vdm.banks`?")),
            ("ares", Err("unknown column `ares`; did you mean `area_mm2`?")),
            ("nonsense", Err("unknown column `nonsense`; the columns are a, b")),
        ] {
            assert_eq!(found(name), column.map_err(str::to_owned));
        }
    }
}
