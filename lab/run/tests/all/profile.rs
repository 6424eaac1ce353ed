//! The profile of a run in its document, its table, its page, and in a file of speedscope.

use lab_run::{RingRun, RunReport, ring_page, speedscope, table};
use programs::{Options, ParameterSet, find_program, generate};
use ring_program::RingProgram;
use runtime::{Choice, Keys, Mapping};
use serde_json::Value;
use sim::Machine;
use std::sync::LazyLock;

static PROGRAM: LazyLock<RingProgram> = LazyLock::new(|| {
    let set = ParameterSet::built_in("lattigo-n16qp1546", Some(2048)).unwrap().unwrap();
    generate(&find_program("bootstrap").unwrap(), &set, &Options::default()).unwrap()
});

static MACHINE: LazyLock<Machine> = LazyLock::new(Machine::rpu_128x128);

fn bootstrap() -> RingRun<'static> {
    let choice = (&*MACHINE, Keys::Streamed, Choice::Given(Mapping::START));
    RingRun::timed(&PROGRAM, "a bootstrap", choice, true).unwrap()
}

/// What speedscope's schema says of a file with sampled profiles.
fn check_schema(file: &Value) {
    assert_eq!(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
    let frames = file["shared"]["frames"].as_array().unwrap();
    assert!(frames.iter().all(|frame| frame["name"].is_string()));
    let profiles = file["profiles"].as_array().unwrap();
    assert!(!profiles.is_empty());
    for key in ["name", "exporter"] {
        assert!(file[key].is_string(), "{key}");
    }
    assert!(file["activeProfileIndex"].as_u64().unwrap() < profiles.len() as u64);
    let units = ["none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"];
    for profile in profiles {
        assert_eq!(profile["type"], "sampled");
        assert!(profile["name"].is_string());
        assert!(units.contains(&profile["unit"].as_str().unwrap()));
        let [start, end] = ["startValue", "endValue"].map(|key| profile[key].as_f64().unwrap());
        assert!(start <= end);
        let samples = profile["samples"].as_array().unwrap();
        let weights = profile["weights"].as_array().unwrap();
        assert_eq!(samples.len(), weights.len());
        for stack in samples {
            let stack = stack.as_array().unwrap();
            assert!(stack.iter().all(|frame| frame.as_u64().unwrap() < frames.len() as u64));
        }
        let sum: f64 = weights.iter().map(|weight| weight.as_f64().unwrap()).sum();
        assert!((sum - (end - start)).abs() <= 1e-9 * end, "{sum} of {end}");
    }
}

#[test]
fn a_profile_is_in_all_that_a_run_writes() {
    let RingRun { runtime, timeline, report, .. } = bootstrap();
    let profile = report.profile.as_ref().unwrap();

    let file = speedscope(&report.program, profile);
    check_schema(&file);
    let time = &file["profiles"][0];
    assert_eq!(time["endValue"].as_f64().unwrap(), timeline.total_ns);
    let name = |frame: &Value| file["shared"]["frames"][frame.as_u64().unwrap() as usize]["name"].clone();
    let first = time["samples"][0].as_array().unwrap();
    let owner = &profile.entries[0].owner;
    assert_eq!(name(&first[0]), owner.path()[0]);

    let json = serde_json::to_string_pretty(&report).unwrap();
    let without = serde_json::to_string_pretty(&RunReport { profile: None, ..report.clone() }).unwrap();
    let bytes = json.len() - without.len();
    assert!(bytes < 600_000, "the profile takes {bytes} bytes of the document");
    let again = RunReport::parse("report.json", &json).unwrap();
    assert_eq!(again.profile.as_ref().unwrap().entries, profile.entries);
    let document: Value = serde_json::from_str(&json).unwrap();
    let sum: u64 =
        document["profile"].as_array().unwrap().iter().map(|entry| entry["time_ps"].as_u64().unwrap()).sum();
    assert_eq!(sum, (1e3 * timeline.total_ns).round() as u64);

    let text = table(&report);
    assert!(text.contains("Time by stage, waits for transfers included"), "{text}");
    assert!(text.contains("eval-mod"), "{text}");

    let html = ring_page(&report, &runtime, &timeline);
    for part in ["class=\"flame\"", "class=\"roofline\"", "coeff-to-slot", "\"loads\":[", "multipliers"] {
        assert!(html.contains(part), "{part}");
    }
}
