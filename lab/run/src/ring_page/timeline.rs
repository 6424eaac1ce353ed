//! The timeline of a ring program: busy shares of all events, and single launches and transfers for those who
//! zoom in.

use crate::page::{BINS, busy_chart};
use crate::page_parts::amount;
use maud::Markup;
use runtime::{Load, Runtime, Timeline};
use serde_json::{Value, json};
use sim::trace::perfetto::Slice;
use std::collections::HashMap;

/// The intervals of busy shares for the script: four for each column of the static chart.
const FINE: usize = 4 * BINS;

/// The most launches and transfers in a page. More make it too large for a browser; a trace has all of them.
pub(super) const MAX_SLICES: usize = 300_000;

/// The tracks with single launches and transfers: all but that of owners.
const FIRST: usize = 1;

/// The busy shares over time, and the launches and transfers behind them.
pub(super) struct Shown<'t> {
    loads: Vec<Load>,
    slices: Vec<Slice<'t>>,
    end_ps: u64,
}

impl<'t> Shown<'t> {
    /// None without recorded events.
    pub(super) fn of(runtime: &'t Runtime<'_>, timeline: &'t Timeline) -> Option<Self> {
        let slices = runtime.slices(timeline);
        let end_ps = (timeline.total_ns * 1e3).round() as u64;
        (!slices.is_empty()).then(|| Self { loads: runtime.loads(timeline, FINE), slices, end_ps })
    }

    /// Whether the page has single launches and transfers.
    pub(super) fn has_slices(&self) -> bool {
        self.slices.len() <= MAX_SLICES
    }

    /// The number of launches and transfers.
    pub(super) fn events(&self) -> usize {
        self.slices.len()
    }

    /// The data for the script. `slices` has for each launch or transfer its track, its beginning after that
    /// of the one before, its length, both in tenths of a nanosecond, its name and its number.
    pub(super) fn data(&self) -> Value {
        let (mut names, mut known) = (Vec::new(), HashMap::new());
        let mut ordered: Vec<&Slice<'_>> = self.slices.iter().filter(|_| self.has_slices()).collect();
        ordered.sort_by_key(|slice| slice.begin_ps);
        let (mut numbers, mut before) = (Vec::with_capacity(5 * ordered.len()), 0);
        for slice in ordered {
            let (of, number) = slice.annotation;
            let name = *known.entry((slice.name, of)).or_insert_with(|| {
                names.push(format!("{}, {of}", slice.name));
                names.len() - 1
            });
            let [begin, end] = [slice.begin_ps, slice.end_ps].map(|ps| ps / 100);
            numbers.extend([
                (slice.track - FIRST) as u64,
                begin - before,
                (end - begin).max(1),
                name as u64,
                number,
            ]);
            before = begin;
        }
        let share = |share: &f64| (share.min(1.0) * 1000.0).round() / 1000.0;
        let loads = self.loads.iter().map(|load| {
            let shares: Vec<f64> = load.shares.iter().map(share).collect();
            json!({ "name": load.name, "shares": shares })
        });
        json!({ "timeline": {
            "pipes": ["launches", "transfers"],
            "cycles": self.end_ps as f64 / 1e3,
            "first": 0,
            "loads": loads.collect::<Vec<_>>(),
            "names": names,
            "slices": numbers,
        } })
    }

    /// The busy shares as an SVG.
    pub(super) fn chart(&self) -> Markup {
        let rows: Vec<(String, [f64; BINS])> = self
            .loads
            .iter()
            .map(|load| {
                let mut columns = [0.0; BINS];
                for (column, shares) in columns.iter_mut().zip(load.shares.chunks(FINE / BINS)) {
                    *column = shares.iter().sum::<f64>() / shares.len() as f64;
                }
                (load.name.to_owned(), columns)
            })
            .collect();
        busy_chart(&rows, ["0 µs".to_owned(), amount(self.end_ps as f64 / 1e6, "µs")])
    }

    /// For each part of the machine, its busy share of the whole time.
    pub(super) fn totals(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.loads.iter().map(|load| (load.name, load.shares.iter().sum::<f64>() / FINE as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: Slice<'_> =
        Slice { track: 1, name: "ntt", begin_ps: 1_000_000, end_ps: 2_500_000, annotation: ("line", 7) };

    fn shown() -> Shown<'static> {
        let later = Slice {
            track: 2,
            name: "keys",
            begin_ps: 1_200_000,
            end_ps: 1_200_001,
            annotation: ("bytes", 9),
        };
        let mut shares = vec![0.0; FINE];
        shares[FINE / 3..FINE / 6 * 5].fill(0.5);
        Shown { loads: vec![Load { name: "kernels", shares }], slices: vec![later, SLICE], end_ps: 3_000_000 }
    }

    #[test]
    fn the_data_have_all_slices_in_order() {
        let data = &shown().data()["timeline"];
        assert_eq!(data["cycles"], 3000.0);
        assert_eq!(data["names"], json!(["ntt, line", "keys, bytes"]));
        assert_eq!(data["slices"], json!([0, 10_000, 15_000, 0, 7, 1, 2000, 1, 1, 9]));
        assert_eq!(data["loads"][0]["shares"].as_array().unwrap().len(), FINE);
    }

    #[test]
    fn the_chart_is_busy_where_the_loads_are() {
        let svg = shown().chart().into_string();
        let bars: Vec<usize> = svg
            .split("<rect x=\"")
            .skip(1)
            .map(|bar| (bar[..bar.find('"').unwrap()].parse::<usize>().unwrap() - 90) / 3)
            .collect();
        assert_eq!(bars, (BINS / 3..BINS / 6 * 5).collect::<Vec<_>>());
        assert!(svg.contains(">0 µs</text>") && svg.contains(">3.000 µs</text>"));
        assert_eq!(shown().totals().collect::<Vec<_>>(), [("kernels", 0.25)]);
    }
}
