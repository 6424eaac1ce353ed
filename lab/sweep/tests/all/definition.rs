//! Definitions of sweeps, and their errors.

use lab_sweep::{Definition, Plan};
use sim::Override;

/// The maximum number of references, and the longest text, as the documentation of sweeps states.
const MAX_REFERENCES: usize = 100;
const MAX_LABEL: usize = 1000;

fn error(text: &str) -> String {
    Definition::parse("test.toml", text).unwrap_err().to_string()
}

#[test]
fn errors_name_the_place_and_what_would_be_right() {
    assert_eq!(
        error("[zip]\na = [1, 2]\nb = [1]"),
        "test.toml:1:1: D006: `b` has 1 value, `a` has 2; the keys of [zip] advance together: give each as many values"
    );
    assert!(Definition::parse("test.toml", "schedule_for = 'machine'").is_ok());
    assert_eq!(
        error("[[list]]\nhple.count = 64\nvdm.banks = 32\n[[list]]\nvdm.banks = 32\nhple.count = 64"),
        "test.toml:5:13: D006: two rows of `list` have the same values; give each row once"
    );
    assert_eq!(
        error("[grid]\nn = []"),
        "test.toml:2:5: D004: `n` needs a list of values; write `n = [1, 2]`"
    );
    assert_eq!(error("[grid]\nn = 4"), "test.toml:2:5: D004: `n` needs a list of values; write `n = [4]`");
    assert_eq!(
        error("[grid]\nn = [1024]\n[[list]]\nn = 2048"),
        "test.toml:4:5: D006: `n` is varied twice; keep it in one of [grid], [zip] and [[list]]"
    );
    assert!(error("gird = 1").starts_with("test.toml:1:1: D002: unknown key `gird`; did you mean `grid`?"));
    for key in ["\" \"", "\"n=1024 hple.count\""] {
        assert!(
            error(&format!("[grid]\n{key} = [1]")).starts_with("test.toml:2:1: D002: unknown key"),
            "{key}"
        );
    }
    assert!(error("seed = 'x'").starts_with("test.toml:1:8: "));
    assert!(error("[sample]\npoint = 3").starts_with("test.toml:2:1: "));
    assert!(error("x = ").starts_with("test.toml:1:"));
    assert_eq!(
        error("schedule_for = ['hple.count', 'vdm.banks']\n[grid]\nn = [1024]\nhple.count = [64]"),
        "test.toml:1:31: D004: the sweep does not vary a machine key `vdm.banks`; the varied machine keys are `hple.count`"
    );
    assert!(error("schedule_for = 'both'").starts_with("test.toml:1:16: D004: invalid `schedule_for`"));
    assert!(error("schedule_for = [1]").starts_with("test.toml:1:17: D004: invalid `schedule_for`"));
    assert_eq!(
        error("[halving]\nkeep = 0.5"),
        "test.toml:1:2: D004: sweeps with a halving are no longer supported; \
         leave [halving] out; `rpu explore` finds the front without simulating every point"
    );
}

#[test]
fn every_error_is_reported() {
    let text =
        "sed = 1\nseed = 'x'\n[grid]\nn = 4\nhple.count = [4, [5]]\nvdm.banks = []\n[sample]\npoints = 0\n";
    let errors = Definition::parse("test.toml", text).unwrap_err();
    let positions: Vec<_> = errors.iter().map(|error| error.position().unwrap()).collect();
    assert_eq!(positions, [(1, 1), (2, 8), (4, 5), (5, 18), (6, 13), (8, 10)]);
    assert!(
        error("inherits = 'rpu-128x128'\n[hple]\ncount = 4\n").contains("this is a machine, not a sweep")
    );
}

#[test]
fn references_and_texts_have_limits() {
    let references = |count: usize, label: usize| {
        let text = format!("[[reference]]\nlabel = '{}'\ntime_us = 1\n", "a".repeat(label)).repeat(count);
        Definition::parse("test.toml", &text).map_err(|errors| errors.to_string())
    };
    assert!(references(MAX_REFERENCES, 1).is_ok());
    assert!(references(MAX_REFERENCES + 1, 1).unwrap_err().contains("more than"));
    assert!(references(1, MAX_LABEL).is_ok());
    assert!(references(1, MAX_LABEL + 1).unwrap_err().contains("`label` has more than"));
    let title = |length| {
        let text = format!("title = '{}'", "a".repeat(length));
        Definition::parse("test.toml", &text).map_err(|errors| errors.to_string())
    };
    assert!(title(MAX_LABEL).is_ok());
    assert!(title(MAX_LABEL + 1).unwrap_err().contains("`title` has more than"));
    let keys = |count: usize| {
        let text = (0..count).map(|key| format!("[[list]]\nkey{key} = 1\n")).collect::<String>();
        Definition::parse("test.toml", &text).map_err(|errors| errors.to_string())
    };
    assert!(keys(1000).is_ok());
    assert!(keys(1001).unwrap_err().contains("more than 1000 keys"));
}

#[test]
fn a_key_that_varies_cannot_be_set() {
    let mut definition = Definition::parse("test.toml", "[grid]\nn = [1024, 2048]").unwrap();
    let change = Override::parse("n=4096").unwrap();
    assert!(definition.set(&change).unwrap_err().to_string().contains("sets a key that the sweep varies"));
}

/// Each error of a long text once held a copy of it, and each value of an unknown key was resolved.
#[test]
fn many_errors_take_little_time() {
    let begin = std::time::Instant::now();
    let rows = "[[list]]\nhple.count = [1]\n".repeat(50_000);
    let errors = Definition::parse("test.toml", &rows).unwrap_err();
    assert_eq!(errors.len(), 50_000);
    let values: Vec<String> = (1..100_000).map(|value| value.to_string()).collect();
    let text = format!("n = 1024\n[grid]\nhple.cuont = [{}]\n", values.join(","));
    let errors = Plan::new(&Definition::parse("test.toml", &text).unwrap()).unwrap_err();
    assert_eq!(errors.len(), 1);
    let rows: String = (0..100_000).map(|row| format!("[[list]]\nkey{row} = 1\n")).collect();
    let errors = Definition::parse("test.toml", &rows).unwrap_err();
    assert!(errors.to_string().contains("more than 1000 keys in all rows of `list`"), "{errors}");
    // Two minutes before.
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

#[test]
fn values_are_checked_beside_other_errors_where_none_was_found() {
    let text = "sed = 1\n[grid]\nhple.count = [3]\n";
    let errors = Definition::parse("test.toml", text).unwrap_err();
    let positions: Vec<_> = errors.iter().map(|error| error.position().unwrap()).collect();
    assert_eq!(positions, [(1, 1), (3, 15)]);
}
