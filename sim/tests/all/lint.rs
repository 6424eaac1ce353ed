//! Defects of programs that a machine would run.

use b512_asm::reg::REGISTERS;
use b512_asm::{
    AReg, AddressMode, Code, Defect, Instr, Log2, MReg, Offset, Program, Role, Segment, Space, Symbol, VReg,
    assemble,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sim::functional::Executor;
use sim::lint::{self, errors, warnings};
use sim::{Machine, MachineBase, Override};

fn machine(overrides: &[&str]) -> Machine {
    let overrides: Vec<Override> = overrides.iter().map(|text| Override::parse(text).unwrap()).collect();
    MachineBase::built_in("rpu-128x128").unwrap().machine(&overrides).unwrap()
}

fn codes(defects: &[Defect]) -> Vec<Code> {
    defects.iter().map(|defect| defect.code).collect()
}

fn errors_of(source: &str) -> Vec<Defect> {
    errors(&assemble(source).unwrap(), &machine(&[]))
}

#[test]
fn a_good_program_has_no_defects() {
    let source = "\
.input x, 512
.output y, 512
.modulus m1, 97
.table k, 1, sdm
.words k { 5 }
.computes y = square(x), n=512, modulus=97
vload v1, a0, x
sload s1, k
vmul v2, v1, v1, m1
vmuls v3, v2, s1, m1
vstore v3, a0, y
halt
";
    let program = assemble(source).unwrap();
    assert_eq!(errors(&program, &machine(&[])), []);
    assert_eq!(warnings(&program, &machine(&[])), []);
}

#[test]
fn each_fault_is_found_once() {
    let source = "\
.output y, 512
vadd v1, v2, v2, m1
vadds v3, v1, s1, m1
vload v4, a0, 0x2000
vload v5, a0, 0x2000
sload s2, 7
vstore v3, a0, y
vload v6, a0, 0x3fe01
sload s3, 0xfffff
halt
";
    let defects = errors_of(source);
    let expected = [
        Code::Undefined,
        Code::UnsetModulus,
        Code::Undefined,
        Code::Undefined,
        Code::Undefined,
        Code::OutsideMemory,
        Code::OutsideMemory,
    ];
    assert_eq!(codes(&defects), expected, "{defects:#?}");
    assert_eq!(defects[3].message, "word 0x2000 of the VDM is read before it is written");
    assert_eq!(defects[4].message, "word 0x7 of the SDM is read before it is written");
}

#[test]
fn a_word_is_named_by_the_smallest_symbol_around_it() {
    let source = "\
.scratch k, 512, sdm, at 0x80
.scratch part, 512, at 0x500
.scratch whole, 4096, at 0x200
.input x, 512, at 0x2000
vload v0, a0, x
vstore v0, a0, part
vload v1, a0, part+1
vload v2, a0, whole+2
halt
";
    let defects = errors_of(source);
    let messages: Vec<&str> = defects.iter().map(|defect| defect.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "word 0x700 (`whole` + 1280) is read before it is written",
            "word 0x202 (`whole` + 2) is read before it is written"
        ]
    );
    let defects = errors_of(&source.replace("vstore v0, a0, part\n", ""));
    assert_eq!(defects[0].message, "word 0x501 (`part` + 1) is read before it is written");
}

#[test]
fn outputs_are_written_from_the_inputs_of_their_claims() {
    let claim = ".computes y = f(x), n=512, modulus=97\n";
    let program = |body: &str| format!(".input x, 512\n.input z, 512\n.output y, 512\n{claim}{body}\nhalt\n");
    assert_eq!(codes(&errors_of(&program(""))), [Code::Unwritten]);
    let constant = "vload v1, a0, z\nvstore v1, a0, y";
    assert_eq!(codes(&errors_of(&program(constant))), [Code::Independent]);
    let right = "vload v1, a0, x\nvstore v1, a0, y";
    assert_eq!(errors_of(&program(right)), []);
    // Inputs behind the first one are inputs as well.
    let of_z = |body: &str| program(body).replace("f(x)", "f(z)");
    assert_eq!(errors_of(&of_z(constant)), []);
    assert_eq!(codes(&errors_of(&of_z(right))), [Code::Independent]);
}

/// A load that reads the last words of a strided store overtakes it.
#[test]
fn an_access_that_overtakes_another_is_an_error_of_split_paths() {
    let source = |first: &str| {
        format!(
            ".input w, 512\n.scratch x, 1024\n.output y, 512\n{first}vload v1, a0, w\nvstore v1, a0, x\n\
             vstore v1, a0, x+512\nvstore v1, a0, x, strided 2^1\nvload v2, a0, x+512\nvstore v2, a0, y\nhalt\n"
        )
    };
    let found = |machine: &Machine, first: &str| errors(&assemble(&source(first)).unwrap(), machine);
    let split = machine(&["vdm.ports=2", "vbar.paths=\"split\""]);
    let defects = found(&split, "");
    assert_eq!(codes(&defects), [Code::Overtaking]);
    assert_eq!(defects[0].part.instruction(), Some(4));
    assert_eq!(found(&machine(&[]), ""), []);
    // A program with another error has no times.
    assert_eq!(codes(&found(&split, "vadd v3, v4, v4, m1\n")), [Code::Undefined, Code::UnsetModulus]);
}

