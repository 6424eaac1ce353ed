use super::*;

use codegen::schedule::Tuning;
use codegen::{PlanChoice, classical};
use lab_run::model::MODEL_VERSION;
use sim::Machine;

fn trials() -> (Space, Trials) {
    let space = Space::built_in().unwrap();
    let trials = Trials::built_in(&space).unwrap();
    (space, trials)
}

#[test]
fn the_paper_program_and_its_machine_are_what_the_rule_chooses() {
    let (space, trials) = trials();
    let chosen = trials.choose(&training_claims(&space)).unwrap();
    let PaperSetting { mut machine, depth, tuning } = space.setting(&chosen.picks).unwrap();
    let paper = Machine::rpu_128x128_paper();
    machine.edit(|values| values.name = paper.name.clone()).unwrap();
    assert_eq!(machine, paper, "{}", space.describe(&chosen.picks));
    let plan = classical(golden::NTT, 65536, depth, tuning);
    assert_eq!(plan, classical(golden::NTT, 65536, depth, Tuning::paper()));
    let kernel =
        |plan| codegen::generate(Rings::new().unwrap().request(65536), &paper, &plan).unwrap().recipe;
    assert_eq!(kernel(PlanChoice::Paper), plan);
}

#[test]
fn the_committed_trials_come_out_again() {
    let (space, trials) = trials();
    let chosen = trials.choose(&training_claims(&space)).unwrap();
    for trial in [chosen, &trials.all[0], &trials.all[trials.all.len() - 1]] {
        let again = Trials { all: vec![Trials::again(&space, trial).unwrap()] };
        let committed = Trials { all: vec![trial.clone()] };
        let text = |trials: &Trials| String::from_utf8(trials.csv(&space).unwrap()).unwrap();
        assert_eq!(
            text(&again),
            text(&committed),
            "run `rpu fit --setting -o lab/reproduction/data/paper-setting.csv`"
        );
    }
}

#[test]
fn trials_are_written_as_they_are_read() {
    let (space, trials) = trials();
    assert_eq!(String::from_utf8(trials.csv(&space).unwrap()).unwrap(), TRIALS);
    let candidates = space.candidates();
    assert_eq!(candidates.len(), space.size());
    assert!(trials.all.iter().all(|trial| candidates.contains(&trial.picks)));
    assert!(trials.all.iter().map(|trial| &trial.picks).is_sorted());
}

#[test]
fn fewer_missed_claims_come_first_then_smaller_deviations_then_simplicity() {
    // The paper's value if there is one; otherwise a value within the bounds.
    let perfect: Vec<f64> = simulated().map(|(_, part)| part.paper.example()).collect();
    let at = |id: &str, quantity: usize| {
        let mut indices = simulated().enumerate().filter(|(_, (claim, _))| claim.id == id);
        indices.nth(quantity).unwrap().0
    };
    let trial = |picks: Picks, off: f64| {
        let mut numbers = perfect.clone();
        numbers[at("C3", 0)] *= 1.0 + off;
        Trial { picks, numbers }
    };
    let chosen = |all: Vec<Trial>| Trials { all }.choose(&["C1", "C3"]).unwrap().picks.clone();
    // Simpler, but with a larger deviation.
    assert_eq!(chosen(vec![trial(vec![0, 0], 0.04), trial(vec![1, 1], 0.03)]), [1, 1]);
    // The same deviation, and simpler.
    assert_eq!(chosen(vec![trial(vec![1, 1], 0.03), trial(vec![0, 1], 0.03)]), [0, 1]);
    // One narrowly missed claim outweighs narrow agreement elsewhere.
    let mut missed = trial(vec![0, 0], 0.0);
    missed.numbers[at("C1", 0)] *= 1.051;
    let mut met = trial(vec![1, 1], 0.049);
    met.numbers[at("C1", 0)] *= 1.049;
    assert_eq!(chosen(vec![missed, met]), [1, 1]);
    // Claims outside the training set do not count.
    let mut elsewhere = trial(vec![0, 0], 0.0);
    elsewhere.numbers[at("C9", 0)] *= 3.0;
    assert_eq!(chosen(vec![trial(vec![1, 1], 0.0), elsewhere]), [0, 0]);
}

#[test]
fn a_run_that_was_killed_goes_on_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let mut space = Space::built_in().unwrap();
    // One candidate that the committed trials have.
    let trial = Trials::built_in(&space).unwrap().all.remove(0);
    for (choice, pick) in space.choice.iter_mut().zip(&trial.picks) {
        choice.values = vec![choice.values[*pick].clone()];
    }
    let only = vec![0; space.choice.len()];
    let log = Log::open(&path, &space).unwrap();
    log.put(&Entry { picks: only.clone(), in_time: true, numbers: None }).unwrap();
    let numbers = vec![0.25; trial.numbers.len()];
    log.put(&Entry { picks: only.clone(), in_time: true, numbers: Some(numbers.clone()) }).unwrap();
    drop(log);
    // A kill leaves a part of a line.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"picks\"")).unwrap();
    let log = Log::open(&path, &space).unwrap();
    let run = Trials::run(&space, Some(&log), &|_, _| ()).unwrap();
    assert_eq!(run.all, [Trial { picks: only, numbers }], "nothing was simulated again");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);

    let of_version = |model: u32| {
        let from = format!("\"model\":{MODEL_VERSION}");
        std::fs::write(&path, text.replacen(&from, &format!("\"model\":{model}"), 1)).unwrap();
        Log::open(&path, &space).map(drop).map_err(|error| error.to_string())
    };
    let expected = format!(": a log by version 7 of the models, and this rpu has version {MODEL_VERSION}");
    assert!(of_version(7).unwrap_err().ends_with(&expected));
    assert_eq!(of_version(MODEL_VERSION), Ok(()));

    // The rest is simulated: as if nothing had been interrupted.
    let mut whole = space.clone();
    let other = whole.choice.iter_mut().find(|choice| choice.key == "scheduler.table").unwrap();
    other.values = vec!["by-size".into(), "by-use".into()];
    let kept = folder.path().join("kept.jsonl");
    let uninterrupted = Trials::run(&whole, Some(&Log::open(&kept, &whole).unwrap()), &|_, _| ()).unwrap();
    let text = std::fs::read_to_string(&kept).unwrap();
    let some: Vec<&str> = text.lines().take(3).collect();
    std::fs::write(&kept, some.join("\n") + "\n{\"picks\":[0").unwrap();
    let resumed = Trials::run(&whole, Some(&Log::open(&kept, &whole).unwrap()), &|_, _| ()).unwrap();
    assert_eq!(resumed, uninterrupted);

    let other = Space { depth: 4, ..space };
    assert!(matches!(Log::open(&path, &other), Err(LogError::Other { .. })));
    log.remove().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_log_is_beside_the_output_if_that_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("trials.csv");
    let expected = Some(folder.path().join("trials.csv.log"));
    assert_eq!(Log::beside(&output), expected);
    std::fs::write(&output, "").unwrap();
    assert_eq!(Log::beside(&output), expected);
    assert_eq!(Log::beside(folder.path()), None);
}
