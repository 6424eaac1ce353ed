//! Random programs give the results of the executor on big integers.

use crate::cases;
use proptest::prelude::*;
use ring_program::shape::{Binary, Duplicate, Galois, Scalar, Transform};
use ring_program::{Builder, Inputs, Interface, LimbId, Manifest, Operation, RingProgram};
use runtime::launches::kernels::Tables;
use runtime::mapping::{Batch, Form, Mapping, Order, Recipes};
use runtime::schedule::traffic::Kind;
use runtime::testing::program;
use runtime::{Choice, Keys, RunError, Runtime};
use sim::Machine;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

fn programs() -> BoxedStrategy<RingProgram> {
    let choice = (any::<u8>(), any::<[u8; 3]>(), any::<u8>(), any::<u128>(), any::<u32>());
    (10..12u32, prop::collection::vec(choice, 0..120))
        .prop_map(|(log2, choices)| program(log2, choices))
        .boxed()
}

/// All mappings that a search for the fastest one tries.
fn mappings() -> impl Strategy<Value = Mapping> {
    let orders = prop::sample::select(vec![Order::Modulus, Order::Program]);
    let recipes = prop::sample::select(vec![Recipes::Fastest, Recipes::SmallTables]);
    let (batches, forms) = (prop::sample::select(&Batch::ALL[..]), prop::sample::select(&Form::ALL[..]));
    (orders, batches, recipes, forms).prop_map(|(order, batch, recipes, elementwise)| Mapping {
        order,
        batch,
        recipes,
        elementwise,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases("PROGRAM_CASES", 32)))]

    #[test]
    fn results_are_those_of_big_integers(program in programs(), seed: u64, mapping in mappings()) {
        let machine = Machine::rpu_128x128();
        let mut inputs = Inputs::new(&program);
        inputs.fill(seed);
        let runtime = Runtime::mapped(&program, &machine, (Keys::Streamed, Choice::Given(mapping))).unwrap();
        let outputs = runtime.execute(&inputs).unwrap();
        runtime.check(&inputs, &outputs).unwrap_or_else(|error| panic!("{error}\n{}", program.to_text()));
    }
}

/// Threads reach faults in any order. The error names the fault of the first launch.
#[test]
fn the_first_of_many_faults_is_named() {
    let degree = ring::Degree::new(1024).unwrap();
    let large = ring::prime::largest_prime(60, degree).unwrap();
    let mut text = format!("modulus_count 3\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nm[2] 0x{large:X}\n");
    // Transforms, which no other launch takes over.
    for pair in 0..20 {
        let [x, product, y] = [0, 1, 2].map(|id| 3 * pair + id);
        text += &format!("sr_mulps %{product}, %{x}, 7, m=2\nsr_ntt %{y}, %{product}, m=1\n");
    }
    text += "halt\n";
    let program = ring_program::read("p.fhetch", text.as_bytes(), Interface::Degree(1024)).unwrap();
    let mut inputs = Inputs::new(&program);
    inputs.fill(1);
    let mapping = Mapping { batch: Batch::Eighth, ..Mapping::START };
    let machine = Machine::rpu_128x128();
    let runtime = Runtime::mapped(&program, &machine, (Keys::Streamed, Choice::Given(mapping))).unwrap();
    let error = runtime.execute(&inputs).unwrap_err().to_string();
    assert!(error.starts_with("line 6: `sr_ntt`"), "{error}");
    for _ in 0..20 {
        assert_eq!(runtime.execute(&inputs).unwrap_err().to_string(), error);
    }
}

/// The words of a limb for some launches are dropped before others read it.
#[test]
fn inputs_are_made_again_for_later_launches() {
    let n = 1 << 14;
    let q = ring::prime::largest_prime(30, ring::Degree::new(1 << 14).unwrap()).unwrap();
    let mut text = format!("modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x{q:X}\n");
    // More limbs than a window has between two sums with the input.
    for at in 1..1500 {
        let operation = if at % 1400 == 1 { "sr_addp %{y}, %{x}, %0, m=1" } else { "sr_ntt %{y}, %{x}, m=1" };
        let line = operation.replace("{y}", &(at + 1).to_string()).replace("{x}", &at.to_string());
        text += &format!("{line}\n");
    }
    text += "halt\n";
    let program = ring_program::read("p.fhetch", text.as_bytes(), Interface::Degree(n)).unwrap();
    let (machine, makes) = (Machine::rpu_128x128(), AtomicUsize::new(0));
    let outputs = [true, false].map(|is_kept| {
        let mut inputs = Inputs::new(&program);
        let make = |_| {
            makes.fetch_add(1, Ordering::Relaxed);
            (0..u128::from(n)).map(|word| word * word).collect()
        };
        match is_kept {
            true => inputs.make("id0", make).unwrap(),
            false => inputs.make_again("id0", make).unwrap(),
        }
        inputs.fill(1);
        let runtime = Runtime::new(&program, &machine, Keys::Streamed).unwrap();
        (runtime.execute(&inputs).unwrap(), makes.swap(0, Ordering::Relaxed))
    });
    let [(kept, once), (made_again, twice)] = outputs;
    assert_eq!((once, twice), (1, 2));
    assert_eq!(kept, made_again);
}

