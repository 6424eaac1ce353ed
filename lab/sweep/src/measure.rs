//! The table of measures: what objectives minimise, constraints limit, and fronts and charts compare.
//!
//! A row has the column of results, which ends in its unit, the name for people, and the value. The column of
//! a key is also its name in the document of a run. Less is better of every measure.

use crate::names::{UnknownName, find, short_name};
use lab_run::{OffChip, RunReport};
use serde::{Deserialize, Serialize};

macro_rules! measures {
    (
        $($(#[doc = $doc:literal])+ $key:ident $column:literal $label:literal = $value:expr;)+
        products
        $($(#[doc = $product_doc:literal])+ $product:ident $product_column:literal $product_label:literal = $a:ident * $b:ident;)+
    ) => {
        /// A cost of a design.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "&'static str")]
        pub enum Measure {
            $($(#[doc = $doc])+ $key,)+
            $($(#[doc = $product_doc])+ $product,)+
        }

        /// The number of measures that are keys of a document; the others are products of these.
        const KEYS: usize = [$($column),+].len();

        impl Measure {
            /// Every measure.
            pub const ALL: &'static [Self] = &[$(Self::$key,)+ $(Self::$product,)+];

            /// Its column in results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$key => $column,)+
                    $(Self::$product => $product_column,)+
                }
            }

            /// Its name in a sentence.
            pub(super) const fn label(self) -> &'static str {
                match self {
                    $(Self::$key => $label,)+
                    $(Self::$product => $product_label,)+
                }
            }

            /// The keys of a document from which it follows.
            pub(super) const fn keys(self) -> &'static [Self] {
                match self {
                    $(Self::$key => &[Self::$key],)+
                    $(Self::$product => &[Self::$a, Self::$b],)+
                }
            }

            /// The value for a design; not a number if it has none.
            pub(super) fn of(self, costs: &Costs) -> f64 {
                match self {
                    $(Self::$key => costs.keys[Self::$key as usize],)+
                    $(Self::$product => Self::$a.of(costs) * Self::$b.of(costs),)+
                }
            }
        }

        impl Costs {
            /// The costs of a run in time.
            pub(super) fn of(run: &RunReport) -> Option<Self> {
                let values: [fn(&RunReport) -> Option<f64>; KEYS] = [$($value),+];
                run.time_us?;
                let mut costs = Self { keys: values.map(|value| value(run).unwrap_or(f64::NAN)), ..Self::UNKNOWN };
                if let (Some(kernels), Some(OffChip::Ring(channel))) = (&run.compute, &run.hbm) {
                    costs.set_busy(Busy::Kernels, kernels.busy);
                    costs.set_busy(Busy::Channel, channel.busy);
                }
                Some(costs)
            }
        }
    };
}

measures! {
    /// Cycles of one run.
    Cycles "cycles" "cycles" = |run| Some(run.cycles? as f64);
    /// Time of one run.
    TimeUs "time_us" "latency" = |run| run.time_us;
    /// Time of one run of a bootstrap, over the slots of the message and the levels left.
    SlotLevelNs "slot_level_ns" "time per slot and level" = |run| run.slot_level_ns;
    /// Time of a stream of runs with their off-chip transfers.
    StreamUs "stream_us" "time of the stream" = |run| Some(run.stream()?.total_us);
    /// Area of the machine.
    AreaMm2 "area_mm2" "area" = |run| Some(run.area_mm2);
    /// Its area without the interface of the off-chip memory.
    AreaRpuMm2 "area_rpu_mm2" "area of the RPU" = |run| Some(run.area_rpu_mm2);
    /// Energy of one run.
    EnergyUj "energy_uj" "energy" = |run| Some(run.energy_uj);
    /// Energy of its instructions.
    EnergyKernelsUj "energy_kernels_uj" "energy of kernels" = |run| Some(run.energy_kernels_uj);
    /// Energy of the off-chip memory and its interface.
    EnergyHbmUj "energy_hbm_uj" "energy off chip" = |run| Some(run.energy_hbm_uj);
    /// Energy of leakage and idle clocks.
    EnergyStaticUj "energy_static_uj" "static energy" = |run| Some(run.energy_static_uj);
    /// Energy of one run by its time.
    PowerW "power_w" "power" = |run| run.power_w;
    /// The power of the RPU alone, without the off-chip memory and its interface.
    PowerRpuW "power_rpu_w" "power of the RPU" = |run| run.power_rpu_w;
    /// The keys of a ring program that a memory holds.
    KeyMib "key_mib" "size of the keys" = |run| run.key_mib;
    products
    /// Area by time.
    AreaDelay "area_delay_mm2_us" "area × delay" = AreaMm2 * TimeUs;
    /// Energy by time.
    EnergyDelay "energy_delay_uj_us" "energy × delay" = EnergyUj * TimeUs;
}

/// What is busy for a share of the time of a ring program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Busy {
    /// Kernels.
    Kernels,
    /// The channel of the off-chip memory.
    Channel,
}

/// The costs of a design: the measures that are keys of a document, and the busy shares. Not a number where
/// it has none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Costs {
    keys: [f64; KEYS],
    busy: [f64; 2],
}

impl Costs {
    /// No costs yet.
    pub(super) const UNKNOWN: Self = Self { keys: [f64::NAN; KEYS], busy: [f64::NAN; 2] };

    /// Sets a measure, if it is a key of a document.
    pub(super) fn set(&mut self, measure: Measure, value: f64) {
        self.keys.get_mut(measure as usize).into_iter().for_each(|own| *own = value);
    }

    /// Sets the share of the time in which something is busy.
    pub(super) fn set_busy(&mut self, what: Busy, share: f64) {
        self.busy[what as usize] = share;
    }

    /// The time in which something is busy, in us; not a number if the program is no ring program.
    pub(super) fn busy_us(&self, what: Busy) -> f64 {
        self.busy[what as usize] * Measure::TimeUs.of(self)
    }

    /// Whether a run in time has them.
    pub(super) fn is_timed(&self) -> bool {
        !Measure::TimeUs.of(self).is_nan()
    }
}

/// The largest value of a measure that is read back. No run has more, and charts draw less.
const LARGEST: f64 = 1e30;

impl Measure {
    /// Checks a value that was read.
    pub(super) fn check(self, value: f64) -> Result<f64, String> {
        match (0.0..=LARGEST).contains(&value) {
            true => Ok(value),
            false => Err(format!("`{}` is {value}, not between 0 and {LARGEST:e}", self.name())),
        }
    }

    /// The measure with this column.
    pub(super) fn find(column: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|measure| measure.name() == column)
    }

    /// Whether it is a whole number.
    pub(super) fn is_count(self) -> bool {
        short_name(self.name()) == self.name()
    }

    /// The columns of all measures.
    pub(super) fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|measure| measure.name()).collect()
    }
}

impl TryFrom<String> for Measure {
    type Error = String;

    /// Reads the name of a column, or a short one.
    fn try_from(name: String) -> Result<Self, String> {
        let names = Self::names();
        let unknown = |error: UnknownName| format!("{error}; {}", error.help(&names.join(", ")));
        let column = find(&name, &names).map_err(unknown)?;
        Self::find(column).ok_or_else(|| format!("`{name}` is no measure"))
    }
}

impl From<Measure> for &'static str {
    fn from(measure: Measure) -> Self {
        measure.name()
    }
}
