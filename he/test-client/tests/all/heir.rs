//! Programs of HEIR on data: packed and unpacked as the file says, encrypted, executed on big integers,
//! decrypted.

use num_complex::Complex64;
use programs::heir::{ArgumentKind, Import, Program};
use ring_program::execute;
use std::collections::BTreeMap;
use test_client::ckks::{decode, repeated};
use test_client::{Ciphertext, Client};

/// A sample, compiled by `tests/heir/check.sh`.
macro_rules! sample {
    ($name:literal) => {
        (concat!($name, ".mlir"), include_str!(concat!("../../../programs/tests/heir/", $name, ".mlir")))
    };
}

/// Numbers from -1 to 1.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| f64::from(random.random_range(-1.0_f32..1.0))).collect()
}

/// Imports a sample with numbers for its arguments. Returns the import and the numbers of its result.
fn run((file, text): (&str, &str), n: u64, arguments: &[Vec<f64>]) -> (Import, Vec<f64>) {
    let program = Program::read(file, text).unwrap();
    let mut clear = BTreeMap::new();
    for (argument, numbers) in program.arguments().iter().zip(arguments) {
        if matches!(argument.kind, ArgumentKind::Clear { .. }) {
            clear.insert(argument.name.clone(), numbers.clone());
        }
    }
    let import = program.import(Some(n), &clear).unwrap();
    let generated = &import.generated;
    let half = n as usize / 2;
    let mut client = Client::new(generated.set.clone(), 1).unwrap();
    let is_input = |name: &str| generated.inputs.iter().any(|input| input.name == format!("{name}.0"));
    let mut encrypted: Vec<(String, Ciphertext)> = Vec::new();
    let mut zeros = 0;
    for (index, argument) in program.arguments().iter().enumerate() {
        match argument.kind {
            ArgumentKind::Encrypted { ciphertexts: 1 } => {
                let packed = program.pack(index, &arguments[index]).unwrap();
                let [slots] = &packed[..] else { panic!("{file}: one ciphertext") };
                let slots: Vec<Complex64> = slots.iter().copied().map(Complex64::from).collect();
                let ciphertext = client.encrypt_input(generated, &argument.name, &repeated(&slots, half));
                encrypted.push((argument.name.clone(), ciphertext));
            }
            ArgumentKind::Zero => {
                let name = format!("zero{zeros}");
                zeros += 1;
                if is_input(&name) {
                    let ciphertext = client.encrypt_input(generated, &name, &vec![Complex64::ZERO; half]);
                    encrypted.push((name, ciphertext));
                }
            }
            ArgumentKind::Clear { .. } => {}
            ref other => panic!("{file}: {other:?}"),
        }
    }
    let encrypted: Vec<(&str, &Ciphertext)> =
        encrypted.iter().map(|(name, ciphertext)| (&**name, ciphertext)).collect();
    let inputs = client.inputs(generated, &encrypted).unwrap();
    let outputs: [_; 2] = execute(&inputs).unwrap().try_into().unwrap();
    let slots = decode(&client.phase(&outputs), generated.scales["result0"].to_f64());
    let real: Vec<f64> = slots.iter().map(|slot| slot.re).collect();
    (import.clone(), program.unpack(0, &[real]).unwrap())
}

/// The largest difference, over the largest number.
fn error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    let worst = found.iter().zip(expected).fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs()));
    println!("error 2^{:.1} of 2^{:.1}", (worst / size).log2(), size.log2());
    worst / size
}

/// 2^-20.
const SMALL: f64 = 1.0 / 1_048_576.0;

fn multiplied(matrix: &[f64], x: &[f64], b: &[f64]) -> Vec<f64> {
    let row = |(row, b): (&[f64], &f64)| b + row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    matrix.chunks(x.len()).zip(b).map(row).collect()
}

/// The operations of the ledger are those of the text.
fn check_counts(import: &Import) {
    let total = import.generated.ledger.stage("evaluate");
    let count = |name| import.counts.get(name).copied().unwrap_or(0);
    assert_eq!(total.products, count("ckks.mul"));
    assert_eq!(total.relinearisations, count("ckks.relinearize"));
    assert_eq!(total.plaintext_products, count("ckks.mul_plain"));
    assert_eq!(total.automorphisms, count("ckks.rotate"));
    let regions = import.generated.program.regions();
    let in_bootstrap =
        |line| regions.path(line).iter().any(|&index| &*regions.get(index).name == "bootstrap");
    let of_file =
        |region: &&ring_program::Region| &*region.name == "rescale" && !in_bootstrap(region.lines.start);
    let rescales = regions.as_slice().iter().filter(of_file).count();
    assert_eq!(rescales, count("ckks.rescale"));
}