#[test]
fn the_first_word_that_nothing_writes_is_named() {
    let program = |at: &str| {
        format!(".input x, 512\n.output y, 1024, at {at}\nvload v1, a0, x\nvstore v1, a0, {at}\nhalt\n")
    };
    let end_of_memory = errors_of(&program("0x3fc00"));
    assert_eq!(codes(&end_of_memory), [Code::Unwritten]);
    assert_eq!(end_of_memory[0].message, "no instruction writes word 512 of output `y`");
    // Whoever loads the program refuses it.
    assert_eq!(errors_of(&program("0x3fe00")), []);
}

#[test]
fn outputs_overlap_inputs_only_in_place() {
    let body = "vload v1, a0, x\nvstore v1, a0, y\nhalt\n";
    let program = |at: &str, claim: &str| format!(".input x, 512\n.output y, 512, at {at}\n{claim}\n{body}");
    let claim = ".computes y = f(x), n=512, modulus=97";
    assert_eq!(errors_of(&program("0", claim)), []);
    assert_eq!(codes(&errors_of(&program("0", ""))), [Code::Overlap]);
    assert_eq!(codes(&errors_of(&program("256", claim))), [Code::Overlap]);
    // Neighbours share no word, in both orders.
    assert_eq!(errors_of(&program("512", "")), []);
    assert_eq!(errors_of(&program("0", "").replace("x, 512", "x, 512, at 512")), []);
    // The words of an input are no result.
    let untouched = program("0", claim).replace("vstore v1, a0, y\n", "");
    assert_eq!(codes(&errors_of(&untouched)), [Code::Unwritten]);
}

#[test]
fn outputs_without_an_input_are_constant() {
    let constant = |body: &str| {
        let head = ".input x, 512\n.input p, 1, sdm\n.output y, 512\n.output z, 512\n.table k, 1, sdm\n.words k { 7 }\n";
        let program =
            assemble(&format!("{head}.modulus m1, 97\nvload v1, a0, x\nsload s1, k\n{body}halt\n")).unwrap();
        let machine = machine(&[]);
        let outputs = lint::constant_outputs(&program, &machine);
        outputs.into_iter().map(|output| output.name.clone()).collect::<Vec<_>>()
    };
    let stores = "vstore v2, a0, y\nvstore v1, a0, z\n";
    assert_eq!(constant("vstore v1, a0, z\n"), ["y"], "nothing writes it");
    assert_eq!(constant(&format!("vload v2, a0, x\n{stores}")), ["y"; 0]);
    assert_eq!(
        constant(".table t, 512\n.words t { 1 }\nvload v2, a0, t\nvstore v2, a0, y\nvstore v1, a0, z\n"),
        ["y"]
    );
    assert_eq!(
        constant("vload v2, a0, x\nvadds v2, v2, s1, m1\nvstore v2, a0, y\nvstore v2, a0, z\n"),
        ["y"; 0]
    );
}

#[test]
fn addresses_from_the_sdm_are_followed() {
    let program = |role: &str| {
        format!(
            ".output y, 512\n.{role} at, 1, sdm\n.input x, 512, at 0x1000\n{}",
            "aload a1, at\nvload v1, a1, 0\nvstore v1, a0, y\nhalt\n"
        )
    };
    let words = ".words at { 0x1000 }\n";
    assert_eq!(errors_of(&(words.to_owned() + &program("table"))), []);
    let wrong = ".words at { 0x2000 }\n";
    assert_eq!(codes(&errors_of(&(wrong.to_owned() + &program("table")))), [Code::Undefined]);
    // Only the data say whether this address is right.
    assert_eq!(errors_of(&program("input")), []);
    // Nor what a store at such an address writes: an output, or what is loaded later.
    let store =
        program("input").replace("vload v1, a1, 0\nvstore v1, a0, y", "vload v1, a0, x\nvstore v1, a1, 0");
    assert_eq!(errors_of(&store), []);
    assert_eq!(errors_of(&store.replace("halt", "vload v2, a0, 0x1400\nhalt")), []);
    assert!(lint::constant_outputs(&assemble(&store).unwrap(), &machine(&[])).is_empty());
    assert_eq!(warnings(&assemble(&store).unwrap(), &machine(&[])), []);
}

