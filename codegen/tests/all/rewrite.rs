//! Programs written by hand in another order: execution is the witness beside the proof.
//!
//! `RPU_REWRITES` sets the number of random pairs of program and machine.

use b512_asm::{
    AReg, AddressMode, Image, Instr, Isa, Log2, MReg, Offset, Program, Role, SReg, Segment, Space, Symbol,
    VReg,
};
use codegen::check::LoweringFault;
use codegen::rewrite::{ProofError, Rescheduled, RewriteError, prove, reschedule};
use codegen::{PlanChoice, Request, generate};
use proptest::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::functional::Executor;
use sim::testing as random;
use sim::timing::simulate;
use std::path::Path;

/// A prime of 60 bits.
const Q: u128 = (1 << 60) - 93;
/// The vectors of the inputs `x`, the table `t`, the scratch memory `s` and the output `y`, which lie in this
/// order.
const VECTORS: [(&str, Role, u32); 4] =
    [("x", Role::Input, 3), ("t", Role::Table, 2), ("s", Role::Scratch, 3), ("y", Role::Output, 3)];
/// More scalars than registers.
const SCALARS: u32 = 100;
const LANES: u32 = Isa::B512.vector_length();

/// Random programs that read defined words only: two vectors of all registers, and all of the scratch memory,
/// are written first.
fn programs() -> impl Strategy<Value = Program> {
    prop::collection::vec((0..14u8, any::<[u16; 5]>()), 1..120).prop_map(|choices| program(&choices))
}

fn program(choices: &[(u8, [u16; 5])]) -> Program {
    let mut start = 0;
    let symbol = |(name, role, vectors): (&str, Role, u32)| {
        let words = vectors * LANES;
        start += words;
        Symbol { name: name.to_owned(), space: Space::Vdm, start: start - words, words, role }
    };
    let mut symbols: Vec<Symbol> = VECTORS.into_iter().map(symbol).collect();
    let words = |seed: u128, count: u32| -> Vec<u128> {
        (1..=u128::from(count)).map(|at| at.pow(5) * 0x9e37_79b9_7f4a_7c15 * (seed + 1) % Q).collect()
    };
    let [x, t, s, y] = [0, 1, 2, 3].map(|number: usize| symbols[number].start);
    symbols.push(Symbol {
        name: "k".to_owned(),
        space: Space::Sdm,
        start: 0,
        words: SCALARS,
        role: Role::Table,
    });
    let end = y + VECTORS[3].2 * LANES;
    let (base, rm, rt) = (AReg::at(0), MReg::at(5), SReg::at(0));
    let at = |words: u32| Offset::new(words).expect("a small memory");
    let vector = |number: u32, from: u32| at(from + number * LANES);
    let mut code = Vec::new();
    for number in 0..8 {
        let (vd, offset) = (VReg::at(number as usize), vector(number % 3, x));
        code.push(Instr::Vload { vd, base, offset, mode: AddressMode::Linear });
    }
    for number in 0..3 {
        let (vs, offset) = (VReg::at(number as usize), vector(number, s));
        code.push(Instr::Vstore { vs, base, offset, mode: AddressMode::Linear });
    }
    code.push(Instr::Sload { rt, offset: at(0) });
    for &(kind, [a, b, c, d, e]) in choices {
        // Few registers, so that names are used again and again.
        let reg = |choice: u16| VReg::at(usize::from(choice % 8));
        let (vd, vd1, vs, vt, vt1) = (reg(a), reg(b), reg(c), reg(d), reg(e));
        let mode = match b % 4 {
            0 => AddressMode::Repeated(Log2::new((c % 10) as u8).expect("at most 9")),
            1 => AddressMode::Strided(Log2::new(u8::from(c % 2 == 0)).expect("small")),
            2 => AddressMode::StridedSkip(Log2::new((c % 9) as u8).expect("small")),
            _ => AddressMode::Linear,
        };
        let within = |from: u32, to: u32| {
            let room = to - from - mode.span(Isa::B512);
            at(from + u32::from(d) % (room + 1))
        };
        code.push(match kind {
            0 => Instr::Vload { vd, base, offset: within(x, t), mode },
            1 => Instr::Vload { vd, base, offset: within(t, s), mode },
            2 => Instr::Vload { vd, base, offset: within(s, y), mode },
            3 => Instr::Vstore { vs, base, offset: within(s, y), mode },
            4 => Instr::Vstore { vs, base, offset: within(y, end), mode },
            5 => Instr::Vadd { vd, vs, vt, rm },
            6 => Instr::Vsub { vd, vs, vt, rm },
            7 => Instr::Vmul { vd, vs, vt, rm },
            8 => Instr::Vmuls { vd, vs, rt, rm },
            9 => Instr::Vadds { vd, vs, rt, rm },
            10 => Instr::Bfly { vd, vd1, vs, vt, vt1, rm },
            11 => Instr::Unpklo { vd, vs, vt },
            12 => Instr::Sload { rt, offset: at(u32::from(a) % SCALARS) },
            _ => Instr::Pkhi { vd, vs, vt },
        });
    }
    for number in 0..3 {
        let (vs, offset) = (VReg::at(number as usize), vector(number, y));
        code.push(Instr::Vstore { vs, base, offset, mode: AddressMode::Linear });
    }
    code.push(Instr::Halt {});
    Program {
        isa: Isa::B512,
        name: "random".to_owned(),
        instructions: code,
        vdm: Image { segments: vec![Segment { start: t, words: words(1, s - t) }] },
        sdm: Image { segments: vec![Segment { start: 0, words: words(2, SCALARS) }] },
        addresses: Vec::new(),
        moduli: vec![(rm, Q)],
        symbols,
        claims: Vec::new(),
    }
}

