//! Programs with functions mean their expansions.

use crate::round_trip::{Choice, program};
use proptest::prelude::*;
use ring_program::data::Words;
use ring_program::need::{Need, Needs};
use ring_program::{
    Call, ExecuteError, Inputs, Interface, LimbId, Manifest, RingProgram, Step, execute, read,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

const DEGREE: u64 = 512;

/// A function with the lines of a program without functions.
fn function(name: &str, program: &RingProgram) -> String {
    let ids = |groups: &[ring_program::Group]| {
        let ids: Vec<String> =
            groups.iter().flat_map(|group| program.ids(group)).map(|id| id.to_string()).collect();
        ids.join(", ")
    };
    let text = program.to_text();
    let lines = text.lines().filter(|line| line.starts_with("sr_"));
    let lines: String = lines.map(|line| format!("  {line}\n")).collect();
    format!("function {name} {} -> {}\n{lines}end\n", ids(program.inputs()), ids(program.outputs()))
}

/// A call of one of some functions on few limbs, with results in distinct ones.
fn call(functions: &[RingProgram], (function, limbs): &(usize, Vec<u64>)) -> String {
    let (index, functions) = (function % functions.len(), functions);
    let count = |groups: &[ring_program::Group]| groups.iter().map(|group| group.limbs.len()).sum::<usize>();
    let [parameters, results] = [functions[index].inputs(), functions[index].outputs()].map(count);
    let mut limbs = limbs.iter().copied().cycle();
    let arguments: Vec<String> = (0..parameters).map(|_| format!("%{}", limbs.next().unwrap() % 6)).collect();
    let first = limbs.next().unwrap() % 6;
    let results: Vec<String> = (0..results as u64).map(|index| format!("%{}", first + index)).collect();
    format!("call f{index} {} -> {}\n", arguments.join(", "), results.join(", "))
}

type Calls = Vec<(u8, (usize, Vec<u64>))>;

fn text(bodies: &[RingProgram], calls: &Calls) -> String {
    let head = bodies[0].to_text();
    let mut text: String =
        head.lines().take(2 + bodies[0].moduli().len()).map(|line| format!("{line}\n")).collect();
    for (index, body) in bodies.iter().enumerate() {
        text += &function(&format!("f{index}"), body);
    }
    let mut open = 0;
    for (kind, choice) in calls {
        if kind % 4 == 0 && open < 3 {
            writeln!(text, "repeat {}", 1 + kind / 64).unwrap();
            open += 1;
        }
        text += &call(bodies, choice);
        if kind % 4 == 1 && open > 0 {
            text += "end\n";
            open -= 1;
        }
    }
    text + &"end\n".repeat(open) + "halt\n"
}

/// One modulus, so that all words are residues.
pub(crate) fn texts() -> impl Strategy<Value = (Vec<RingProgram>, String)> {
    let choice = (any::<u8>(), any::<[u64; 3]>(), any::<u8>(), any::<u128>(), any::<u32>());
    let bodies = prop::collection::vec(prop::collection::vec(choice, 1..8), 1..4);
    let calls = prop::collection::vec(
        (any::<u8>(), (any::<usize>(), prop::collection::vec(any::<u64>(), 1..9))),
        1..8,
    );
    (bodies, calls).prop_map(|(bodies, calls)| {
        let bodies: Vec<RingProgram> =
            bodies.into_iter().map(|choices: Vec<Choice>| program(9, 1, choices)).collect();
        let text = text(&bodies, &calls);
        (bodies, text)
    })
}

/// Runs the steps, each call by itself.
fn run(program: &RingProgram, steps: &[Step], words: &mut BTreeMap<LimbId, Words>) {
    for step in steps {
        match step {
            Step::Repeat(count, steps) => (0..count.get()).for_each(|_| run(program, steps, words)),
            Step::Call(call) => {
                let id = |limb| program.limbs().id(limb);
                let mut inputs = Inputs::new(program.function(call.function).body());
                let arguments = call.arguments.iter().map(|&limb| words[&id(limb)].clone());
                inputs.set("parameters", arguments).unwrap();
                let results = execute(&inputs).unwrap().remove(0);
                words.extend(call.results.iter().map(|&limb| id(limb)).zip(results));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn calls_are_written_and_read((_, text) in texts()) {
        let program = read("", text.as_bytes(), Interface::Degree(DEGREE)).unwrap();
        let manifest = Manifest::of(&program);
        prop_assert_eq!(&read("", program.to_text().as_bytes(), Interface::Degree(DEGREE)).unwrap(), &program);
        let again = read("", program.to_text().as_bytes(), Interface::Manifest(&manifest)).unwrap();
        prop_assert_eq!(again.to_text(), program.to_text());
    }

    #[test]
    fn a_program_is_its_expansion((_, text) in texts()) {
        let program = read("", text.as_bytes(), Interface::Degree(DEGREE)).unwrap();
        let mut inputs = Inputs::new(&program);
        inputs.fill(1);
        let limbs = program.inputs().iter().flat_map(|group| &group.limbs);
        let mut words: BTreeMap<LimbId, Words> = limbs
            .map(|&limb| (program.limbs().id(limb), inputs.words(limb).unwrap()))
            .collect();
        run(&program, program.steps(), &mut words);
        let outputs = execute(&inputs).unwrap();
        for (group, output) in program.outputs().iter().zip(&outputs) {
            let expected: Vec<Words> = program.ids(group).iter().map(|id| words[id].clone()).collect();
            prop_assert_eq!(&expected, output);
        }
        // The plain text computes the same from the same limbs.
        let flat = program.flat();
        prop_assert!(flat.functions().is_empty() && flat.steps().is_empty());
        prop_assert_eq!(flat.outputs().len(), program.outputs().len());
        prop_assert_eq!(flat.length(), program.length());
        prop_assert_eq!(flat.lines_by_opcode(), program.lines_by_opcode());
        prop_assert_eq!(program.lines_by_opcode().values().sum::<u64>(), program.length());
        let flat = read("", flat.to_text().as_bytes(), Interface::Manifest(&Manifest::of(&flat))).unwrap();
        prop_assert!(flat.functions().is_empty());
        let mut inputs = Inputs::new(&flat);
        for group in flat.inputs() {
            inputs.set(&group.name, group.limbs.iter().map(|&limb| {
                let mut all = Inputs::new(&program);
                all.fill(1);
                all.words(program.limbs().iter().find(|&of| program.limbs().id(of) == flat.limbs().id(limb)).unwrap()).unwrap()
            })).unwrap();
        }
        prop_assert_eq!(execute(&inputs).unwrap(), outputs);
    }

    #[test]
    fn outputs_are_what_no_call_reads((_, text) in texts()) {
        let program = read("", text.as_bytes(), Interface::Degree(DEGREE)).unwrap();
        let calls: Vec<_> = program.calls().collect();
        let expected: BTreeSet<_> = calls.iter().flat_map(|call| &call.results).filter(|limb| {
            let last = calls.iter().rposition(|call| call.results.contains(limb)).unwrap();
            !calls[last + 1..].iter().any(|call| call.arguments.contains(limb))
        }).collect();
        let outputs: BTreeSet<_> = program.outputs().iter().flat_map(|group| &group.limbs).collect();
        prop_assert_eq!(outputs, expected);
    }
}

/// Two sums of three parameters: a call needs the parameters of the result that something reads.
#[test]
fn calls_need_what_their_results_depend_on() {
    let text = "modulus_count 2\nm[0] 0xffffffffffffffff\nm[1] 0x3001\n\
        function sums %1, %2, %3 -> %4, %5\n\
        sr_addp %4, %1, %2, m=1\nsr_addp %5, %2, %3, m=1\nend\n\
        call sums %0, %1, %2 -> %10, %11\ncall sums %0, %1, %2 -> %12, %13\n\
        call sums %0, %1, %10 -> %14, %12\nhalt\n";
    let needs = |outputs: &str| -> Vec<Need> {
        let manifest =
            format!(r#"{{"ring_dimension": 512, "inputs": {{"x": [0, 1, 2]}}, "outputs": {outputs}}}"#);
        let manifest = Manifest::parse("", &manifest, Path::new("")).unwrap();
        let program = read("", text.as_bytes(), Interface::Manifest(&manifest)).unwrap();
        let calls: Vec<&Call> = program.calls().collect();
        Needs::of(&program, &calls).iter().cloned().collect()
    };
    let [first, second] = [([true, false], [true, true, false]), ([false, true], [false, true, true])]
        .map(|(results, parameters)| Need { results: results.to_vec(), parameters: parameters.to_vec() });
    // The second call's first result is written again before anything reads it.
    assert_eq!(needs(r#"{"y": [12], "z": [13]}"#), [first, second.clone(), second]);
    let nothing: Vec<bool> = needs(r#"{"z": [13]}"#).iter().map(Need::is_nothing).collect();
    assert_eq!(nothing, [true, false, true]);
}

#[test]
fn ids_between_others_serve_if_none_are_left_behind_the_last() {
    let results = [7, u64::MAX].map(|id| {
        let text = format!(
            "modulus_count 2\nm[0] 0xffffffffffffffff\nm[1] 0x3001\nfunction sum %1, %2 -> %3\nsr_addp %3, %1, %2, m=1\nend\n\
             call sum %0, %0 -> %{id}\ncall sum %{id}, %0 -> %1\nhalt\n"
        );
        let program = read("", text.as_bytes(), Interface::Degree(DEGREE)).unwrap();
        let mut inputs = Inputs::new(&program);
        inputs.fill(1);
        execute(&inputs).unwrap()
    });
    assert_eq!(results[0], results[1]);
}

/// Not as the expansion, where limbs of functions have ids of their own.
#[test]
fn an_error_names_the_limb_of_the_text() {
    let text = "modulus_count 3\nm[0] 0xffffffffffffffff\nm[1] 0xa001\nm[2] 0x3001\n\
        function f %1 -> %3\nsr_mulps %2, %1, 1, m=1\nsr_negp %3, %2, m=2\nend\ncall f %0 -> %9\nhalt\n";
    let program = read("", text.as_bytes(), Interface::Degree(DEGREE)).unwrap();
    let mut inputs = Inputs::new(&program);
    inputs.fill(1);
    let error = execute(&inputs).unwrap_err();
    assert!(matches!(error, ExecuteError::NotReduced { operation: 1, id: LimbId(2), .. }), "{error}");
}

#[test]
fn the_expansion_has_no_function_that_nothing_calls() {
    let text = "modulus_count 2\nm[0] 0xffffffffffffffff\nm[1] 0xa001\nfunction f %1 -> %3\nsr_negp %3, %1, m=1\nend\nhalt\n";
    let program = read("", text.as_bytes(), Interface::Degree(DEGREE)).unwrap();
    assert!(program.flat().functions().is_empty());
}

/// What a short text may make a run do, at both sides of each limit.
#[test]
fn calls_and_lists_are_limited_by_the_text() {
    let head = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n";
    let read_text = |text: String| read("a.fhetch", text.as_bytes(), Interface::Degree(DEGREE));
    let most = RingProgram::FREE_LINES + RingProgram::LINES_PER_LINE;
    // One line, and few limbs.
    let repeated = |count: u64| {
        format!(
            "{head}function f %1 -> %1\nsr_mulps %1, %1, 3, m=1\nend\nrepeat {count}\ncall f %1 -> %1\nend\nhalt\n"
        )
    };
    assert_eq!(read_text(repeated(most)).unwrap().length(), most);
    let error = read_text(repeated(most + 1)).unwrap_err().to_string();
    assert!(error.contains("the most for functions of 1 line are 1048640"), "{error}");
    // As many limbs as take the time of 16 lines.
    let passed = |count: u64| {
        format!(
            "{head}function f %1..%128 -> %1..%128\nsr_mulps %1, %1, 3, m=1\nend\nrepeat {count}\n\
             call f %1..%128 -> %1..%128\nend\nhalt\n"
        )
    };
    assert!(read_text(passed(most / 17)).is_ok());
    assert!(read_text(passed(most / 17 + 1)).is_err());
    // Lists: four of them, within 2^21 limbs and 64 for each of eight lines.
    let listed = |limbs: u64| {
        format!(
            "{head}function f %1..%{limbs} -> %1..%{limbs}\nsr_mulps %1, %1, 3, m=1\nend\n\
             call f %1..%{limbs} -> %1..%{limbs}\nhalt\n"
        )
    };
    let most = ((1 << 21) + 64 * 7) / 4;
    assert!(read_text(listed(most)).is_ok());
    let error = read_text(listed(most + 1)).unwrap_err().to_string();
    assert!(error.contains("the lists of functions and calls have"), "{error}");
}