#[test]
fn wasted_work_is_a_warning() {
    let source = "\
.input x, 8192
.output y, 512
vload v1, a0, x, strided 2^4
vload v2, a0, x
vstore v1, a0, y
vstore v1, a0, y
halt
";
    let program = assemble(source).unwrap();
    let found = warnings(&program, &machine(&[]));
    assert_eq!(codes(&found), [Code::BankConflict, Code::Unused, Code::Unused], "{found:#?}");
    assert_eq!(found[0].message, "64 rounds of bank accesses instead of 4");
    assert_eq!(codes(&warnings(&program, &machine(&["vdm.mapping=xor"]))), [Code::Unused, Code::Unused]);
    // What passes through the memory is read, up to its last word.
    let source = "\
.input x, 512
.output y, 512
vload v1, a0, x
vstore v1, a0, 0x3fe00
vload v2, a0, 0x3fe00
vstore v2, a0, y
halt
";
    let program = assemble(source).unwrap();
    assert_eq!(errors(&program, &machine(&[])), []);
    assert_eq!(warnings(&program, &machine(&[])), []);
}

/// The words of the window that random programs use; the input is its beginning, the output its end.
const WINDOW: u32 = 8 * 512;
const INPUT_VECTORS: u32 = 4;

/// Programs that move and add words of the window.
fn movers() -> BoxedStrategy<Program> {
    let register = || (0..6usize).prop_map(VReg::at);
    let mode = select(vec![
        AddressMode::Linear,
        AddressMode::Strided(Log2::new(1).unwrap()),
        AddressMode::StridedSkip(Log2::new(3).unwrap()),
        AddressMode::Repeated(Log2::new(4).unwrap()),
    ]);
    let access = (0..2u8, register(), 0..WINDOW - 1024, mode).prop_map(|(store, v, offset, mode)| {
        let (base, offset) = (AReg::at(0), Offset::new(offset & !127).unwrap());
        match store {
            0 => Instr::Vload { vd: v, base, offset, mode },
            _ => Instr::Vstore { vs: v, base, offset, mode },
        }
    });
    let compute = (0..3u8, register(), register(), register()).prop_map(|(kind, vd, vs, vt)| match kind {
        0 => Instr::Vadd { vd, vs, vt, rm: MReg::at(1) },
        1 => Instr::Unpklo { vd, vs, vt },
        _ => Instr::Pkhi { vd, vs, vt },
    });
    let first = (0..5).map(|register| Instr::Vload {
        vd: VReg::at(register),
        base: AReg::at(0),
        offset: Offset::new(512 * (register as u32 % INPUT_VECTORS)).unwrap(),
        mode: AddressMode::Linear,
    });
    let last = |vs| Instr::Vstore {
        vs,
        base: AReg::at(0),
        offset: Offset::new(WINDOW - 512).unwrap(),
        mode: AddressMode::Linear,
    };
    let symbol = |name: &str, role, start, vectors: u32| {
        let (name, words) = (name.into(), 512 * vectors);
        Symbol { name, space: Space::Vdm, start, words, role }
    };
    (prop::collection::vec(prop_oneof![access, compute], 0..12), register())
        .prop_map(move |(body, result)| {
            let ends = [last(result), Instr::Halt {}];
            Program {
                instructions: first.clone().chain(body).chain(ends).collect(),
                moduli: vec![(MReg::at(1), 97)],
                symbols: vec![
                    symbol("x", Role::Input, 0, INPUT_VECTORS),
                    symbol("y", Role::Output, WINDOW - 512, 1),
                ],
                ..Program::default()
            }
        })
        .boxed()
}

/// The program after other values were left in all registers and in all words but the input's.
fn after_garbage(program: &Program) -> Program {
    let words = (0..WINDOW - 512 * INPUT_VECTORS).map(|word| u128::from(word * 31 % 97)).collect();
    let mut program = program.clone();
    program.vdm.segments = vec![Segment { start: 512 * INPUT_VECTORS, words }];
    let load = |register| Instr::Vload {
        vd: VReg::at(register),
        base: AReg::at(0),
        offset: Offset::new(512 * INPUT_VECTORS).unwrap(),
        mode: AddressMode::Linear,
    };
    program.instructions.splice(0..0, (0..REGISTERS).map(load));
    program
}

fn output(program: &Program) -> Vec<u128> {
    let mut executor = Executor::new(1 << 18, 1 << 11);
    executor.load(program).unwrap();
    executor
        .write("x", &(0..u128::from(512 * INPUT_VECTORS)).map(|word| word % 97).collect::<Vec<u128>>())
        .unwrap();
    executor.run().unwrap();
    executor.read("y").unwrap()
}

/// The results of a program without errors do not depend on the initial content of memories and registers.
#[test]
fn the_initial_state_matters_only_to_programs_with_errors() {
    let machine = machine(&[]);
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let (mut clean, mut sensitive) = (0, 0);
    for _ in 0..1000 {
        let program = movers().new_tree(&mut runner).unwrap().current();
        let differs = output(&program) != output(&after_garbage(&program));
        if errors(&program, &machine).is_empty() {
            clean += 1;
            assert!(!differs, "{program}");
        }
        sensitive += u32::from(differs);
    }
    assert!(clean > 100 && sensitive > 100, "{clean} programs without errors, {sensitive} sensitive ones");
}