#[test]
fn the_operand_with_a_word_that_is_not_reduced_is_named() {
    for (product, sum) in [
        ("sr_addp %7, %6, %5, m=1", "sr_addp %8, %7, %3, m=1"),
        // The sum takes over the product.
        ("sr_mulp %7, %4, %5, m=1", "sr_addp %8, %7, %3, m=1"),
        ("sr_mulp %7, %4, %5, m=1", "sr_addp %8, %3, %7, m=1"),
        ("sr_mulp %7, %4, %5, m=1", "sr_subp %8, %3, %7, m=1"),
    ] {
        name_operand(product, sum);
    }
}

fn name_operand(product: &str, sum: &str) {
    let degree = ring::Degree::new(1024).unwrap();
    let large = ring::prime::largest_prime(60, degree).unwrap();
    let text = format!(
        "modulus_count 3\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nm[2] 0x{large:X}\n\
         sr_mulps %3, %1, 7, m=2\n\
         sr_mulps %4, %2, 3, m=1\n\
         sr_mulps %5, %3, 2, m=1\n\
         sr_mulp %6, %3, %4, m=1\n\
         {product}\n\
         {sum}\n\
         halt\n"
    );
    let program = ring_program::read("p.fhetch", text.as_bytes(), Interface::Degree(1024)).unwrap();
    let mut inputs = Inputs::new(&program);
    inputs.fill(1);
    let machine = Machine::rpu_128x128();
    let runtime = Runtime::new(&program, &machine, Keys::Streamed).unwrap();
    assert_eq!(runtime.launches().launches.len(), 1);
    let error = runtime.execute(&inputs).unwrap_err().to_string();
    let opcode = sum.split(' ').next().unwrap();
    assert!(error.starts_with(&format!("line 10: `{opcode}`: word 0 of the operand `%3` is ")), "{error}");
    let reference = ring_program::execute(&inputs).unwrap_err().to_string();
    assert!(reference.starts_with("line 10: "), "{reference}");
}

#[test]
fn a_sum_of_more_limbs_than_the_vdm_holds_reads_each_limb_once() {
    const LIMBS: u64 = 12;
    let mut builder = Builder::new(8192).unwrap();
    let degree = builder.program().degree();
    let m = builder.add_modulus(ring::prime::largest_prime(100, degree).unwrap()).unwrap();
    let scalar = builder.constant(3);
    let sum = builder.limb(LimbId(0));
    for id in 0..LIMBS {
        let (a, product) = (builder.limb(LimbId(1 + id)), builder.limb(LimbId(100 + id)));
        builder.push(Operation::MultiplyScalar(Scalar { d: product, a, scalar, m })).unwrap();
        let operation = match id {
            0 => Operation::Copy(Duplicate { d: sum, a: product }),
            _ => Operation::Add(Binary { d: sum, a: sum, b: product, m }),
        };
        builder.push(operation).unwrap();
    }
    let program = builder.finish(None).unwrap();
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.vdm.size_mib = 1).unwrap();
    let choice = (Keys::Streamed, Choice::Given(Mapping::START));
    let runtime = Runtime::mapped(&program, &machine, choice).unwrap();
    let timeline = runtime.time(false).unwrap();
    assert_eq!(runtime.launches().launches.len(), 1);
    let limb = degree.get() * 16;
    let traffic = [Kind::Inputs, Kind::Outputs, Kind::Spills].map(|kind| timeline.traffic[kind] / limb);
    assert_eq!(traffic, [LIMBS, 1, 0]);
    let report = runtime.report(&timeline);
    assert!(report.compute.bound_ratio.is_some_and(|ratio| (1.0..1.3).contains(&ratio)));
    let mut inputs = Inputs::new(&program);
    inputs.fill(1);
    runtime.check(&inputs, &runtime.execute(&inputs).unwrap()).unwrap();
}

