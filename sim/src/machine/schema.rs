//! What each key of a machine file may hold.
//!
//! The structures of [`crate::machine`] say what the keys are for; this table says which values
//! make sense, so that a wrong one is reported where it stands. A test holds the two together.

use toml::Value;

/// A key and what it may hold.
pub(super) struct Key {
    /// The dotted path, from the root of the machine.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
}

/// The values that a key may hold.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Text that is not empty.
    Text,
    Bool,
    /// A whole number within the bounds, both included.
    Int(u32, u32),
    /// A power of two from 1 up to the bound.
    PowerOfTwo(u32),
    /// A finite number above zero.
    Positive,
    /// A finite number, zero or above.
    NotNegative,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// The list of `{ banks, ghz }`, in ascending order of banks.
    Clock,
}

/// Longest latency of a unit, in cycles.
const LATENCY: u32 = 1024;
/// Longest initiation interval, in cycles. With one HPLE an instruction then holds its pipe for
/// 32,768 cycles.
const INTERVAL: u32 = 64;

const fn key(path: &'static str, kind: Kind) -> Key {
    Key { path, kind }
}

/// Every key, in the order of the built-in file.
pub(super) const KEYS: &[Key] = &[
    key("name", Kind::Text),
    key("technology.name", Kind::Text),
    key("technology.node_nm", Kind::Int(1, 1000)),
    key("technology.clock", Kind::Clock),
    key("technology.area.sram_macro_um2", Kind::NotNegative),
    key("technology.area.sram_um2_per_byte", Kind::NotNegative),
    key("technology.area.law_mm2", Kind::NotNegative),
    key("technology.area.vdm_bank_mm2_to_32", Kind::NotNegative),
    key("technology.area.vdm_bank_mm2_to_64", Kind::NotNegative),
    key("technology.area.vdm_bank_mm2_to_128", Kind::NotNegative),
    key("technology.area.vdm_bank_mm2_beyond_128", Kind::NotNegative),
    key("technology.area.vbar_mm2", Kind::NotNegative),
    key("technology.area.vbar_growth_with_hples", Kind::Positive),
    key("technology.area.vbar_growth_with_banks", Kind::Positive),
    key("technology.area.sbar_mm2", Kind::NotNegative),
    key("technology.area.sbar_growth_to_128", Kind::Positive),
    key("technology.area.sbar_growth_beyond_128", Kind::Positive),
    key("technology.energy.multiply_pj", Kind::NotNegative),
    key("technology.energy.add_pj", Kind::NotNegative),
    key("technology.energy.vrf_access_pj", Kind::NotNegative),
    key("technology.energy.vdm_access_pj", Kind::NotNegative),
    key("technology.energy.vbar_element_pj", Kind::NotNegative),
    key("technology.energy.sbar_element_pj", Kind::NotNegative),
    key("technology.energy.instruction_pj", Kind::NotNegative),
    key("isa.gs_butterfly", Kind::Bool),
    key("frontend.width", Kind::Int(1, 64)),
    key("frontend.busyboard", Kind::Choice(&["strict", "shared-reads"])),
    key("frontend.source_release", Kind::Choice(&["complete", "read"])),
    key("frontend.queue_depth", Kind::Int(1, 4096)),
    key("frontend.fetch_to_dispatch_cycles", Kind::Int(0, LATENCY)),
    key("frontend.dispatch_to_issue_cycles", Kind::Int(0, LATENCY)),
    key("frontend.instruction_memory_kib", Kind::Int(1, 1 << 20)),
    key("scalar.load_latency_cycles", Kind::Int(1, LATENCY)),
    key("hple.count", Kind::PowerOfTwo(512)),
    key("hple.multiplier_latency_cycles", Kind::Int(1, LATENCY)),
    key("hple.initiation_interval", Kind::Int(1, INTERVAL)),
    key("hple.adder_latency_cycles", Kind::Int(1, LATENCY)),
    key("vrf.ports", Kind::Choice(&["single-port", "ideal"])),
    key("vrf.placement", Kind::Choice(&["mod", "div"])),
    key("vrf.arbitration", Kind::Choice(&["oldest-first", "pipe-order"])),
    key("sbar.latency_cycles", Kind::Int(1, LATENCY)),
    key("sbar.initiation_interval", Kind::Int(1, INTERVAL)),
    key("vbar.latency_cycles", Kind::Int(1, LATENCY)),
    key("vbar.initiation_interval", Kind::Int(1, INTERVAL)),
    key("vbar.paths", Kind::Choice(&["shared", "split"])),
    key("vdm.banks", Kind::PowerOfTwo(512)),
    key("vdm.mapping", Kind::Choice(&["interleaved", "xor"])),
    key("vdm.ports", Kind::Int(1, 2)),
    key("vdm.size_mib", Kind::Int(1, 32)),
    key("sdm.size_kib", Kind::Int(1, 16384)),
    key("hbm.gb_per_s", Kind::Positive),
    key("hbm.latency_ns", Kind::NotNegative),
    key("hbm.buffers", Kind::Int(1, 64)),
    key("hbm.reload_tables", Kind::Bool),
    key("ideal.bank_conflicts", Kind::Bool),
    key("ideal.queues", Kind::Bool),
    key("ideal.vrf_ports", Kind::Bool),
    key("ideal.front_end", Kind::Bool),
];

