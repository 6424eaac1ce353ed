//! Columns as quantities: the names that people use, with units.

use lab_run::html::{cause_label, part_label};
use sim::timing::Cause;
use sim::{Area, Energy};
use std::collections::BTreeSet;
use thiserror::Error;

/// The quantity of a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Quantity {
    /// The name, as within a sentence.
    pub(super) name: String,
    /// The unit, if it has one.
    pub(super) unit: Option<&'static str>,
}

/// The better values of a quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Better {
    Less,
    More,
}

impl Better {
    /// The name in the data of a page.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Less => "less",
            Self::More => "more",
        }
    }

    /// A value as a cost: less is better.
    pub(super) fn cost(self, value: f64) -> f64 {
        match self {
            Self::Less => value,
            Self::More => -value,
        }
    }
}

/// Columns whose names do not follow from their words, with units.
const NAMES: [(&str, &str, Option<&str>); 10] = [
    ("time_us", "latency", Some("µs")),
    ("stream_us", "time of the stream", Some("µs")),
    ("frequency_ghz", "clock", Some("GHz")),
    ("area_delay_mm2_us", "area × delay", Some("mm² µs")),
    ("energy_delay_uj_us", "energy × delay", Some("µJ µs")),
    ("bound_ratio", "cycles over the larger bound", None),
    ("n", "ring degree", None),
    ("hple.count", "HPLEs", None),
    ("hbm.gb_per_s", "HBM bandwidth", Some("GB/s")),
    ("isa.word_bits", "word width", Some("bits")),
];

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

/// Words that are not written as they are.
const WORDS: [(&str, &str); 13] = [
    ("frontend", "front-end"),
    ("gs", "GS"),
    ("hbm", "HBM"),
    ("hple", "HPLE"),
    ("hples", "HPLEs"),
    ("isa", "ISA"),
    ("law", "LAW"),
    ("sbar", "SBAR"),
    ("sdm", "SDM"),
    ("sram", "SRAM"),
    ("vbar", "VBAR"),
    ("vdm", "VDM"),
    ("vrf", "VRF"),
];

impl Quantity {
    /// The quantity of a column of results or of a machine key.
    pub(super) fn of(column: &str) -> Self {
        if let Some((_, name, unit)) = NAMES.iter().find(|(known, ..)| *known == column) {
            return Self { name: (*name).to_owned(), unit: *unit };
        }
        let with_unit = UNITS.iter().find_map(|(end, unit)| Some((column.strip_suffix(end)?, *unit)));
        let (stem, unit) = with_unit.map_or((column, None), |(stem, unit)| (stem, Some(unit)));
        let is_area = Area::default().components().iter().any(|(part, _)| *part == stem);
        let is_energy = Energy::default().components().iter().any(|(part, _)| *part == stem);
        let name = match (unit, Cause::all().find(|cause| cause.name() == stem)) {
            (Some("cycles"), Some(cause)) => cause_label(cause),
            (Some("mm²"), _) if is_area => format!("area of {}", part_label(stem)),
            (Some("µJ"), _) if is_energy => format!("energy of {}", part_label(stem)),
            _ => words(stem),
        };
        Self { name, unit }
    }

    /// The unit; the name of a quantity without one, as in `9000 cycles`.
    pub(super) fn unit_name(&self) -> &str {
        self.unit.unwrap_or(&self.name)
    }

    /// Name and unit: `area (mm²)`.
    pub(super) fn with_unit(&self) -> String {
        self.unit.map_or_else(|| self.name.clone(), |unit| format!("{} ({unit})", self.name))
    }

    /// Name and unit with a capital, for an axis: `Area (mm²)`.
    pub(super) fn label(&self) -> String {
        let text = self.with_unit();
        let mut letters = text.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// The quantity with a value: `modulus 60 bits`.
    pub(super) fn with_value(&self, value: &str) -> String {
        let unit = self.unit.map_or_else(String::new, |unit| format!(" {unit}"));
        format!("{} {value}{unit}", self.name)
    }
}

/// A column's name without its units: `area` for `area_mm2`.
pub(super) fn short_name(column: &str) -> &str {
    UNITS.iter().find_map(|(end, _)| column.strip_suffix(end)).map_or(column, short_name)
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
        near.extend(diagnostic::nearest(name, columns()));
    }
    Err(UnknownName { name: name.to_owned(), near: near.into_iter().map(str::to_owned).collect() })
}

/// The names of several columns, in a list.
pub(super) fn names<'c>(columns: impl IntoIterator<Item = &'c str>) -> String {
    columns.into_iter().map(|column| Quantity::of(column).name).collect::<Vec<_>>().join(", ")
}

/// A name as words.
fn words(name: &str) -> String {
    let name = name.replace("load_store", "load/store");
    let word = |word: &str| {
        WORDS.iter().find(|(plain, _)| *plain == word).map_or(word, |(_, word)| *word).to_owned()
    };
    name.split(['.', '_']).map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_names_that_people_use_and_units() {
        let cases = [
            ("area_mm2", "Area (mm²)"),
            ("time_us", "Latency (µs)"),
            ("energy_delay_uj_us", "Energy × delay (µJ µs)"),
            ("vdm_mm2", "Area of VDM (mm²)"),
            ("sbar_uj", "Energy of shuffle crossbar (µJ)"),
            ("busy_load_store_cycles", "Waits for load/store's registers (cycles)"),
            ("load_store_instructions", "Load/store instructions"),
            ("cycles", "Cycles"),
            ("modulus_bits", "Modulus (bits)"),
            ("hple.count", "HPLEs"),
            ("vdm.size_mib", "VDM size (MiB)"),
            ("vbar.latency_cycles", "VBAR latency (cycles)"),
            ("frontend.queue_depth", "Front-end queue depth"),
            ("isa.gs_butterfly", "ISA GS butterfly"),
        ];
        for (column, label) in cases {
            assert_eq!(Quantity::of(column).label(), label);
        }
        assert_eq!(names(["hple.count", "hple.initiation_interval"]), "HPLEs, HPLE initiation interval");
    }

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
            ("nonsense", Err("unknown column `nonsense`; the columns are a, b")),
        ] {
            assert_eq!(found(name), column.map_err(str::to_owned));
        }
    }

    #[test]
    fn each_machine_key_has_a_name_of_its_own() {
        let mut labels: Vec<String> =
            sim::machine::keys().map(|key| Quantity::of(key.path).with_unit()).collect();
        let count = labels.len();
        labels.sort();
        labels.dedup();
        assert_eq!(labels.len(), count);
        assert!(labels.iter().all(|label| !label.contains(['_', '.'])), "{labels:?}");
    }
}
