//! The cache of plan searches.

use b512_asm::Setting;
use codegen::plan::{Plan, Shape};
use codegen::schedule::Tuning;
use codegen::search::Memory;
use codegen::{Order, Recipe, Request};
use lab_sweep::tuning::Cache;
use ring::{Degree, Ring};
use sim::Machine;
use sim::timing::Cycle;
use std::fs;

#[cfg(unix)]
#[test]
fn a_link_is_no_cache() {
    let ring = Ring::with_smallest_root(Degree::new(2048).unwrap(), 12289).unwrap();
    let (request, machine) = (Request::single(golden::NTT, ring), Machine::rpu_128x128());
    let folder = tempfile::tempdir().unwrap();
    drop(Cache::open(folder.path(), &request, &machine).unwrap());
    let file = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    for target in ["/dev/zero", "/dev/null", "nowhere"] {
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(target, &file).unwrap();
        let error = Cache::open(folder.path(), &request, &machine).map(drop).unwrap_err();
        assert!(error.to_string().ends_with(": it is no file"), "{error}");
    }
}

#[test]
fn results_are_found_again_for_the_same_kernel_and_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = |depth| Recipe {
        tuning: Tuning::default(),
        order: Order::ByStep,
        stagger: None,
        forwarding: None,
        method: None,
        plans: vec![Plan::korn_lambiotte(Shape::b512(12), depth)],
    };
    let ring = Ring::with_smallest_root(Degree::new(2048).unwrap(), 12289).unwrap();
    let request = Request::single(golden::NTT, ring);
    let machine = Machine::rpu_128x128();
    let open = |machine: &Machine| Cache::open(folder.path(), &request, machine).unwrap();

    let cache = open(&machine);
    assert_eq!(cache.get(&recipe(1)), None);
    cache.put(&recipe(1), Some(Cycle(500)));
    cache.put(&recipe(2), None);
    cache.put(&recipe(3), Some(Cycle(400)));
    drop(cache);
    // A kill in the middle of a line leaves the file like this.
    let file = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.strip_suffix("00.\n").unwrap()).unwrap();

    let cache = open(&machine);
    assert_eq!(cache.get(&recipe(1)), Some(Some(Cycle(500))));
    assert_eq!(cache.get(&recipe(2)), Some(None));
    assert_eq!(cache.get(&recipe(3)), None);
    cache.put(&recipe(3), Some(Cycle(400)));
    drop(cache);
    assert_eq!(open(&machine).get(&recipe(3)), Some(Some(Cycle(400))));

    let mut other = machine.clone();
    other.edit(|values| values.vdm.banks = 64).unwrap();
    assert_eq!(open(&other).get(&recipe(1)), None);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.lines().all(|line| !line.is_empty()), "{text}");

    let scaled = |by| {
        let parameters = codegen::Parameters::new(vec![("by".to_owned(), Setting::Number(by))]);
        let request = Request::single("muls".parse().unwrap(), ring).with(parameters);
        Cache::open(folder.path(), &request, &machine).unwrap()
    };
    scaled(3).put(&recipe(1), Some(Cycle(100)));
    assert_eq!(scaled(3).get(&recipe(1)), Some(Some(Cycle(100))));
    assert_eq!(scaled(5).get(&recipe(1)), None);
}