/// The key of that path.
pub(super) fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The keys below the section of that path; none where it is no section.
pub(super) fn section(path: &str) -> impl Iterator<Item = &'static Key> {
    let prefix = format!("{path}.");
    KEYS.iter().filter(move |key| key.path.starts_with(&prefix))
}

/// The key that was probably meant by an unknown one.
pub(super) fn nearest(path: &str) -> Option<&'static str> {
    let last = path.rsplit('.').next().unwrap_or(path);
    let mut same_name = KEYS.iter().filter(|key| key.path.rsplit('.').next() == Some(last));
    if let (Some(only), None) = (same_name.next(), same_name.next()) {
        return Some(only.path);
    }
    diagnostic::nearest(path, KEYS.iter().map(|key| key.path))
}

impl Kind {
    /// Whether `value` is allowed.
    pub(super) fn allows(self, value: &Value) -> bool {
        let number = || match *value {
            Value::Integer(i) => Some(i as f64),
            Value::Float(f) => f.is_finite().then_some(f),
            _ => None,
        };
        match self {
            Self::Text => value.as_str().is_some_and(|text| !text.is_empty()),
            Self::Bool => value.is_bool(),
            Self::Int(min, max) => {
                value.as_integer().is_some_and(|i| (i64::from(min)..=i64::from(max)).contains(&i))
            }
            Self::PowerOfTwo(max) => {
                value.as_integer().is_some_and(|i| i > 0 && i <= i64::from(max) && i & (i - 1) == 0)
            }
            Self::Positive => number().is_some_and(|x| x > 0.0),
            Self::NotNegative => number().is_some_and(|x| x >= 0.0),
            Self::Choice(choices) => value.as_str().is_some_and(|text| choices.contains(&text)),
            Self::Clock => clock(value).is_some(),
        }
    }

    /// What is allowed, in words.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Text => "text in quotes".into(),
            Self::Bool => "`true` or `false`".into(),
            Self::Int(min, max) => format!("a whole number from {min} to {max}"),
            Self::PowerOfTwo(max) => format!("a power of two from 1 to {max}"),
            Self::Positive => "a number above 0".into(),
            Self::NotNegative => "a number, 0 or above".into(),
            Self::Choice(choices) => {
                choices.iter().map(|choice| format!("`\"{choice}\"`")).collect::<Vec<_>>().join(" or ")
            }
            Self::Clock => "a list of `{ banks = .., ghz = .. }`, banks ascending, both above 0".into(),
        }
    }
}

/// The points of a clock table, where they are well formed.
fn clock(value: &Value) -> Option<()> {
    let points = value.as_array().filter(|points| !points.is_empty())?;
    let mut previous = 0;
    for point in points {
        let point = point.as_table().filter(|table| table.len() == 2)?;
        let banks = point.get("banks")?.as_integer()?;
        let ghz = point.get("ghz")?;
        if banks <= previous || banks > i64::from(u32::MAX) || !Kind::Positive.allows(ghz) {
            return None;
        }
        previous = banks;
    }
    Some(())
}
