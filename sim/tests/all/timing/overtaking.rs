//! Accesses that overtake each other on split paths.

use b512_asm::{AReg, AddressMode, Instr, Log2, Offset, Program, VReg, VectorAccess, assemble};
use proptest::prelude::*;
use proptest::sample::select;
use sim::Machine;
use sim::machine::VbarPaths;
use sim::testing as random;
use sim::timing::{Overtaking, simulate};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

fn split() -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| (values.vdm.ports, values.vbar.paths) = (2, VbarPaths::Split)).unwrap();
    machine
}

fn found(machine: &Machine, program: &Program) -> Option<Overtaking> {
    simulate(machine, program).overtaking(machine, program)
}

/// The strided store takes two rounds a beat, and gets to word 512 in its third beat.
fn load_behind_store(filler: &str) -> Program {
    let source = format!(
        ".scratch x, 1024\nvload v1, a0, 2048\nvstore v1, a0, x, strided 2^1\n{filler}vload v2, a0, x+512\nhalt\n"
    );
    assemble(&source).unwrap()
}

#[test]
fn a_load_must_not_overtake_a_store() {
    let overtaking = found(&split(), &load_behind_store("")).unwrap();
    assert_eq!(overtaking, Overtaking { earlier: 1, later: 2, word: 512 });
    assert_eq!(found(&Machine::rpu_128x128(), &load_behind_store("")), None);
    // Another load occupies the path of loads, but not that of stores.
    assert_eq!(found(&split(), &load_behind_store("vload v3, a0, 3072\n")), None);
    // The register is busy until the store completes.
    let source =
        ".scratch x, 1024\nvload v1, a0, 2048\nvstore v1, a0, x, strided 2^1\nvload v1, a0, x+512\nhalt\n";
    assert_eq!(found(&split(), &assemble(source).unwrap()), None);
}

#[test]
fn a_store_must_not_overtake_a_load() {
    let source = ".scratch x, 1024\nvload v1, a0, 2048\nvload v2, a0, 3072\nvload v3, a0, x, strided 2^1\nvstore v1, a0, x+512\nhalt\n";
    let overtaking = found(&split(), &assemble(source).unwrap()).unwrap();
    assert_eq!(overtaking, Overtaking { earlier: 2, later: 3, word: 512 });
}

#[test]
fn accesses_alike_may_follow_each_other_at_once() {
    let source = ".scratch x, 1024\nvload v1, a0, 2048\nvstore v1, a0, x\nvload v3, a0, x\nhalt\n";
    assert_eq!(found(&split(), &assemble(source).unwrap()), None);
}

/// The load issues in the cycle in which the store accesses the words for the last time.
#[test]
fn a_load_in_the_last_cycle_of_a_store_overtakes_it() {
    let mut machine = split();
    machine
        .edit(|values| {
            values.frontend.fetch_to_dispatch_cycles = 0;
            values.frontend.dispatch_to_issue_cycles = 1;
        })
        .unwrap();
    for (latency, word) in [(6, Some(896)), (7, None)] {
        machine.edit(|values| values.scalar.load_latency_cycles = latency).unwrap();
        let source =
            ".scratch x, 1024\nvstore v1, a0, x, strided 2^1\nsload s1, 0\nvload v2, a0, x+896\nhalt\n";
        let expected = word.map(|word| Overtaking { earlier: 0, later: 2, word });
        assert_eq!(found(&machine, &assemble(source).unwrap()), expected);
    }
}

/// The same by definition: all cycles of all words.
fn by_definition(machine: &Machine, program: &Program) -> Option<(usize, usize)> {
    let timing = simulate(machine, program);
    let accesses: Vec<(bool, Vec<(u32, u64)>)> = program
        .instructions
        .iter()
        .zip(&timing.timestamps)
        .map(|(instr, times)| {
            let Some(VectorAccess { store, offset, mode, .. }) = instr.vector_access() else {
                return (false, Vec::new());
            };
            let lanes = machine.hple.count.min(machine.vdm.banks);
            let (mut words, mut beat_begin) = (Vec::new(), times.issue.0);
            for beat in 0..machine.vector_length() / lanes {
                let mut of_beat: Vec<u32> = Vec::new();
                let mut rounds = 1;
                for lane in beat * lanes..(beat + 1) * lanes {
                    let word = offset.words() + mode.element(lane);
                    if machine.vdm.multicast && !store && of_beat.contains(&word) {
                        continue;
                    }
                    let bank = |word: u32| machine.vdm.mapping.bank(word, machine.vdm.banks);
                    let before = of_beat.iter().filter(|&&other| bank(other) == bank(word)).count() as u64;
                    of_beat.push(word);
                    let round = if machine.ideal.bank_conflicts { 0 } else { before };
                    rounds = rounds.max(round + 1);
                    words.push((word, beat_begin + round * u64::from(machine.vbar.initiation_interval)));
                }
                beat_begin += rounds * u64::from(machine.vbar.initiation_interval);
            }
            (store, words)
        })
        .collect();
    let meets = |&(earlier, later): &(usize, usize)| {
        let ((one, first), (other, second)) = (&accesses[earlier], &accesses[later]);
        one != other
            && first.iter().any(|(word, at)| second.iter().any(|(same, then)| same == word && then <= at))
    };
    let pairs = (0..accesses.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    pairs.into_iter().find(meets)
}

/// Loads and stores of a few words in several modes.
fn movers() -> BoxedStrategy<Program> {
    let log = |log| Log2::new(log).unwrap();
    let mode = select(vec![
        AddressMode::Linear,
        AddressMode::Strided(log(1)),
        AddressMode::StridedSkip(log(2)),
        AddressMode::Repeated(log(3)),
    ]);
    let access = (any::<bool>(), 0..6usize, 0..4u32, mode).prop_map(|(store, register, block, mode)| {
        let (base, offset, v) = (AReg::at(0), Offset::new(128 * block).unwrap(), VReg::at(register));
        if store {
            Instr::Vstore { vs: v, base, offset, mode }
        } else {
            Instr::Vload { vd: v, base, offset, mode }
        }
    });
    prop::collection::vec(access, 1..8)
        .prop_map(|instructions| Program { instructions, ..Program::default() })
        .boxed()
}

#[test]
fn random_accesses_overtake_as_defined() {
    let cases = [const { AtomicUsize::new(0) }; 2];
    random::check(3, 400, (movers(), random::machines()), |program, machine| {
        let mut machine = machine.clone();
        machine
            .edit(|values| {
                values.vbar.paths = VbarPaths::Split;
                values.vdm.ports = values.vdm.ports.max(2);
            })
            .unwrap();
        let found = found(&machine, program).map(|overtaking| (overtaking.earlier, overtaking.later));
        let expected = by_definition(&machine, program);
        cases[usize::from(found.is_some())].fetch_add(1, Relaxed);
        if found == expected { Ok(()) } else { Err(format!("{found:?} in place of {expected:?}")) }
    });
    assert!(cases.iter().all(|count| count.load(Relaxed) > 20), "{cases:?}");
}