fn output(program: &Program, machine: &Machine) -> Vec<u128> {
    let x: Vec<u128> =
        (0..u128::from(VECTORS[0].2 * LANES)).map(|at| at * at * 0x1234_5678_9abc_def1 % Q).collect();
    let mut executor = Executor::for_machine(machine);
    executor.load(program).unwrap();
    executor.write("x", &x).unwrap();
    executor.run().unwrap();
    executor.read("y").unwrap()
}

#[test]
fn another_order_computes_the_same_and_is_never_slower() {
    let pairs: u32 = std::env::var("RPU_REWRITES").map_or(10, |text| text.parse().expect("a number"));
    let machines = random::machines().prop_filter_map("B512", |mut machine| {
        let b512 = Machine::rpu_128x128().isa.clone();
        machine.edit(|values| values.isa = b512).ok().map(|()| machine)
    });
    random::check(1, pairs, (programs(), machines), |program, machine| {
        // The functional engine knows no split paths: it is a witness where no access overtakes another.
        if simulate(machine, program).overtaking(machine, program).is_some() {
            return Ok(());
        }
        let other = reschedule(program, machine).map_err(|error| error.to_string())?;
        let cycles = simulate(machine, &other.program).cycles;
        if (cycles, other.before) != (other.after, simulate(machine, program).cycles)
            || other.after > other.before
        {
            return Err(format!("{} cycles instead of {}", other.after, other.before));
        }
        if other.after < other.bound {
            return Err(format!("{} cycles, below the bound {}", other.after, other.bound));
        }
        let [given, new] = [program, &other.program].map(|program| output(program, machine));
        if given == new { Ok(()) } else { Err("another result".to_owned()) }
    });
}

