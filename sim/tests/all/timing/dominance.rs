//! The order of machines by speed.

use sim::machine::keys;
use sim::machine::table::{Effect, Faster, Key, Kind};
use sim::testing as random;
use sim::timing::simulate;
use sim::{Machine, Override};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use toml::Value;

/// The machine with a faster value of a key. A number is halved or doubled, a switch is set, and a choice is
/// the last one. `None` if the value is invalid.
fn improved(machine: &Machine, key: &Key, faster: Faster) -> Option<Machine> {
    let (_, value) = machine.values().into_iter().find(|(of, _)| of.path == key.path)?;
    let value = match key.kind {
        Kind::Int(..) | Kind::PowerOfTwo(..) => match faster {
            Faster::Smaller => Value::Integer(value.as_integer()? / 2),
            Faster::Larger => Value::Integer(value.as_integer()? * 2),
        },
        Kind::Bool => Value::Boolean(true),
        Kind::Choice(choices) => Value::String(choices.last()?.text.to_owned()),
        Kind::Text | Kind::Positive | Kind::Share | Kind::NotNegative | Kind::Clock => return None,
    };
    // Split paths need two ports.
    let ports = (key.path == "vbar.paths").then_some("vdm.ports=2".to_owned());
    let settings = ports.into_iter().chain([format!("{}={value}", key.path)]);
    let assignments: Option<Vec<_>> =
        settings.map(|text| Override::parse(&text).ok()?.assignment()).collect();
    machine.with(&assignments?)
}

/// A faster value of a key slows no program, VRF port conflicts aside. Each key with an order is tried.
#[test]
fn a_better_machine_is_not_slower_without_port_conflicts() {
    let counts: Mutex<BTreeMap<&'static str, usize>> = Mutex::default();
    random::check(7, 1000, (random::programs(24), random::machines()), |program, machine| {
        let mut machine = machine.clone();
        machine.edit(|values| values.ideal.vrf_ports = true).unwrap();
        let cycles = simulate(&machine, program).cycles;
        for key in keys() {
            let Some(better) = key.faster.and_then(|faster| improved(&machine, key, faster)) else {
                continue;
            };
            // Loads on a shared path lose a port if it is split.
            if !better.dominates(&machine) || better == machine {
                continue;
            }
            *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(key.path).or_default() += 1;
            let fewer = simulate(&better, program).cycles;
            if fewer > cycles {
                return Err(format!("{}: {fewer} cycles instead of {cycles}", key.path));
            }
        }
        Ok(())
    });
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let seldom = |key: &&Key| counts.get(key.path).is_none_or(|&count| count < 100);
    let seldom: Vec<&str> =
        keys().filter(|key| key.faster.is_some()).filter(seldom).map(|key| key.path).collect();
    assert_eq!(seldom, ["ideal.vrf_ports"], "{counts:?}");
}

/// Every key that affects cycles has an order, or changes a program's accesses.
#[test]
fn few_keys_have_no_order() {
    let has_none = |key: &&Key| key.effects.contains(&Effect::Cycles) && key.faster.is_none();
    let unordered: Vec<&str> = keys().filter(has_none).map(|key| key.path).collect();
    let expected = [
        "isa.vector_length",
        "vrf.placement",
        "vrf.arbitration",
        "vdm.mapping",
        "vdm.size_mib",
        "vdm.access_cycles",
    ];
    assert_eq!(unordered, expected);
    assert!(keys().all(|key| key.faster.is_none() || key.effects.contains(&Effect::Cycles)));
}

#[test]
fn dominance_is_an_order() {
    let paper = Machine::rpu_128x128();
    let change = |text: &str| {
        let changes = text.split(' ').map(|text| Override::parse(text).unwrap().assignment().unwrap());
        paper.with(&changes.collect::<Vec<_>>()).unwrap()
    };
    assert!(paper.dominates(&paper));
    let better = [
        "hple.count=256",
        "hple.multiplier_latency_cycles=10",
        "vdm.banks=256",
        "vbar.latency_cycles=3",
        "frontend.busyboard=shared-reads",
        "isa.gs_butterfly=true",
        "ideal.vrf_ports=true",
        "vdm.size_mib=8 vdm.access_cycles=1",
    ];
    for better in better {
        assert!(change(better).dominates(&paper) && !paper.dominates(&change(better)), "{better}");
    }
    for other in [
        "hple.count=256 vdm.banks=64",
        "vdm.mapping=xor",
        "hple.count=256 vdm.size_mib=2",
        // Its loads are later.
        "vdm.size_mib=8",
    ] {
        assert!(!change(other).dominates(&paper) && !paper.dominates(&change(other)), "{other}");
    }
    // Loads on a shared path have both ports.
    let split = change("vdm.ports=2 vbar.paths=split");
    assert!(split.dominates(&paper) && !split.dominates(&change("vdm.ports=2")));
}
