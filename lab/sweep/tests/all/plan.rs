//! Definitions as points.

use diagnostic::Diagnostics;
use lab_sweep::{Definition, FIG4, Plan, PointKey};

fn plan(text: &str) -> Result<Plan, Diagnostics> {
    Plan::new(&Definition::parse("test.toml", text)?)
}

/// Each point as `key=value key=value`, in the order of the axes.
fn points(text: &str) -> Vec<String> {
    let plan = plan(text).unwrap();
    let values = |point: usize| {
        let settings = plan.point(point).settings;
        let of = |key: &String| settings.get(key).map(|value| format!("{key}={value}"));
        plan.manifest.varying.iter().filter_map(of).collect::<Vec<_>>().join(" ")
    };
    (0..plan.len()).map(values).collect()
}

#[test]
fn the_built_in_sweep_has_the_papers_28_points() {
    let points = points(FIG4);
    assert_eq!(points.len(), 28);
    assert_eq!(points[0], "hple.count=4 vdm.banks=32");
    assert_eq!(points[27], "hple.count=256 vdm.banks=256");
}

#[test]
fn axes_combine() {
    let text = "n = 1024\n[grid]\nhple.count = [4, 8]\n[zip]\nvdm.banks = [32, 64]\nsbar.latency_cycles = [5, 6]\n\
                [[list]]\nvbar.latency_cycles = 7\n[[list]]\nvdm.mapping = 'xor'";
    assert_eq!(
        points(text),
        [
            "hple.count=4 vdm.banks=32 sbar.latency_cycles=5 vbar.latency_cycles=7",
            "hple.count=4 vdm.banks=32 sbar.latency_cycles=5 vdm.mapping=\"xor\"",
            "hple.count=4 vdm.banks=64 sbar.latency_cycles=6 vbar.latency_cycles=7",
            "hple.count=4 vdm.banks=64 sbar.latency_cycles=6 vdm.mapping=\"xor\"",
            "hple.count=8 vdm.banks=32 sbar.latency_cycles=5 vbar.latency_cycles=7",
            "hple.count=8 vdm.banks=32 sbar.latency_cycles=5 vdm.mapping=\"xor\"",
            "hple.count=8 vdm.banks=64 sbar.latency_cycles=6 vbar.latency_cycles=7",
            "hple.count=8 vdm.banks=64 sbar.latency_cycles=6 vdm.mapping=\"xor\"",
        ]
    );
    assert_eq!(points("n = 1024"), [""]);
}

#[test]
fn samples_are_points_of_the_grid_without_repetition() {
    let grid = "n = 1024\n[grid]\nvbar.latency_cycles = [4, 5, 6, 7, 8, 9, 10, 11]\nsbar.latency_cycles = [3, 4, 5, 6, 7, 8, 9, 10]\n";
    let all = points(grid);
    let sample = |seed| points(&format!("{grid}[sample]\npoints = 20\nseed = {seed}"));
    let drawn = sample(1);
    assert_eq!(drawn.len(), 20);
    assert!(drawn.iter().all(|point| all.contains(point)));
    assert!((1..20).all(|i| !drawn[..i].contains(&drawn[i])));
    assert_eq!(drawn, sample(1));
    assert_ne!(drawn, sample(2));
    assert_eq!(points(&format!("{grid}[sample]\npoints = 100")), all);
}

#[test]
fn keys_tell_points_apart_and_depend_on_what_determines_the_result() {
    let plan = plan(FIG4).unwrap();
    assert_eq!(plan.len(), 28);
    let base = "n = 1024\n[grid]\nhple.count = [4, 8]";
    let keys =
        |text: &str| -> Vec<PointKey> { self::plan(text).unwrap().points().map(|point| point.key).collect() };
    assert_eq!(keys(base), keys(&format!("name = 'another'\n{base}")));
    for change in ["seed = 1", "plan = 'kl'", "modulus_bits = 64", "kernel = 'intt'", "schedule_for = 'base'"]
    {
        let changed = keys(&format!("{change}\n{base}"));
        assert!(keys(base).iter().all(|key| !changed.contains(key)), "{change}");
    }
}

#[test]
fn equal_points_count_once() {
    let plan = plan("[[list]]\nn = 1024\n[[list]]\nn = 1024\nplan = 'best'\n[[list]]\nn = 2048").unwrap();
    assert_eq!(plan.len(), 2);
    let (point, count) = plan.repeated().unwrap();
    assert_eq!((point.key, count), (plan.point(0).key, 1));
}

#[test]
fn a_title_names_the_task_that_all_points_have() {
    for (text, title) in [
        ("modulus = '0xa001'", "4K-point NTT, 16-bit modulus: "),
        ("[[list]]\ntowers = 1\nhple.count = 4\n[[list]]\nhple.count = 8", "4K-point NTT, 128-bit modulus: "),
        ("[grid]\ntowers = [2]", "4K-point NTT, 2 moduli of 128 bits: "),
        ("[grid]\ntowers = [2, 3]", "many"),
        ("[grid]\ntowers = [1, 2]", "many"),
        ("[grid]\nmodulus_bits = [60, 128]", "many"),
    ] {
        let plan = plan(&format!("name = 'many'\nn = 4096\n{text}")).unwrap();
        assert!(plan.manifest.title.starts_with(title), "{text}: {}", plan.manifest.title);
    }
}

/// An axis may have a million values.
#[test]
fn columns_have_the_values_of_points_only() {
    let plan = plan("n = 1024\n[grid]\nhple.count = [8, 16, 32, 64]\n[sample]\npoints = 1").unwrap();
    let columns = serde_json::to_value(&plan.manifest.points).unwrap()["columns"].clone();
    let column = columns.as_array().unwrap().iter().find(|column| column["name"] == "hple.count");
    assert_eq!(column.unwrap()["values"].as_array().unwrap().len(), 1);
    assert_eq!(plan.manifest.points.settings(0)["hple.count"], plan.point(0).settings["hple.count"]);
}

#[test]
fn the_program_of_the_base_machine_is_shared_where_asked() {
    let plan = plan("n = 65536\nschedule_for = 'base'\n[grid]\nhple.count = [64, 128]").unwrap();
    assert!(plan.points().all(|point| point.scheduled_for.hple.count == 128));
    assert_eq!(plan.point(0).machine.hple.count, 64);
}

#[test]
fn errors_stand_in_the_sweep() {
    let error = |text: &str| plan(text).unwrap_err().to_string();
    assert!(
        error("n = 4\n[grid]\nhple.cuont = [4]").starts_with("test.toml:3:6: D002: "),
        "{}",
        error("n = 4\n[grid]\nhple.cuont = [4]")
    );
    assert!(error("n = 4\n[grid]\nhple.count = [4, 3]").starts_with("test.toml:3:18: "));
    assert!(
        error("n = 4\n[grid]\nhbm.gb_per_s = [512, 512.0]")
            .contains("`hbm.gb_per_s` has the value 512.0 twice")
    );
    assert!(
        error("n = 4\n[grid]\nn = [1024, 2048]").contains("`n` is set for all points and varies"),
        "{}",
        error("n = 4\n[grid]\nn = [1024, 2048]")
    );
    assert_eq!(
        error("n = 1000"),
        "test.toml:1:5: D004: invalid value 1000 for `n`; expected a power of two from 2 to 131072"
    );
    assert!(error("kernel = 'fft'").contains("invalid value \"fft\" for `kernel`"));
    assert!(
        error("n = 1024\n[grid]\nplan = ['best', 'worst']")
            .starts_with("test.toml:3:17: D007: unknown plan `worst`")
    );
}
