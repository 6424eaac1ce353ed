//! Random programs survive their notation.

use proptest::prelude::*;
use ring_program::shape::{
    Binary, Clear, Duplicate, Galois, GaloisCoefficients, Monomial, Scalar, Transform, Unary,
};
use ring_program::{
    Builder, Interface, LimbId, Liveness, Manifest, ModulusIndex, Operation, RingProgram, Shape, read,
};
use std::path::Path;

/// The choices for one operation; each is reduced to what the operation needs.
pub(crate) type Choice = (u8, [u64; 3], u8, u128, u32);

fn id(choice: u64) -> LimbId {
    // Few small ids, so that operations depend on each other, and some large ones.
    LimbId(if choice.is_multiple_of(16) { choice } else { choice % 12 })
}

fn operation(builder: &mut Builder, moduli: &[ModulusIndex], choice: Choice) -> Operation {
    let (kind, ids, modulus, constant, small) = choice;
    let m = moduli[modulus as usize % moduli.len()];
    let degree = builder.program().degree();
    let d = builder.limb(id(ids[0]));
    if kind % 14 == 12 {
        return Operation::Zero(Clear { d, m: Some(m).filter(|_| small % 2 == 0) });
    }
    let a = builder.limb(id(ids[1]));
    let k = (small % degree.order() as u32) | 1;
    match kind % 14 {
        kind @ 0..3 => {
            let b = builder.limb(id(ids[2]));
            [Operation::Add, Operation::Subtract, Operation::Multiply][kind as usize](Binary { d, a, b, m })
        }
        kind @ 3..6 => {
            // A product with the scalar 0 would be read as `Zero`.
            let scalar = builder.constant(constant.max(1));
            let operands = Scalar { d, a, scalar, m };
            [Operation::AddScalar, Operation::SubtractScalar, Operation::MultiplyScalar][kind as usize - 3](
                operands,
            )
        }
        6 => Operation::Negate(Unary { d, a, m }),
        kind @ 7..9 => {
            let q = ring::Modulus::new(builder.program().moduli().value(m)).unwrap();
            let smallest = ring::root::smallest_root(q.value(), degree).unwrap();
            let root = (small % 3 > 0).then(|| builder.constant(q.pow(smallest, k.into())));
            [Operation::Ntt, Operation::Intt][kind as usize - 7](Transform { d, a, root, m })
        }
        9 => Operation::AutomorphEvaluation(Galois { d, a, k, m: Some(m).filter(|_| small % 4 < 2) }),
        10 => Operation::AutomorphCoefficients(GaloisCoefficients { d, a, k, m }),
        11 => Operation::MultiplyMonomial(Monomial { d, a, offset: small % degree.get() as u32, m }),
        _ => Operation::Copy(Duplicate { d, a }),
    }
}

pub(crate) fn program(log2: u32, moduli: usize, choices: Vec<Choice>) -> RingProgram {
    let mut builder = Builder::new(1 << log2).unwrap();
    let degree = builder.program().degree();
    let primes = [128, 60, 32].map(|bits| ring::prime::largest_prime(bits, degree).unwrap());
    let moduli: Vec<_> = primes[..moduli].iter().map(|&prime| builder.add_modulus(prime).unwrap()).collect();
    for choice in choices {
        let operation = operation(&mut builder, &moduli, choice);
        builder.push(operation).unwrap();
    }
    builder.finish(None).unwrap()
}

fn programs() -> BoxedStrategy<RingProgram> {
    let choice = (any::<u8>(), any::<[u64; 3]>(), any::<u8>(), any::<u128>(), any::<u32>());
    (9..18u32, 1..4usize, prop::collection::vec(choice, 0..40))
        .prop_map(|(log2, moduli, choices)| program(log2, moduli, choices))
        .boxed()
}

