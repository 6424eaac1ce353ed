//! Data files, and the errors in them.

use ring_program::data::{Words, concat, write_data};
use ring_program::{Inputs, Interface, LimbId, Manifest, RingProgram, execute, read};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;

const N: usize = 512;

/// Two inputs of two limbs each that share `%2`, an unread limb, and an output that is an input.
fn program() -> RingProgram {
    let manifest = r#"{"ring_dimension": 512,
        "inputs": {"x": [1, 2], "y": [2, 3], "unread": [4]},
        "outputs": {"sum": [5], "same": [3]}}"#;
    let manifest = Manifest::parse("m.json", manifest, Path::new("")).unwrap();
    let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nsr_addp %5, %1, %2, m=1\nhalt\n";
    read("p.fhetch", text.as_bytes(), Interface::Manifest(&manifest)).unwrap()
}

fn file(limbs: &[[u128; N]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_data(&limbs.iter().map(|limb| Words::from(&limb[..])).collect::<Vec<_>>(), &mut bytes).unwrap();
    assert_eq!(bytes.len(), limbs.len() * N * 16);
    bytes
}

fn load(program: &RingProgram, name: &str, bytes: &[u8]) -> Result<(), String> {
    Inputs::new(program).load(name, "x.bin", bytes).map_err(|error| error.to_string())
}

#[test]
fn limbs_follow_each_other() {
    let program = program();
    let mut inputs = Inputs::new(&program);
    let missing = |inputs: &Inputs<'_>| inputs.missing().map(|group| group.name.clone()).collect::<Vec<_>>();
    assert_eq!(missing(&inputs), ["x", "y"]);
    inputs.load("x", "x.bin", file(&[[1; N], [12288; N]]).as_slice()).unwrap();
    assert_eq!(missing(&inputs), ["y"]);
    // The limb `%3` has no modulus: no operation reads it.
    inputs.load("y", "y.bin", file(&[[12288; N], [u128::MAX; N]]).as_slice()).unwrap();
    assert_eq!(missing(&inputs), [""; 0]);
    let outputs = execute(&inputs).unwrap();
    assert_eq!(concat(&outputs[0]), [0; N]);
    assert_eq!(concat(&outputs[1]), [u128::MAX; N]);
}

#[test]
fn errors_name_the_limb_and_the_word() {
    let program = program();
    let mut wrong = [0; N];
    wrong[511] = 12289;
    assert_eq!(
        load(&program, "x", &file(&[[0; N], wrong])).unwrap_err(),
        "x.bin: limb 1 (`%2`) of the input `x`: word 511 is 0x3001, not below the modulus m[1] = 0x3001"
    );
    let whole = file(&[[0; N]; 3]);
    for (length, reason) in
        [(0, "limb 0 is incomplete"), (8192, "limb 1 is incomplete"), (16383, "limb 1 is incomplete")]
    {
        assert_eq!(
            load(&program, "x", &whole[..length]).unwrap_err(),
            format!(
                "x.bin: the input `x` has 16384 bytes, found {length}: {reason}; 2 limbs of 512 words of 16 bytes"
            )
        );
    }
    let error = load(&program, "x", &whole[..16385]).unwrap_err();
    assert!(error.contains("found 16385: the file is longer"), "{error}");
    assert_eq!(
        load(&program, "z", &whole).unwrap_err(),
        "x.bin: unknown input `z`; the inputs are `x`, `y`, `unread`"
    );
    assert_eq!(
        load(&program, "unred", &whole).unwrap_err(),
        "x.bin: unknown input `unred`; did you mean `unread`?"
    );
    let of_inputs = |count: u64| {
        let lines: String = (0..count).map(|id| format!("sr_negp %{id}, %{id}, m=1\n")).collect();
        let text = format!("modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n{lines}halt\n");
        let program = read("p.fhetch", text.as_bytes(), Interface::Degree(N as u64)).unwrap();
        load(&program, "something", &whole).unwrap_err()
    };
    assert!(
        of_inputs(20).ends_with(
            "the inputs are `id0`, `id1`, `id2`, `id3`, `id4`, `id5`, `id6`, `id7`, `id8`, `id9`, \
        `id10`, `id11`, `id12`, `id13`, `id14`, `id15`, `id16`, `id17`, `id18`, `id19`"
        ),
        "{}",
        of_inputs(20)
    );
    assert_eq!(of_inputs(21), "x.bin: unknown input `something`");
}

#[test]
fn inputs_that_share_a_limb_agree() {
    let program = program();
    let mut inputs = Inputs::new(&program);
    inputs.load("x", "x.bin", file(&[[1; N], [2; N]]).as_slice()).unwrap();
    let error = inputs.load("y", "y.bin", file(&[[3; N], [2; N]]).as_slice()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "y.bin: limb 0 (`%2`) of the input `y`: another input has the limb with other words"
    );
}

#[test]
fn files_are_measured_before_they_are_read() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bin");
    std::fs::write(&path, file(&[[1; N]])).unwrap();
    let error = Inputs::new(&program).load_file("x", &path).unwrap_err();
    assert!(error.message.contains("found 8192"), "{error}");
    let error = Inputs::new(&program).load_file("x", &folder.path().join("none")).unwrap_err();
    assert!(error.message.starts_with("cannot read the input `x`"), "{error}");
}

