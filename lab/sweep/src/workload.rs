//! The task of a point in words: what its charts, its front and its files are named after.

use super::measure::Measure;
use super::parameter::{self, Settings};
use diagnostic::counted;
use golden::Operation;
use lab_run::kernel::parse_u128;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The longest name in a file name, in bytes. Names are ASCII, and file systems allow 255 bytes.
const LONGEST_SLUG: usize = 160;

/// The setting, and the column, of a technology.
pub(super) const TECHNOLOGY: &str = "technology";
/// The technology of the paper.
const PAPER_TECHNOLOGY: &str = "gf12";

/// The task of a point. Only points with the same workload are comparable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Workload {
    /// The ring operation, or the file of a given program.
    pub kernel: String,
    /// The ring degree; 0 for a given program.
    pub n: u64,
    /// The size of the modulus in bits.
    pub modulus_bits: u64,
    /// The number of towers.
    pub towers: u64,
    /// The parameter set of a ring program; empty for others.
    pub set: String,
    /// The runs of a stream; 0 for a single run without transfers.
    pub stream: u64,
    /// Every other parameter that identifies a task, such as a setting of the operation, by its name; and the
    /// `technology` if it is not the paper's, since areas and energies of two are not comparable.
    pub settings: BTreeMap<&'static str, String>,
}

impl Workload {
    /// The workload of a point with these settings.
    pub fn of(settings: &Settings) -> Self {
        Self::from_settings(settings.iter().map(|(name, value)| (name.as_str(), value)))
    }

    /// The same from names and values.
    pub(super) fn from_settings<'v>(settings: impl Iterator<Item = (&'v str, &'v Value)>) -> Self {
        let mut workload = Self {
            kernel: String::new(),
            n: 0,
            modulus_bits: 0,
            towers: 1,
            set: String::new(),
            stream: 0,
            settings: BTreeMap::new(),
        };
        for (name, value) in settings {
            let number = || value.as_u64().unwrap_or_default();
            let text = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match name {
                "kernel" | "program" => workload.kernel = text(),
                "n" => workload.n = number(),
                "modulus_bits" => workload.modulus_bits = number(),
                "modulus" => {
                    let moduli = text();
                    let sizes =
                        moduli.split(',').filter_map(parse_u128).map(|q| u128::BITS - q.leading_zeros());
                    workload.modulus_bits = sizes.max().unwrap_or_default().into();
                    workload.towers = moduli.split(',').count() as u64;
                }
                "towers" => workload.towers = number(),
                "set" => workload.set = text(),
                "stream" => workload.stream = number(),
                TECHNOLOGY => workload = workload.in_technology(&text()),
                _ => {
                    if let Some(parameter) = parameter::find(name).filter(|parameter| parameter.identifies) {
                        workload.settings.insert(parameter.name, text());
                    }
                }
            }
        }
        workload
    }

    /// The workload in a technology, by its name or its file.
    pub(super) fn in_technology(mut self, name: &str) -> Self {
        let name = name.strip_suffix(".toml").unwrap_or(name);
        if name != PAPER_TECHNOLOGY {
            self.settings.insert(TECHNOLOGY, name.to_owned());
        }
        self
    }

    /// The time of a point: that of its stream, if it has one.
    pub(super) fn time(&self) -> Measure {
        if self.stream > 0 { Measure::StreamUs } else { Measure::TimeUs }
    }

    /// The stream, to follow the name: `, stream of 8 runs`; empty without one.
    pub(super) fn stream(&self) -> String {
        match self.stream {
            0 => String::new(),
            runs => format!(", stream of {}", counted(runs as usize, "run", "runs")),
        }
    }

    /// The name without the modulus: `16K-point NTT`; or the file of a given program.
    pub(super) fn name(&self) -> String {
        let settings: String =
            self.settings.iter().map(|(name, value)| format!(", {name} {value}")).collect();
        if !self.set.is_empty() {
            return format!("{} of the parameter set {}, n = {}{settings}", self.kernel, self.set, self.n);
        }
        if self.n == 0 {
            return self.kernel.clone();
        }
        // Operations that are defined by a root are transforms. They have acronyms; other names are words.
        let is_transform = self.kernel.parse().is_ok_and(Operation::has_root);
        let kernel = if is_transform { self.kernel.to_uppercase() } else { self.kernel.clone() };
        if self.n.is_multiple_of(1024) {
            format!("{}K-point {kernel}{settings}", self.n / 1024)
        } else {
            format!("{}-point {kernel}{settings}", self.n)
        }
    }

    /// The names in file names: [`slug`](Self::slug), of at most [`LONGEST_SLUG`] bytes, with a number if an
    /// earlier one is the same. Some file systems do not tell capitals apart.
    pub(super) fn slugs<'w>(workloads: impl Iterator<Item = &'w Self>) -> Vec<String> {
        let mut slugs: Vec<String> = Vec::new();
        for workload in workloads {
            let mut slug = workload.slug();
            slug.truncate(LONGEST_SLUG);
            let numbered = (2..).map(|number| format!("{slug}-{number}"));
            let is_free = |slug: &String| slugs.iter().all(|known| !known.eq_ignore_ascii_case(slug));
            let free = std::iter::once(slug.clone()).chain(numbered).find(is_free);
            slugs.extend(free);
        }
        slugs
    }

    /// The name in file names: `ntt-16384-60`.
    pub fn slug(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
        let kernel: String = self.kernel.chars().map(plain).collect();
        let mut slug = match (self.n, self.towers) {
            _ if !self.set.is_empty() => {
                let set: String = self.set.chars().map(plain).collect();
                format!("{kernel}-{set}-{}", self.n)
            }
            (0, _) => kernel,
            (n, 1) => format!("{kernel}-{n}-{}", self.modulus_bits),
            (n, towers) => format!("{kernel}-{n}-{}x{towers}", self.modulus_bits),
        };
        for (name, value) in &self.settings {
            let value: String = value.chars().map(plain).collect();
            slug += &format!("-{name}-{value}");
        }
        if self.stream > 0 {
            slug += &format!("-stream-{}", self.stream);
        }
        slug
    }
}

/// The display name: `16K-point NTT, 60-bit modulus`.
impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        match (self.n, self.towers) {
            (0, _) => {}
            _ if !self.set.is_empty() => {}
            (_, 1) => write!(f, ", {}-bit modulus", self.modulus_bits)?,
            (_, towers) => write!(f, ", {towers} moduli of {} bits", self.modulus_bits)?,
        }
        f.write_str(&self.stream())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_different_workloads_have_different_names() {
        let of = |rotations: &str| {
            let settings =
                serde_json::json!({ "kernel": "hrot", "set": "ark", "n": 2048, "rotations": rotations });
            Workload::of(settings.as_object().unwrap())
        };
        let workloads = ["1,-2", "1 -2", "1,2"].map(of);
        let slugs = Workload::slugs(workloads.iter());
        assert_eq!(slugs[1..], ["hrot-ark-2048-rotations-1--2-2", "hrot-ark-2048-rotations-1-2"]);

        let long = "a".repeat(300);
        let programs = ["a/X.b512", "a/x.b512", "a-x.b512", &format!("{long}/x.o"), &format!("{long}/y.o")];
        let of = |program| Workload::of(serde_json::json!({ "program": program }).as_object().unwrap());
        let slugs = Workload::slugs(programs.map(of).iter());
        assert_eq!(slugs[..3], ["a-X.b512", "a-x.b512-2", "a-x.b512-3"]);
        assert_eq!(slugs[3..], [long[..LONGEST_SLUG].to_owned(), format!("{}-2", &long[..LONGEST_SLUG])]);
    }
}