/// The same program with blanks, comments, capitals and other line ends.
fn decorated(text: &str) -> String {
    let line = |(index, line): (usize, &str)| match index % 5 {
        0 => format!("{line}   # comment, m=0\n"),
        1 => format!("\n#\n \t{}\r\n", line.replace(", ", " ,\t")),
        2 => match line.split_once(' ') {
            Some((opcode, rest)) if opcode.starts_with("sr_") => {
                format!("{}  {rest}\n", opcode.to_uppercase())
            }
            _ => format!("{line}\n"),
        },
        3 => format!("{}\n", line.replace(", ", ",")),
        _ => format!("{line}\n"),
    };
    "# title — with a dash\n".to_owned() + &text.lines().enumerate().map(line).collect::<String>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_written_is_read(program in programs()) {
        let text = program.to_text();
        let n = program.degree().get();
        let manifest = Manifest::parse("", &Manifest::of(&program).to_json(), std::path::Path::new("")).unwrap();
        let again = read("", text.as_bytes(), Interface::Manifest(&manifest)).unwrap();
        prop_assert_eq!(&again.to_text(), &text);
        prop_assert_eq!(Manifest::of(&again).to_json(), Manifest::of(&program).to_json());

        // Limbs and constants are numbered by their first mention, so equality is for programs
        // from text.
        let first = read("", text.as_bytes(), Interface::Degree(n)).unwrap();
        let second = read("", decorated(&text).as_bytes(), Interface::Degree(n)).unwrap();
        prop_assert_eq!(&second, &first);
        prop_assert_eq!(Manifest::of(&first).to_json(), Manifest::of(&program).to_json());
    }

    #[test]
    fn liveness_agrees_with_a_search(program in programs()) {
        let liveness = Liveness::of(&program);
        let operations = program.operations();
        let is_output = |limb| program.outputs().iter().any(|group| group.limbs.contains(&limb));
        for index in 0..operations.len() {
            let limb = operations[index].destination();
            let later = || operations.iter().enumerate().skip(index + 1);
            let read = later().find(|(_, operation)| operation.sources().contains(&Some(limb)));
            let written = later().find(|(_, operation)| operation.destination() == limb);
            let read = read.map(|(index, _)| index);
            let written = written.map_or(usize::MAX, |(index, _)| index);
            let expected = read.filter(|&read| read <= written);
            let found = liveness.after(index).destination;
            prop_assert_eq!(found.operation(), expected);
            prop_assert_eq!(found.is_dead(), expected.is_none() && !(written == usize::MAX && is_output(limb)));
        }
        let mut live_in: Vec<_> = liveness.live_in(&program);
        let mut inputs: Vec<_> = program.inputs().iter().flat_map(|group| group.limbs.clone()).collect();
        live_in.sort();
        inputs.sort();
        prop_assert_eq!(live_in, inputs);
    }
}

#[test]
fn programs_that_differ_in_one_part_are_not_equal() {
    let read = |text: &str, manifest: &str| {
        let text = format!("modulus_count 3\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n{text}halt\n");
        let manifest = Manifest::parse("m.json", manifest, Path::new("")).unwrap();
        ring_program::read("p.fhetch", text.as_bytes(), Interface::Manifest(&manifest)).unwrap()
    };
    let manifest = |degree: u64, input: &str, output: &str, rest: &str| {
        format!(
            r#"{{"ring_dimension": {degree}, "inputs": {{"{input}": [1, 2]}}, "outputs": {{"{output}": [3]}}{rest}}}"#
        )
    };
    let usual = manifest(512, "evk", "y", "");
    let lines = "m[2] 0xa001\nsr_mulps %3, %1, 5, m=1\nsr_addp %3, %3, %2, m=1\n";
    let program = read(lines, &usual);
    assert_eq!(program, read(lines, &usual));
    for other in [
        lines.replace("0xa001", "0x7FFFFFFFFFFF801"),
        lines.replace("%1, 5", "%1, 6"),
        lines.replace("sr_addp", "sr_subp"),
        lines.replace("%3, %1, 5, m=1\nsr_addp %3, %3,", "%4, %1, 5, m=1\nsr_addp %3, %4,"),
        format!("{lines}sr_negp %3, %3, m=1\n"),
    ] {
        assert_ne!(program, read(&other, &usual), "{other}");
    }
    let seeded = r#", "seeded": [1]"#;
    for other in [
        manifest(256, "evk", "y", ""),
        manifest(512, "z", "y", ""),
        manifest(512, "evk", "z", ""),
        manifest(512, "evk", "y", seeded),
    ] {
        assert_ne!(program, read(lines, &other), "{other}");
    }
    let calls = "m[2] 0xa001\nfunction f %1, %2 -> %3\n  sr_addp %3, %1, %2, m=1\nend\n\
        repeat 2\n  call f %1, %2 -> %3\nend\n";
    let program = read(calls, &usual);
    assert_eq!(program, read(calls, &usual));
    for other in [calls.replace("repeat 2", "repeat 3"), calls.replace("sr_addp", "sr_subp")] {
        assert_ne!(program, read(&other, &usual), "{other}");
    }
}