fn kernel(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-b512").join(name);
    b512_asm::assemble(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The kernels written by hand take at most 1.1 times the cycles of generated ones, unless their instructions
/// take longer in any order. `dot2` is no operation of the generator; it takes at most 1.1 times the bound of
/// its instructions.
#[test]
fn kernels_written_by_hand_reach_generated_ones() {
    let machine = Machine::rpu_128x128();
    for (name, operation, n, can) in [
        ("vadd.b512", Some(golden::ADD), 512, true),
        ("mul1024.b512", Some(golden::MUL), 1024, true),
        ("dot2.b512", None, 4096, true),
        ("ntt1024.b512", Some(golden::NTT), 1024, true),
        ("ntt1024_spiral.b512", Some(golden::NTT), 1024, false),
    ] {
        let Rescheduled { after, bound, .. } = reschedule(&kernel(name), &machine).unwrap();
        let goal = operation.map_or(bound, |operation| {
            let request = Request::with_primes(operation, Degree::new(n).unwrap(), 126, 1).unwrap();
            let generated = generate(&request, &machine, &PlanChoice::Best).unwrap();
            simulate(&machine, &generated.program).cycles
        });
        assert_eq!(can, 10 * bound.0 <= 11 * goal.0, "{name}: bound {bound}, {goal} generated");
        let reached = 10 * after.0 <= 11 * goal.0;
        assert!(reached || !can, "{name}: {after} cycles, {goal} generated");
    }
}

#[test]
fn what_is_not_known_before_a_run_is_refused() {
    let machine = Machine::rpu_128x128();
    let mut program = kernel("mul1024.b512");
    program.symbols.push(Symbol {
        name: "k".into(),
        space: Space::Sdm,
        start: 0,
        words: 1,
        role: Role::Input,
    });
    program.instructions.insert(0, Instr::Sload { rt: SReg::at(0), offset: Offset::new(0).unwrap() });
    let error = reschedule(&program, &machine).unwrap_err();
    assert!(
        matches!(&error, RewriteError::Instruction { at: 0, problem, .. } if problem.contains("`k`")),
        "{error}"
    );
}

/// The kernel of a newcomer, with these claims: the sum of two products, in 4,096 coefficients.
fn dot2(claims: &str) -> Program {
    let source = format!(
        ".const q = 0xfffffffffffc001\n.const n = 4096\n\
         .input a, n\n.input b, n\n.input c, n\n.input d, n\n.output y, n\n.output z, n\n.modulus m1, q\n{claims}\n\
         .repeat i, 8\n vload v0, a0, a + 512 * i\n vload v1, a0, b + 512 * i\n vmul v4, v0, v1, m1\n\
         vload v2, a0, c + 512 * i\n vload v3, a0, d + 512 * i\n vmul v5, v2, v3, m1\n vadd v6, v4, v5, m1\n\
         vstore v6, a0, y + 512 * i\n vsub v7, v4, v5, m1\n vstore v7, a0, z + 512 * i\n.end\nhalt\n"
    );
    b512_asm::assemble(&source).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn claims_of_programs_written_by_hand_are_proven() {
    for name in ["vadd.b512", "mul1024.b512", "dot2.b512", "ntt1024.b512", "ntt1024_spiral.b512"] {
        prove(&kernel(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let rest = ", n=n, modulus=q";
    for claim in [
        "y = a * b + c * d",
        "y = d * c + b * a",
        "y, z = a * b + c * d, a * b - c * d",
        "z = muls(a * b, by=2) - (c * d + a * b)",
        "y = (a + 1) * b + c * d - 1 * b",
    ] {
        let program = dot2(&format!(".computes {claim}{rest}"));
        prove(&program).unwrap_or_else(|error| panic!("{claim}: {error}"));
        // The scheduled program keeps its claims.
        let scheduled = reschedule(&program, &Machine::rpu_128x128()).unwrap().program;
        prove(&scheduled).unwrap_or_else(|error| panic!("{claim}, scheduled: {error}"));
    }
    for (claim, difference) in [
        (
            "y = a * b + c + d",
            "`y` has c[0] * d[0] where a * b + c + d has c[0] + d[0]; 4096 of its 4096 words differ",
        ),
        ("y = a * b - c * d", "`y` has c[0] * d[0] where a * b - c * d has -c[0] * d[0]"),
        ("y, z = a * b + c * d, c * d - a * b", "`z` has a[0] * b[0] - c[0] * d[0] where c * d - a * b has "),
        (
            "y = 2 * (a * b + c * d)",
            "`y` has a[0] * b[0] + c[0] * d[0] where 0x2 * (a * b + c * d) has 2 * a[0] * b[0]",
        ),
        ("y = a * b + c * d + d", "`y` lacks d[0], which a * b + c * d + d has"),
        ("y = a * b + c * d + 1", "`y` lacks 1, which a * b + c * d + "),
        ("y = polymul(a, b) + c * d", "`y` has a[0] * b[0] where polymul(a, b) + c * d has polymul(a, b)[0]"),
    ] {
        let error = prove(&dot2(&format!(".computes {claim}{rest}"))).unwrap_err();
        assert!(matches!(error, ProofError::Lowering(LoweringFault::Result { .. })), "{claim}: {error}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("no proof: word 0 of {difference}")), "{claim}: {text}");
    }
    assert_eq!(prove(&dot2("")), Err(ProofError::NoClaim));
}

/// Generated programs carry their proof in their instructions alone: it needs no vector code.
#[test]
fn claims_of_generated_programs_are_proven() {
    let machine = Machine::rpu_128x128();
    for &operation in golden::OPERATIONS {
        let request = Request::with_primes(operation, Degree::new(1024).unwrap(), 60, 2).unwrap();
        let request = request.with(codegen::Parameters::new(operation.examples()));
        let generated = generate(&request, &machine, &PlanChoice::Best).unwrap();
        prove(&generated.program).unwrap_or_else(|error| panic!("{operation}: {error}"));
    }
}

/// Transforms join products: three transforms, a product of two of them, and a claim about it.
#[test]
fn an_operation_may_be_written_in_parts() {
    let machine = Machine::rpu_128x128();
    let request = Request::with_primes(golden::POLYMUL, Degree::new(1024).unwrap(), 60, 1).unwrap();
    let mut program = generate(&request, &machine, &PlanChoice::Best).unwrap().program;
    let (n, q, root) = (1024, request.rings[0].q(), request.rings[0].root().unwrap());
    let text = |expression: &str| {
        let source = format!(
            ".input a, {n}\n.input b, {n}\n.output c, {n}\n.modulus m0, {q}\n\
             .computes c = {expression}, n={n}, modulus={q}, root={root}\nhalt\n"
        );
        b512_asm::assemble(&source).unwrap().claims
    };
    program.claims = text("intt(ntt(a) * ntt(b))");
    assert_eq!(prove(&program), Ok(()));
    program.claims = text("intt(ntt(a) + ntt(b))");
    assert!(prove(&program).is_err());
}

/// Sums and products of vectors at several places: loads from a copy of the operand begin at any word.
#[test]
fn claims_about_rotated_vectors_are_proven() {
    let program = |claim: &str| {
        let source = format!(
            ".const q = 0xfffffffffffc001\n.input a, 512\n.input b, 512\n.output y, 512\n.scratch t, 1024\n\
             .modulus m1, q\n.computes y = {claim}, n=512, modulus=q\n\
             vload v0, a0, b\nvstore v0, a0, t\nvstore v0, a0, t+512\nvload v1, a0, t+1\nvload v2, a0, t+5\n\
             vload v3, a0, a\nvmul v4, v3, v1, m1\nvsub v5, v2, v3, m1\nvadd v6, v4, v5, m1\nvmul v7, v6, v1, m1\n\
             vstore v7, a0, y\nhalt\n"
        );
        b512_asm::assemble(&source).unwrap_or_else(|errors| panic!("{errors}"))
    };
    for claim in [
        "(a * rotate(b, by=1) + rotate(b, by=5) - a) * rotate(b, by=1)",
        "a * rotate(b * b, by=1) + rotate(b * rotate(b, by=4), by=1) - rotate(b, by=513) * a",
    ] {
        prove(&program(claim)).unwrap_or_else(|error| panic!("{claim}: {error}"));
    }
    for claim in ["(a * rotate(b, by=1) + rotate(b, by=4) - a) * rotate(b, by=1)", "a * b"] {
        let error = prove(&program(claim)).unwrap_err();
        assert!(matches!(error, ProofError::Lowering(_)), "{claim}: {error}");
    }
}

/// A program with vectors of 8 lanes over 97, which claims `y = x * x`.
fn short(directives: &str, code: &str) -> Program {
    let source = format!(
        ".isa vector_length=8, word_bits=64\n.input x, 8\n.output y, 8\n.modulus m1, 97\n{directives}\n{code}\nhalt\n"
    );
    b512_asm::assemble(&source).unwrap_or_else(|errors| panic!("{errors}"))
}

fn short_machine() -> Machine {
    let changes = ["isa.vector_length=8", "hple.count=8", "isa.word_bits=64"];
    Machine::rpu_128x128().with(&changes.map(|change| change.parse().unwrap())).unwrap()
}

const WORDS: &str = "{ 1 2 3 4 5 6 7 8 }";
const SQUARE: &str = ".computes y = x * x, n=8, modulus=97";
const LOAD_AND_SQUARE: &str = "vload v0, a0, x\nvmul v0, v0, v0, m1\nvstore v0, a0, y";

/// Initial words are what memory holds until an input's data or a store replaces them.
#[test]
fn initial_words_of_any_memory_are_followed() {
    let by_constant =
        |at: &str| format!("vload v0, a0, x\nvload v1, a0, {at}\nvmul v0, v0, v1, m1\nvstore v0, a0, y");
    let words = |at: &str| format!(".words {at} {WORDS}");
    let twos = |at: &str| format!(".words {at} {{ 2 2 2 2 2 2 2 2 }}\n.computes y = 2 * x, n=8, modulus=97");
    for (directives, code) in [
        (format!("{}\n{SQUARE}", words("x")), LOAD_AND_SQUARE.to_owned()),
        (format!("{}\n{SQUARE}", words("y")), LOAD_AND_SQUARE.to_owned()),
        (format!("{}\n{SQUARE}", words("0x20")), LOAD_AND_SQUARE.to_owned()),
        (twos("0x20"), by_constant("32")),
        (format!(".scratch t, 8\n{}", twos("t")), by_constant("t")),
        // A constant that nothing reads may be overwritten.
        (
            format!(".scratch t, 8\n.table k, 8\n.words k {{ 2 2 2 2 2 2 2 2 }}\n{}", twos("t")),
            format!("{}\nvload v0, a0, x\nvstore v0, a0, t", by_constant("k")),
        ),
    ] {
        let program = short(&directives, &code);
        prove(&program).unwrap_or_else(|error| panic!("{directives}\n{code}: {error}"));
        let scheduled =
            reschedule(&program, &short_machine()).unwrap_or_else(|error| panic!("{code}: {error}"));
        prove(&scheduled.program).unwrap_or_else(|error| panic!("{directives}\n{code}, scheduled: {error}"));
    }
    // A table that shares its words with an input has the input's data.
    let shared = ".table t, 8, at x\n.words t { 2 2 2 2 2 2 2 2 }\n.computes y = 2 * x, n=8, modulus=97";
    let error = prove(&short(shared, &by_constant("t"))).unwrap_err();
    assert!(matches!(error, ProofError::Lowering(LoweringFault::Result { .. })), "{error}");
    // The store comes before the load.
    let code = format!("vload v2, a0, x\nvstore v2, a0, t\n{}", by_constant("t"));
    let error = prove(&short(&format!(".scratch t, 8\n{}", twos("t")), &code)).unwrap_err();
    assert!(matches!(error, ProofError::Lowering(LoweringFault::Result { .. })), "{error}");
    // The next run would read what this one has left.
    for (directives, code) in [
        (twos("y"), by_constant("y")),
        (
            format!(".scratch t, 8\n{}", twos("t")),
            format!("{}\nvload v0, a0, x\nvstore v0, a0, t", by_constant("t")),
        ),
    ] {
        let program = short(&directives, &code);
        let error = prove(&program).unwrap_err().to_string();
        assert!(error.contains("that the program has read: the next run would read another"), "{error}");
        assert!(reschedule(&program, &short_machine()).is_err());
    }
}

#[test]
fn a_program_without_symbols_is_scheduled() {
    let program = b512_asm::assemble(".isa vector_length=8, word_bits=64\nhalt\n").unwrap();
    assert_eq!(reschedule(&program, &short_machine()).unwrap().program, program);
}

/// What the proof cannot follow is named by its instruction, and by the reason.
#[test]
fn the_end_of_a_proof_has_its_instruction_and_its_reason() {
    let table = ".table t, 8\n.words t { 1 2 3 4 5 6 7 8 }\n.table k, 1, sdm\n.words k { 3 }";
    for (directives, code, at, problem) in [
        ("", "vload v0, a0, x\nvstore v0, a0, 8", None, ""),
        (
            table,
            "sload s0, k\nvload v0, a0, t\nvadd v1, v0, v0, m1\nvstore v1, a0, y",
            Some(2),
            "reads constants",
        ),
        (".scratch t, 8", "vload v0, a0, t\nvstore v0, a0, y", Some(0), "loads a word that has no value"),
        (table, "vload v0, a0, x\nvstore v0, a0, t\nvstore v0, a0, y", Some(1), "a constant of `t`"),
        (
            ".words 32 { 1 2 3 4 5 6 7 8 }",
            "vload v0, a0, x\nvstore v0, a0, 32",
            Some(1),
            "belongs to no symbol",
        ),
        ("", "vload v0, a0, x\nvstore v0, a0, 16", Some(1), "belongs to no symbol"),
    ] {
        let claimed = format!("{directives}\n.computes y = x, n=8, modulus=97");
        let result = prove(&short(&claimed, code));
        let Some(at) = at else {
            assert_eq!(result, Ok(()));
            continue;
        };
        let error = result.unwrap_err();
        assert_eq!(error.instruction(), Some(at), "{code}: {error}");
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("no proof: instruction {at} `")) && text.contains(problem),
            "{text}"
        );
    }
    let sum = "automorphism(x, g=5, order=coefficients) + automorphism(x, g=3, order=coefficients)";
    let error = prove(&short(&format!(".computes y = {sum}, n=8, modulus=97"), LOAD_AND_SQUARE)).unwrap_err();
    let claim = "no rule covers the operations of `y = automorphism(x, g=5, order=coefficients) + ";
    assert!(error.to_string().contains(claim), "{error}");
}
