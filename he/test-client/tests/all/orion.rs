//! Networks of Orion on data: packed, encrypted, executed on big integers, decrypted.

use programs::orion::Program;
use test_client::digits::{CLASSES, class, test_images};
use test_client::{Client, orion};

/// A network that `tests/orion/compile.py` has compiled, and its logits in the clear, by PyTorch.
macro_rules! sample {
    ($name:literal) => {
        (
            include_bytes!(concat!("../../../programs/tests/orion/", $name, ".orion")).as_slice(),
            include_str!(concat!("../../../programs/tests/orion/", $name, ".txt")),
        )
    };
}

/// 2^-15.
const SMALL: f64 = 1.0 / 32_768.0;

/// Classifies the images of the committed logits.
fn check_logits(name: &str, (bytes, expected): (&[u8], &str)) {
    let program = Program::read(name, bytes).unwrap();
    let import = program.import().unwrap();
    let mut client = Client::new(import.generated.set.clone(), 1).unwrap();
    let (mut images, mut worst) = (0, 0.0_f64);
    for (image, line) in test_images().iter().zip(expected.lines()) {
        let output = orion::infer(&mut client, &program, &import, &image.pixels).unwrap();
        let found: [f64; CLASSES] = output[0][..CLASSES].try_into().unwrap();
        let logits: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let logits: [f64; CLASSES] = logits.try_into().unwrap();
        assert_eq!(class(&found), class(&logits), "{name}: image {images}");
        worst = found.iter().zip(&logits).fold(worst, |worst, (a, b)| worst.max((a - b).abs()));
        images += 1;
    }
    println!("{name}: {images} images, logits within 2^{:.1}", worst.log2());
    assert!(images == 20 && worst < SMALL, "{images} images, {worst}");
}

#[test]
fn a_perceptron_classifies_images() {
    check_logits("perceptron.orion", sample!("perceptron"));
}

/// A convolution with a stride, and a polynomial for SiLU.
#[test]
fn a_convolutional_network_classifies_images() {
    check_logits("convolution.orion", sample!("convolution"));
}

/// Numbers from -1 to 1.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// A matrix of two blocks, a square, a bootstrap of half the slots, and a polynomial by powers.
#[test]
fn blocks_and_a_bootstrap() {
    const SLOTS: usize = 1024;
    let header = concat!(
        r#"{"version":2,"params":{"logn":11,"logq":[55,40,40,40],"logp":[61],"log_default_scale":40,"h":192,"#,
        r#""ring_type":"standard","boot_logp":[61,61,61,61,61],"btp_logn":11},"config":{"margin":2,"#,
        r#""embedding_method":"hybrid","fuse_modules":true},"manifest":{},"input_level":3,"cost":{},"graph":{"#,
        r#""input":"fc","output":"act","nodes":[{"name":"fc","op":"linear_transform","level":3,"depth":1,"#,
        r#""config":{"bsgs_ratio":2,"output_rotations":1,"num_input_cts":2,"num_output_cts":1},"#,
        r#""blob_refs":{"diag_0_0":0,"diag_0_1":1,"bias_0":2}},"#,
        r#"{"name":"square","op":"quad","level":2,"depth":1,"config":{}},"#,
        r#"{"name":"boot_0","op":"bootstrap","level":1,"depth":1,"config":{"input_level":1,"input_min":-2,"#,
        r#""input_max":2,"prescale":0.5,"postscale":2,"constant":-0.25,"slots":512}},"#,
        r#"{"name":"act","op":"polynomial","level":3,"depth":2,"config":{"coeffs":[0.5,-1,0.25,2],"#,
        r#""basis":"monomial","prescale":1,"postscale":1,"constant":0}}],"#,
        r#""edges":[{"src":"fc","dst":"square"},{"src":"square","dst":"boot_0"},{"src":"boot_0","dst":"act"}]},"#,
        r#""blob_count":3}"#
    );
    let mut bytes = b"ORION\0\x02\0".to_vec();
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(3_u32.to_le_bytes());
    let diagonal = |index: i32, values: &[f64]| {
        let mut blob = 1_u32.to_le_bytes().to_vec();
        blob.extend(index.to_le_bytes());
        values.iter().for_each(|value| blob.extend(value.to_le_bytes()));
        blob
    };
    let scaled = |seed: u64| numbers(seed, SLOTS).into_iter().map(|x| x / 4.0).collect::<Vec<f64>>();
    let (first, second, bias) = (scaled(1), scaled(2), scaled(3));
    let blobs = [diagonal(0, &first), diagonal(-3, &second), diagonal(0, &bias).split_off(8)];
    for blob in blobs {
        bytes.extend((blob.len() as u64).to_le_bytes());
        bytes.extend(blob);
    }
    let program = Program::read("net.orion", &bytes).unwrap();
    let import = program.import().unwrap();
    assert_eq!(import.inputs, ["input_0", "input_1"]);
    let x = numbers(4, 2 * SLOTS);
    let mut client = Client::new(import.generated.set.clone(), 1).unwrap();
    let found = orion::infer(&mut client, &program, &import, &x).unwrap().remove(0);
    let sum = |k: usize| first[k] * x[k] + second[k] * x[SLOTS + (k + SLOTS - 3) % SLOTS] + bias[k];
    let value = |k: usize| {
        // The slots of a bootstrap repeat.
        let k = k % 512;
        let y = (sum(k) + sum((k + SLOTS / 2) % SLOTS)).powi(2);
        0.5 - y + 0.25 * y * y + 2.0 * y.powi(3)
    };
    let errors = (0..SLOTS).map(|k| (found[k] - value(k)).abs());
    let worst = errors.fold(0.0, f64::max);
    println!("a network with a bootstrap: within 2^{:.1}", worst.log2());
    assert!(worst < SMALL, "{worst}");
}
