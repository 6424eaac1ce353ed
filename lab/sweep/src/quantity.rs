//! Columns as quantities: the names that people use, with units.

use crate::measure::Measure;
use crate::names::without_units;
use b512_asm::Pipe;
use lab_run::page_parts::{cause_label, fitting, part_label};
use sim::timing::Cause;
use sim::{Area, Energy};

/// The quantity of a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Quantity {
    /// The name, as within a sentence.
    pub(super) name: String,
    /// The unit, if it has one.
    pub(super) unit: Option<String>,
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

/// Columns that are no measures and whose names do not follow from their words, with units that do not follow
/// either.
const NAMES: [(&str, &str, Option<&str>); 8] = [
    ("binds", "what binds", None),
    ("binds_share", "share of what binds", None),
    ("frequency_ghz", "clock", None),
    ("bound_ratio", "cycles over the larger bound", None),
    ("n", "ring degree", None),
    ("hple.count", "HPLEs", None),
    ("hbm.gb_per_s", "HBM bandwidth", Some("GB/s")),
    ("isa.word_bits", "word width", None),
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
    /// The quantity in the unit in which the largest of these values has one to three digits before the
    /// point, and the factor by which its numbers change.
    pub(super) fn fitting(self, values: impl Iterator<Item = f64>) -> (Self, f64) {
        let largest = values.map(f64::abs).filter(|value| value.is_finite()).fold(0.0, f64::max);
        match self.unit.as_deref().and_then(|unit| fitting(unit, largest)) {
            Some((unit, factor)) => (Self { unit: Some(unit.to_owned()), ..self }, factor),
            None => (self, 1.0),
        }
    }

    /// The quantity of a column of results or of a machine key.
    pub(super) fn of(column: &str) -> Self {
        let (stem, unit) = without_units(column);
        let known = NAMES.iter().find(|(known, ..)| *known == column);
        let label = Measure::find(column).map(Measure::label).or_else(|| known.map(|(_, name, _)| *name));
        if let Some(label) = label {
            let own = known.and_then(|(.., unit)| *unit).map(str::to_owned);
            return Self { name: label.to_owned(), unit: own.or(unit) };
        }
        let is_area = Area::default().components().iter().any(|(part, _)| *part == stem);
        let is_energy = Energy::default().components().iter().any(|(part, _)| *part == stem);
        let name = match (unit.as_deref(), Cause::all().find(|cause| cause.name() == stem)) {
            (Some("cycles"), Some(cause)) => cause_label(cause),
            (Some("mm²"), _) if is_area => format!("area of {}", part_label(stem)),
            (Some("µJ"), _) if is_energy => format!("energy of {}", part_label(stem)),
            _ => words(stem),
        };
        Self { name, unit }
    }

    /// The unit; the name of a quantity without one, as in `9000 cycles`.
    pub(super) fn unit_name(&self) -> &str {
        self.unit.as_ref().unwrap_or(&self.name)
    }

    /// Name and unit: `area (mm²)`.
    pub(super) fn with_unit(&self) -> String {
        self.unit.as_ref().map_or_else(|| self.name.clone(), |unit| format!("{} ({unit})", self.name))
    }

    /// Name and unit with a capital, for an axis: `Area (mm²)`.
    pub(super) fn label(&self) -> String {
        let text = self.with_unit();
        let mut letters = text.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// The quantity with a value: `modulus 60 bits`.
    pub(super) fn with_value(&self, value: &str) -> String {
        format!("{} {}", self.name, self.amount(value))
    }

    /// A value with the unit: `60 bits`.
    pub(super) fn amount(&self, value: &str) -> String {
        self.unit.as_ref().map_or_else(|| value.to_owned(), |unit| format!("{value} {unit}"))
    }
}

/// The names of several columns, in a list.
pub(super) fn names<'c>(columns: impl IntoIterator<Item = &'c str>) -> String {
    columns.into_iter().map(|column| Quantity::of(column).name).collect::<Vec<_>>().join(", ")
}

/// A name as words.
fn words(name: &str) -> String {
    let name = Pipe::ALL.iter().fold(name.to_owned(), |name, pipe| name.replace(pipe.name(), pipe.label()));
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
            ("frequency_ghz", "Clock (GHz)"),
            ("hbm.gb_per_s", "HBM bandwidth (GB/s)"),
            ("vdm_mm2", "Area of VDM (mm²)"),
            ("sbar_uj", "Energy of shuffle crossbar (µJ)"),
            ("saved_uj", "Saved (µJ)"),
            ("saved_mm2", "Saved (mm²)"),
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
    fn prefixes_fit_the_largest_value() {
        for (column, largest, label, factor) in [
            ("time_us", 18.0, "Latency (µs)", 1.0),
            ("time_us", 999.0, "Latency (µs)", 1.0),
            ("time_us", 1000.0, "Latency (ms)", 1e-3),
            ("time_us", 2e9, "Latency (s)", 1e-6),
            ("time_us", 0.25, "Latency (ns)", 1e3),
            ("energy_uj", 0.0, "Energy (µJ)", 1.0),
            ("energy_uj", 5e5, "Energy (mJ)", 1e-3),
            ("area_mm2", 5e5, "Area (mm²)", 1.0),
            ("cycles", 5e5, "Cycles", 1.0),
        ] {
            let (quantity, found) = Quantity::of(column).fitting([0.0, largest / 3.0, largest].into_iter());
            assert_eq!((quantity.label().as_str(), found), (label, factor), "{column} {largest}");
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
