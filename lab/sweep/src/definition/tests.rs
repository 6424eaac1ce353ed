use super::*;

/// Each point as `key=value key=value`.
fn points(text: &str) -> Vec<String> {
    let definition = Definition::parse("test.toml", text).unwrap();
    let setting = |setting: &&Setting| format!("{}={}", setting.key, setting.value);
    let settings = |number: &u64| -> Vec<String> {
        definition.point_at(&definition.digits(*number)).iter().map(setting).collect()
    };
    definition.numbers().unwrap().iter().map(|number| settings(number).join(" ")).collect()
}

fn error(text: &str) -> String {
    Definition::parse("test.toml", text).unwrap_err().to_string()
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
    let text = "[grid]\na.b = [1, 2]\n[zip]\nc = [3, 4]\nd = [5, 6]\n[[list]]\ne.f = 7\n[[list]]\ng = 'h'";
    assert_eq!(
        points(text),
        [
            "a.b=1 c=3 d=5 e.f=7",
            "a.b=1 c=3 d=5 g=\"h\"",
            "a.b=1 c=4 d=6 e.f=7",
            "a.b=1 c=4 d=6 g=\"h\"",
            "a.b=2 c=3 d=5 e.f=7",
            "a.b=2 c=3 d=5 g=\"h\"",
            "a.b=2 c=4 d=6 e.f=7",
            "a.b=2 c=4 d=6 g=\"h\"",
        ]
    );
    assert_eq!(points("n = 1024"), [""]);
}

#[test]
fn samples_are_points_of_the_grid_without_repetition() {
    let grid = "[grid]\na = [1, 2, 3, 4, 5, 6, 7, 8]\nb = [1, 2, 3, 4, 5, 6, 7, 8]\n";
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

/// They stand for all points, for example where an error is looked for.
#[test]
fn some_points_have_each_alternative_of_each_axis() {
    let definition = Definition::parse("test.toml", "[grid]\na = [1, 2, 3]\nb = [4, 5]").unwrap();
    assert_eq!(definition.alternatives(), [vec![1, 0], vec![2, 0], vec![0, 1], vec![0, 0]]);
}

#[test]
fn a_point_has_the_row_of_a_list_that_says_most() {
    let text = "[[list]]\na = 1\n[[list]]\na = 1\nb = 2\n[[list]]\nb = 3\n";
    let definition = Definition::parse("test.toml", text).unwrap();
    let row = |settings: &[(&str, u64)]| {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).into()));
        definition.alternative_of(0, &settings.collect())
    };
    assert_eq!(row(&[("a", 1)]), Some(0));
    assert_eq!(row(&[("a", 1), ("b", 2)]), Some(1));
    assert_eq!(row(&[("a", 2), ("b", 3)]), Some(2));
    assert_eq!(row(&[("a", 2)]), None);
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
    let errors = crate::Plan::new(&Definition::parse("test.toml", &text).unwrap()).unwrap_err();
    assert_eq!(errors.len(), 1);
    let rows: String = (0..100_000).map(|row| format!("[[list]]\nkey{row} = 1\n")).collect();
    let errors = Definition::parse("test.toml", &rows).unwrap_err();
    assert!(errors.to_string().contains("more than 1000 keys in all rows of `list`"), "{errors}");
    // Two minutes before.
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}