#[test]
fn filled_words_are_residues_and_the_same_in_each_run() {
    let program = program();
    let words = |seed| {
        let mut inputs = Inputs::new(&program);
        inputs.fill(seed);
        assert_eq!(inputs.missing().count(), 0);
        program
            .inputs()
            .iter()
            .flat_map(|group| &group.limbs)
            .filter(|&&limb| inputs.is_needed(limb))
            .filter_map(|&limb| inputs.words(limb))
            .collect::<Vec<_>>()
    };
    assert_eq!(words(1), words(1));
    assert_ne!(words(1), words(2));
    assert!(words(1).iter().flat_map(|limb| limb.iter()).all(|word| word < 12289));
    // What is given stays.
    let mut inputs = Inputs::new(&program);
    inputs.load("x", "x.bin", file(&[[1; N], [2; N]]).as_slice()).unwrap();
    inputs.fill(1);
    assert_eq!(inputs.words(program.inputs()[0].limbs[0]), Some(Words::from(&[1; N][..])));
}

/// The reference implementation of SplitMix64 gives them.
#[test]
fn filled_words_are_those_of_a_known_generator() {
    let text = "modulus_count 3\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nm[2] 0xa001\n\
        sr_addp %5, %0, %1, m=1\nsr_mulps %6, %2, 3, m=1\nhalt\n";
    let program = read("p.fhetch", text.as_bytes(), Interface::Degree(N as u64)).unwrap();
    let mut inputs = Inputs::new(&program);
    inputs.fill(1_234_567);
    let drawn = |inputs: &Inputs<'_>, id: u64, count: usize| -> Vec<u128> {
        let limb = program.limbs().find(LimbId(id)).unwrap();
        inputs.words(limb).unwrap().iter().take(count).collect()
    };
    assert_eq!(drawn(&inputs, 0, 4), [7765, 12287, 2983, 3233]);
    assert_eq!(drawn(&inputs, 1, 4), [9708, 4635, 9103, 12175]);
    assert_eq!(drawn(&inputs, 2, 4), [8403, 8803, 9108, 9370]);
    // A short ring has the first words.
    let short = read("p.fhetch", text.as_bytes(), Interface::Degree(8)).unwrap();
    let mut few = Inputs::new(&short);
    few.fill(1_234_567);
    let words = few.words(short.limbs().find(LimbId(0)).unwrap()).unwrap();
    assert_eq!(words.iter().collect::<Vec<_>>(), drawn(&inputs, 0, 8));
    inputs.fill_with_edges(1);
    // Operands of a sum are residues.
    assert_eq!(
        drawn(&inputs, 1, 12),
        [4186, 9103, 9431, 6145, 2951, 10167, 2473, 4441, 6144, 0, 12288, 3350]
    );
    // A product takes any words, here those below the largest modulus.
    assert_eq!(
        drawn(&inputs, 2, 16),
        [
            12290, 13918, 6145, 2627, 40960, 12290, 2932, 3534, 6144, 12290, 12289, 12288, 6144, 1754, 16366,
            12289
        ]
    );
    // Words of more than 64 bits: the first of two is the high half.
    let wide = text.replace("0x3001", "0x10000000000000000000018c01");
    let program = read("p.fhetch", wide.as_bytes(), Interface::Degree(N as u64)).unwrap();
    let mut inputs = Inputs::new(&program);
    inputs.fill(1_234_567);
    let words = inputs.words(program.limbs().find(LimbId(0)).unwrap()).unwrap();
    assert_eq!(
        words.iter().take(3).collect::<Vec<_>>(),
        [0x7fb08fc852c73e7da381c96a4, 0x5a3f27c773fbeea14cfd0e771, 0x708cb5ecd6c4f67b87b4d79b0]
    );
}

/// A reader that is interrupted before its bytes, and fails after them.
struct Faulty<'b> {
    is_interrupted: bool,
    bytes: &'b [u8],
}

impl Read for Faulty<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if std::mem::take(&mut self.is_interrupted) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match self.bytes.read(buffer)? {
            0 => Err(io::Error::other("a bad sector")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_reader_may_be_interrupted_but_not_fail() {
    let program = program();
    let bytes = file(&[[1; N], [2; N]]);
    for (bytes, is_whole) in [(&bytes[..], true), (&bytes[..100], false)] {
        let mut inputs = Inputs::new(&program);
        let error = inputs.load("x", "x.bin", Faulty { is_interrupted: true, bytes }).unwrap_err();
        assert_eq!(error.to_string(), "x.bin: cannot read the input `x`: a bad sector");
        assert_eq!(inputs.missing().any(|group| group.name == "x"), !is_whole);
    }
}

#[test]
fn words_are_made_for_the_lines_that_read_them() {
    let program = program();
    let made = &Mutex::new(Vec::new());
    let mut inputs = Inputs::new(&program);
    for name in ["x", "y", "unread"] {
        let limb = move |index| {
            made.lock().unwrap().push((name, index));
            Words::from(vec![10 + index as u64; N])
        };
        match name {
            "y" => inputs.make_again(name, limb),
            _ => inputs.make(name, limb),
        }
        .unwrap();
    }
    assert_eq!(inputs.missing().count(), 0);
    assert_eq!(concat(&execute(&inputs).unwrap().concat()), [[21; N], [11; N]].concat());
    // The limb `%2` is that of `x`, which names it first.
    made.lock().unwrap().sort_unstable();
    assert_eq!(*made.lock().unwrap(), [("x", 0), ("x", 1), ("y", 1)]);
    let kept = |id| inputs.is_kept(program.limbs().find(LimbId(id)).unwrap());
    assert_eq!([1, 2, 3].map(kept), [true, true, false]);
    assert!(format!("{inputs:?}").contains("Made("), "{inputs:?}");
    let error = inputs.make("z", |_| Words::zeros(N)).unwrap_err();
    assert!(error.message.contains("unknown input `z`"), "{error}");
}