#[test]
fn a_dot_product() {
    let arguments = [numbers(1, 8), numbers(2, 8)];
    let (import, found) = run(sample!("dot_product"), 1024, &arguments);
    check_counts(&import);
    assert_eq!(import.counts["ckks.rotate"], 3);
    assert_eq!(import.counts["ckks.relinearize"], 1);
    assert_eq!(import.counts["ckks.rescale"], 2);
    assert_eq!(import.worst_sum, 0.0);
    let expected = 0.1 + arguments[0].iter().zip(&arguments[1]).map(|(x, y)| x * y).sum::<f64>();
    assert!(error(&found, &[expected]) < SMALL);
}

/// Differences of ciphertexts, and with plaintexts on either side.
#[test]
fn differences() {
    let arguments = [numbers(1, 16), numbers(2, 16), numbers(3, 16)];
    let (import, found) = run(sample!("differences"), 1024, &arguments);
    check_counts(&import);
    assert_eq!((import.counts["ckks.sub_plain"], import.counts["ckks.negate"]), (2, 1));
    let [x, y, w] = &arguments;
    let value = |k: usize| (w[k] - (x[k] - y[k])).powi(2);
    assert!(error(&found, &(0..16).map(value).collect::<Vec<_>>()) < SMALL);
}

/// Its summands have one scale, but for the rounding of the bootstrap.
#[test]
fn a_program_with_a_bootstrap() {
    let arguments = [numbers(1, 16), numbers(2, 16)];
    let (import, found) = run(sample!("powers"), 2048, &arguments);
    check_counts(&import);
    assert_eq!(import.counts["ckks.bootstrap"], 1);
    assert_eq!(import.generated.set.levels(), 4 + 15);
    let value = |(x, w): (&f64, &f64)| (x.powi(4) * w).powi(4) + x;
    let expected: Vec<f64> = arguments[0].iter().zip(&arguments[1]).map(value).collect();
    assert!(error(&found, &expected) < SMALL, "{found:?} {expected:?}");
}

/// Loops over diagonals, of which it leaves out those that are zero.
#[test]
fn a_box_blur() {
    let image = numbers(1, 64);
    let (import, found) = run(sample!("box_blur"), 1024, std::slice::from_ref(&image));
    let rotated_by_zero =
        import.counts["ckks.rotate"] - import.generated.ledger.stage("evaluate").automorphisms;
    assert!(rotated_by_zero <= 1);
    let pixel = |place: usize| {
        let (row, column) = (place / 6, place % 6);
        let window = (0..9).map(|tap| image[(row + tap / 3) * 8 + column + tap % 3]);
        window.sum::<f64>() / 9.0
    };
    let expected: Vec<f64> = (0..36).map(pixel).collect();
    assert!(error(&found, &expected) < SMALL);
}

/// Linear transforms and a polynomial for the rectifier.
#[test]
fn a_network_of_two_layers() {
    let scaled = |seed, count| numbers(seed, count).into_iter().map(|x| x / 8.0).collect::<Vec<_>>();
    let arguments = [numbers(1, 64), scaled(2, 1024), numbers(3, 16), scaled(4, 160), numbers(5, 10)];
    let (import, found) = run(sample!("mlp"), 1024, &arguments);
    assert_eq!(import.counts["kernel.apply_linear_transform"], 2);
    let [x, w, b, v, d] = &arguments;
    // The polynomial of the file, with t = x/4.
    let p = [1.267_879_820_563_19, 2.0, 0.861_501_073_350_433, 0.0, -0.253_138_723_293_566];
    let activated = |x: f64| {
        let t = x / 4.0;
        let (t2, t4) = (2.0 * t * t - 1.0, 8.0 * t.powi(4) - 8.0 * t * t + 1.0);
        p[0] + p[1] * t + p[2] * t2 + p[4] * t4
    };
    let hidden: Vec<f64> = multiplied(w, x, b).into_iter().map(activated).collect();
    assert!(error(&found, &multiplied(v, &hidden, d)) < SMALL);
}

/// The first layer of a network for images of 28 x 28 pixels, by loops.
#[test]
fn a_layer_of_mnist() {
    let scaled = |seed, count| numbers(seed, count).into_iter().map(|x| x / 32.0).collect::<Vec<_>>();
    let arguments = [numbers(1, 784), scaled(2, 512 * 784), numbers(3, 512)];
    let (import, found) = run(sample!("mnist"), 2048, &arguments);
    let rotated_by_zero =
        import.counts["ckks.rotate"] - import.generated.ledger.stage("evaluate").automorphisms;
    assert!(rotated_by_zero <= 1);
    let [x, w, b] = &arguments;
    assert!(error(&found, &multiplied(w, x, b)) < SMALL);
}