/// If the VDM holds four limbs, the tables of three moduli would travel as often as the limbs.
#[test]
fn transforms_in_a_small_memory_work_in_place_with_small_tables() {
    const N: u64 = 16384;
    let mut builder = Builder::new(N).unwrap();
    let degree = builder.program().degree();
    let primes = [128, 100, 60].map(|bits| ring::prime::largest_prime(bits, degree).unwrap());
    let moduli = primes.map(|prime| builder.add_modulus(prime).unwrap());
    for id in 0..9 {
        let m = moduli[id as usize % moduli.len()];
        let [a, values, d] = [0, 100, 200].map(|first| builder.limb(LimbId(first + id)));
        builder.push(Operation::Ntt(Transform { d: values, a, root: None, m })).unwrap();
        builder.push(Operation::Multiply(Binary { d: values, a: values, b: values, m })).unwrap();
        builder.push(Operation::Intt(Transform { d, a: values, root: None, m })).unwrap();
    }
    let program = builder.finish(None).unwrap();
    let mut machine = Machine::rpu_128x128();
    let run = |machine: &Machine| {
        let runtime = Runtime::new(&program, machine, Keys::Streamed).unwrap();
        let mut inputs = Inputs::new(&program);
        inputs.fill(1);
        runtime.check(&inputs, &runtime.execute(&inputs).unwrap()).unwrap();
        let timeline = runtime.time(false).unwrap();
        (runtime.kernels().tables(), timeline.traffic[Kind::Tables], timeline.traffic[Kind::Spills])
    };
    let limb = N * 16;
    machine.edit(|values| values.vdm.size_mib = 32).unwrap();
    let (tables, bytes, _) = run(&machine);
    assert!(tables == Tables::Large && bytes >= 6 * limb, "{tables:?}, {bytes}");
    machine.edit(|values| values.vdm.size_mib = 1).unwrap();
    let (tables, fewer, spills) = run(&machine);
    // Although they travel several times, and the large ones once.
    let are_small = tables == Tables::Small && 3 * fewer < 2 * bytes;
    assert!(are_small && spills == 0, "{tables:?}, {fewer} instead of {bytes}, {spills}");
}

