//! The profile of a run as a file of speedscope, <https://www.speedscope.app>, after its specification
//! <https://www.speedscope.app/file-format-schema.json>: profiles of the type `sampled`, whose samples are
//! stacks of frames and whose weights add up to the run's total.

use runtime::{Entry, Profile};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The frame below a kernel for the time in which transfers are waited for.
pub(crate) const WAITING: &str = "waiting for transfers";

/// The frames, each once.
#[derive(Default)]
struct Frames<'p> {
    index: HashMap<&'p str, usize>,
    names: Vec<&'p str>,
}

impl<'p> Frames<'p> {
    fn add(&mut self, name: &'p str) -> usize {
        *self.index.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn stack(&mut self, entry: &'p Entry) -> Vec<usize> {
        let path = entry.owner.path().into_iter().chain([entry.kernel.as_str()]);
        path.map(|name| self.add(name)).collect()
    }
}

/// The profile of a run as JSON: its time in the order of the run, in ns; and its off-chip bytes and its
/// energy, in nJ.
pub fn speedscope(title: &str, profile: &Profile) -> Value {
    let mut frames = Frames::default();
    let stacks: Vec<Vec<usize>> = profile.entries.iter().map(|entry| frames.stack(entry)).collect();
    let waiting = frames.add(WAITING);
    // Launches with one stack that follow each other are one sample.
    let mut samples: Vec<(Vec<usize>, u64)> = Vec::new();
    for part in &profile.parts {
        let stack = &stacks[part.entry as usize];
        let with_waiting = || stack.iter().copied().chain([waiting]).collect();
        for (ps, stack) in [(part.waiting_ps, with_waiting()), (part.busy_ps, stack.clone())] {
            match samples.last_mut() {
                _ if ps == 0 => {}
                Some((last, sum)) if *last == stack => *sum += ps,
                _ => samples.push((stack, ps)),
            }
        }
    }
    let ns = |ps: u64| number(ps as f64 / 1e3);
    let total = profile.entries.iter().map(|entry| entry.time_ps).sum();
    let (samples, weights): (Vec<_>, Vec<_>) = samples.into_iter().map(|(stack, ps)| (stack, ns(ps))).unzip();
    let time = sampled("time", "nanoseconds", ns(total), json!(samples), json!(weights));
    let bytes: Vec<u64> = profile.entries.iter().map(Entry::bytes).collect();
    let total = json!(bytes.iter().sum::<u64>());
    let bytes = sampled("off-chip bytes", "bytes", total, json!(stacks), json!(bytes));
    let energy: Vec<f64> = profile.entries.iter().map(|entry| 1e3 * entry.energy_uj).collect();
    // The sum of no numbers would be -0.
    let total = json!(energy.iter().fold(0.0, |total, energy| total + energy));
    let energy = sampled("energy in nJ", "none", total, json!(stacks), json!(energy));
    let names = frames.names.iter().map(|name| json!({ "name": name }));
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": title,
        "exporter": concat!("rpu ", env!("CARGO_PKG_VERSION")),
        "activeProfileIndex": 0,
        "shared": { "frames": names.collect::<Vec<_>>() },
        "profiles": [time, bytes, energy],
    })
}

/// A number of nanoseconds, without a point if it is whole.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as u64) } else { json!(value) }
}

fn sampled(name: &str, unit: &str, end: Value, samples: Value, weights: Value) -> Value {
    json!({
        "type": "sampled",
        "name": name,
        "unit": unit,
        "startValue": 0,
        "endValue": end,
        "samples": samples,
        "weights": weights,
    })
}