/// Outputs that are inputs or zeros are in the off-chip memory before the program runs.
#[test]
fn compulsory_bytes_are_of_limbs_that_a_launch_reads_or_makes() {
    let head = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n";
    let lines = "sr_mulps %4, %1, 0, m=1\nsr_addps %5, %1, 0, m=0\nsr_addp %6, %1, %2, m=1\nhalt\n";
    let machine = Machine::rpu_128x128();
    for (outputs, limbs) in [
        (r#""zero": [4]"#, 0),
        (r#""zero": [4], "x": [3], "copy": [5]"#, 0),
        (r#""zero": [4], "x": [3], "copy": [5], "sum": [6], "again": [6]"#, 3),
    ] {
        let manifest =
            format!(r#"{{"ring_dimension": 512, "inputs": {{"x": [1, 2, 3]}}, "outputs": {{{outputs}}}}}"#);
        let manifest = Manifest::parse("p.json", &manifest, Path::new("")).unwrap();
        let text = format!("{head}{lines}");
        let program = ring_program::read("p.fhetch", text.as_bytes(), Interface::Manifest(&manifest));
        let program = program.unwrap();
        let runtime = Runtime::new(&program, &machine, Keys::Streamed).unwrap();
        let timeline = runtime.time(false).unwrap();
        let moved = timeline.traffic[Kind::Inputs] + timeline.traffic[Kind::Outputs];
        assert_eq!([runtime.report(&timeline).least_bytes, moved], [limbs * 512 * 16; 2], "{outputs}");
    }
}

/// The generator's time would be beyond what is counted, and the error another one.
#[test]
fn keys_from_a_seed_need_a_generator_if_a_launch_reads_them() {
    let head = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n";
    let manifest = r#"{"ring_dimension": 512, "inputs": {"evk": [1], "x": [2]}, "outputs": {"y": [3, 1]}}"#;
    let manifest = Manifest::parse("p.json", manifest, Path::new("")).unwrap();
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.generator.words_per_cycle = 0).unwrap();
    let product =
        "sr_mulp %3, %2, %1, m=1\nsr_ntt %3, %3, m=1\nsr_mulp %3, %3, %1, m=1\nsr_ntt %3, %3, m=1\n";
    for (lines, keys, is_refused) in [
        (product, Keys::Seeded, true),
        (product, Keys::Streamed, false),
        (product, Keys::Resident, false),
        ("sr_ntt %3, %2, m=1\n", Keys::Seeded, false),
    ] {
        let text = format!("{head}{lines}halt\n");
        let program = ring_program::read("p.fhetch", text.as_bytes(), Interface::Manifest(&manifest));
        let program = program.unwrap();
        let found = Runtime::new(&program, &machine, keys).map(drop);
        assert_eq!(found, if is_refused { Err(RunError::NoGenerator) } else { Ok(()) }, "{lines}{keys:?}");
    }
}

/// Places in the off-chip memory: the key unless it is on the chip, the operand, the output, and what does
/// not fit the VDM.
#[test]
fn data_beyond_the_off_chip_memory_are_an_error_with_a_place() {
    const N: u64 = 16384;
    pub(crate) const LIMBS: u64 = 9;
    const LIMB: u64 = N * 16;
    let degree = ring::Degree::new(N).unwrap();
    let q = ring::prime::largest_prime(100, degree).unwrap();
    let (mut text, last) = (format!("modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x{q:X}\n"), 10 + LIMBS);
    // All transforms are alive until the last is done: the sums read them from the last to the first.
    (10..last).for_each(|id| text += &format!("sr_mulps %{id}, %1, {id}, m=1\nsr_ntt %{id}, %{id}, m=1\n"));
    text += &format!("sr_mulp %3, %{}, %2, m=1\n", last - 1);
    (10..last - 1).rev().for_each(|id| text += &format!("sr_mulp %3, %3, %{id}, m=1\nsr_ntt %3, %3, m=1\n"));
    let manifest =
        format!(r#"{{"ring_dimension": {N}, "inputs": {{"x": [1], "evk": [2]}}, "outputs": {{"y": [3]}}}}"#);
    let manifest = Manifest::parse("p.json", &manifest, Path::new("")).unwrap();
    let program =
        ring_program::read("p.fhetch", (text + "halt\n").as_bytes(), Interface::Manifest(&manifest));
    let program = program.unwrap();
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.vdm.size_mib = 1).unwrap();
    let runtime = |machine: &Machine, keys| {
        let runtime = Runtime::new(&program, machine, keys).unwrap();
        let timeline = runtime.time(false).map_err(|error| error.to_string())?;
        Ok::<_, String>((runtime.report(&timeline).hbm.needed_bytes, timeline.hbm))
    };
    let (needed, hbm) = runtime(&machine, Keys::Streamed).unwrap();
    assert_eq!(hbm.homes[..3].iter().map(|&(_, bytes)| bytes).collect::<Vec<_>>(), [LIMB; 3]);
    assert_eq!(hbm.saved_bytes % LIMB, 0);
    assert!((1..LIMBS).contains(&(hbm.saved_bytes / LIMB)), "{hbm:?}");
    assert_eq!(needed, hbm.bytes());
    let (with_resident_keys, _) = runtime(&machine, Keys::Resident).unwrap();
    assert!(with_resident_keys < needed);

    machine.edit(|values| values.hbm.size_mib = needed.div_ceil(1 << 20) as u32).unwrap();
    assert!(runtime(&machine, Keys::Streamed).is_ok());
    let error = |machine: &Machine| runtime(machine, Keys::Streamed).unwrap_err();
    let help = format!("; set `hbm.size_mib` to {} or more", machine.hbm.size_mib);
    machine.edit(|values| values.hbm.size_mib -= 1).unwrap();
    let saves = error(&machine);
    assert!(saves.starts_with("line ") && saves.ends_with(&help), "{saves}");
    assert!(saves.contains("` saves a limb beyond the off-chip memory: "), "{saves}");
    // A share of two limbs, of 4/3, and of half a limb.
    machine.edit(|values| values.hbm.size_mib = 1).unwrap();
    for (shared_by, place) in
        [(2, "the output `y` ends"), (3, "the input `evk` ends"), (8, "the input `x` ends")]
    {
        machine.edit(|values| values.hbm.shared_by = shared_by).unwrap();
        let error = error(&machine);
        assert!(error.starts_with(&format!("{place} beyond the off-chip memory: the data need ")), "{error}");
    }
}

/// The recipe of the first exponent serves the others, each with a kernel of its own.
#[test]
fn automorphisms_with_any_exponent_share_a_recipe() {
    const N: u64 = 4096;
    let program = |exponents: &[u32]| {
        let mut builder = Builder::new(N).unwrap();
        let degree = builder.program().degree();
        let m = builder.add_modulus(ring::prime::largest_prime(60, degree).unwrap()).unwrap();
        let (a, scalar) = (builder.limb(LimbId(0)), builder.constant(1));
        builder.push(Operation::MultiplyScalar(Scalar { d: a, a, scalar, m })).unwrap();
        for (id, &k) in (1..).zip(exponents) {
            let d = builder.limb(LimbId(id));
            builder.push(Operation::AutomorphEvaluation(Galois { d, a, m: Some(m), k })).unwrap();
        }
        builder.finish(None).unwrap()
    };
    let exponents = [5, 25, N as u32 + 1, 2 * N as u32 - 1, 1025];
    let machine = Machine::rpu_128x128();
    let all = program(&exponents);
    let runtime = Runtime::new(&all, &machine, Keys::Streamed).unwrap();
    let batches =
        runtime.launches().launches.iter().filter(|launch| runtime.launches().batch(launch).is_some());
    assert_eq!(batches.count(), exponents.len());
    let mut inputs = Inputs::new(&all);
    inputs.fill(3);
    runtime.check(&inputs, &runtime.execute(&inputs).unwrap()).unwrap();
}
