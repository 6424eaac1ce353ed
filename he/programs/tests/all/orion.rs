//! Networks of Orion: what is read, and what is refused.

use programs::orion::{Import, Program, is_orion};
use proptest::prelude::*;
use std::fmt::Write as _;

const PERCEPTRON: &[u8] = include_bytes!("../orion/perceptron.orion");
const CONVOLUTION: &[u8] = include_bytes!("../orion/convolution.orion");

/// A file with a header and blobs.
fn container(header: &str, blobs: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"ORION\0\x02\0".to_vec();
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((blobs.len() as u32).to_le_bytes());
    for blob in blobs {
        bytes.extend((blob.len() as u64).to_le_bytes());
        bytes.extend(blob);
    }
    bytes
}

/// A network without blobs: layers as `NAME OP LEVEL CONFIG`, the first with the input, the last with the
/// output.
fn network(params: &str, layers: &[&str], edges: &[&str]) -> String {
    let mut nodes = String::new();
    for layer in layers {
        let [name, op, level, config] = layer.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{layer}")
        };
        let comma = if nodes.is_empty() { "" } else { "," };
        let _ = write!(
            nodes,
            r#"{comma}{{"name":"{name}","op":"{op}","level":{level},"depth":1,"config":{config}}}"#
        );
    }
    let edge = |edge: &&str| {
        let (src, dst) = edge.split_once('>').unwrap();
        format!(r#"{{"src":"{src}","dst":"{dst}"}}"#)
    };
    let edges: Vec<String> = edges.iter().map(edge).collect();
    let name = |layer: &str| layer.split(' ').next().unwrap().to_owned();
    let (input, output) = (name(layers[0]), name(layers[layers.len() - 1]));
    format!(
        concat!(
            r#"{{"version":2,"params":{{{}}},"config":{{"margin":2,"embedding_method":"hybrid","fuse_modules":false}},"#,
            r#""manifest":{{}},"input_level":3,"cost":{{}},"#,
            r#""graph":{{"input":"{}","output":"{}","nodes":[{}],"edges":[{}]}},"blob_count":0}}"#
        ),
        params,
        input,
        output,
        nodes,
        edges.join(",")
    )
}

const PARAMS: &str = r#""logn":8,"logq":[50,40,40,40],"logp":[51],"log_default_scale":40,"h":64,"ring_type":"standard","boot_logp":null,"btp_logn":null"#;

/// A square, its double, and a product.
const LAYERS: [&str; 3] = ["a quad 3 {}", "b add 2 {}", "c mult 2 {}"];
const EDGES: [&str; 4] = ["a>b", "a>b", "a>c", "b>c"];

fn import(bytes: &[u8]) -> Result<Import, diagnostic::Diagnostic> {
    Program::read("net.orion", bytes)?.import()
}

fn error(bytes: &[u8]) -> String {
    import(bytes).map(|_| ()).unwrap_err().to_string()
}

/// The error of a network without blobs, with one place changed.
fn changed(from: &str, to: &str) -> String {
    let header = network(PARAMS, &LAYERS, &EDGES);
    assert_eq!(header.matches(from).count(), 1, "{from} in {header}");
    error(&container(&header.replace(from, to), &[]))
}

#[test]
fn a_file_has_parameters_and_layers() {
    let program = Program::read("some/perceptron.orion", PERCEPTRON).unwrap();
    assert_eq!((program.name(), program.degree(), program.slots()), ("perceptron", 512, 256));
    let import = program.import().unwrap();
    let set = &import.generated.set;
    assert_eq!(set.levels(), 4);
    assert_eq!(set.hamming_weight(), Some(64));
    assert_eq!(set.security().to_string(), "none");
    let counts: Vec<_> = import.counts.iter().map(|(name, count)| (*name, *count)).collect();
    assert_eq!(counts, [("flatten", 1), ("linear_transform", 2), ("quad", 1)]);
    assert_eq!((import.inputs, import.outputs), (vec!["input".to_owned()], vec!["output".to_owned()]));
    assert_eq!(import.worst_sum, 0.0);
    let slots = program.pack(&[1.0, 2.0]).unwrap();
    assert_eq!((slots.len(), slots[0].len(), &slots[0][..3]), (1, 256, &[1.0, 2.0, 0.0][..]));
    let error = program.pack(&[0.0; 257]).unwrap_err();
    assert!(error.to_string().contains("257 numbers for an input of 256 slots"), "{error}");
    let counts = self::import(CONVOLUTION).unwrap().counts;
    assert_eq!((counts["linear_transform"], counts["polynomial"]), (2, 1));
    assert!(is_orion(CONVOLUTION) && !is_orion(b"\"builtin.module\""));
}

#[test]
fn layers_become_operations_and_stages() {
    let import = self::import(&container(&network(PARAMS, &LAYERS, &EDGES), &[])).unwrap();
    let ledger = &import.generated.ledger;
    assert_eq!((ledger.stage("a").products, ledger.stage("b").products), (1, 0));
    assert_eq!(ledger.total().relinearisations, 2);
    // With two levels used up of four.
    assert_eq!(import.generated.program.outputs()[0].limbs.len(), 2);
    // Without fusion, the factor before a polynomial and the one after it take a level each.
    let polynomial = r#"a polynomial 3 {"coeffs":[0,0,1],"basis":"monomial","prescale":0.5,"postscale":4,"constant":0.25}"#;
    let error = error(&container(&network(PARAMS, &[polynomial], &[]), &[]));
    assert!(error.contains("layer `a` (polynomial): "), "{error}");
    let large = polynomial.replace("[0,0,1]", "[0,0,0,1e308]").replace("monomial", "chebyshev");
    let error = self::error(&container(&network(PARAMS, &[&large], &[]), &[]));
    assert!(
        error.contains("config.coeffs: 1e308 with the scale 2^40.000000 is beyond its moduli"),
        "{error}"
    );
    for key in ["prescale", "postscale"] {
        let number = if key == "prescale" { "0.5" } else { "4" };
        let zero = polynomial.replace(&format!("\"{key}\":{number}"), &format!("\"{key}\":0"));
        let error = self::error(&container(&network(PARAMS, &[&zero], &[]), &[]));
        assert!(error.contains(&format!("config.{key} is 0: nothing is left of a message")), "{error}");
    }
    let five = PARAMS.replace("[50,40,40,40]", "[50,40,40,40,40]");
    let text = network(&five, &[polynomial], &[]).replace("\"input_level\":3", "\"input_level\":4");
    let import = self::import(&container(&text, &[])).unwrap();
    assert_eq!(import.generated.program.outputs()[0].limbs.len(), 1);
}

/// The differences from powers of two are those of `moduli_chain` and `aux_moduli_chain` of orion-v2-lattigo
/// 6.2.4.
#[test]
fn moduli_are_those_that_lattigo_takes() {
    let params =
        PARAMS.replace("\"logn\":8", "\"logn\":10").replace("[50,", "[60,").replace("[51]", "[61,61,61]");
    let set = import(&container(&network(&params, &LAYERS, &EDGES), &[])).unwrap().generated.set;
    let near = |bits: u32, difference: i128| ((1_i128 << bits) + difference) as u128;
    assert_eq!(set.q(), [near(60, -16_383), near(40, -34_815), near(40, -36_863), near(40, 51_201)]);
    assert_eq!(set.p(), [near(61, -10_239), near(61, -71_679), near(61, -77_823)]);
}

/// Its own bootstrap: Lattigo's moduli and the file's special ones.
#[test]
fn a_network_with_a_bootstrap() {
    let params = r#""logn":11,"logq":[55,40,40,40],"logp":[61],"log_default_scale":40,"h":192,"ring_type":"standard","boot_logp":[61,61,61,61,61],"btp_logn":11"#;
    let config = r#"{"input_level":2,"input_min":-2,"input_max":2,"prescale":0.5,"postscale":2,"constant":0,"slots":64}"#;
    let layers = ["a quad 3 {}", &format!("b bootstrap 2 {config}"), "c quad 3 {}"];
    let edges = ["a>b", "b>c"];
    let import = self::import(&container(&network(params, &layers, &edges), &[])).unwrap();
    assert_eq!(import.counts["bootstrap"], 1);
    assert_eq!(import.generated.set.levels(), 4 + 15);
    assert_eq!(import.generated.set.p().len(), 5);
    assert_eq!(import.generated.program.outputs()[0].limbs.len(), 3);
    let text = network(&params.replace("[61,61,61,61,61]", "null"), &layers, &edges);
    let message = error(&container(&text, &[]));
    assert!(message.contains("params.boot_logp: no moduli for the bootstraps; CKKSParams("), "{message}");
    let text = network(params, &layers, &edges).replace("\"postscale\":2", "\"postscale\":2.5");
    let message = error(&container(&text, &[]));
    assert!(message.contains("layer `b` (bootstrap): config.postscale is 2.5"), "{message}");
}

#[test]
fn other_forms_versions_and_rings_are_refused_by_name() {
    let message = error(b"\x08\x01");
    assert!(message.starts_with("net.orion: this is no network of Orion"), "{message}");
    let message = error(b"version https://git-lfs.github.com/spec/v1\n");
    assert!(message.contains("git lfs pull"), "{message}");
    let mut third = PERCEPTRON.to_vec();
    third[6] = 3;
    assert!(error(&third).starts_with("net.orion: version 3.0 of Orion's form; version 2.0 is read"));
    let message = changed("\"version\":2", "\"version\":3,\"more\":1");
    assert!(message.contains("version 3 of Orion's header, expected 2"), "{message}");
    let message = changed("\"standard\"", "\"conjugate_invariant\"");
    assert!(
        message.contains("params.ring_type: the ring `conjugate_invariant`; `standard` is read"),
        "{message}"
    );
    let message = changed("\"btp_logn\":null", "\"btp_logn\":9");
    assert!(message.contains("params.btp_logn: bootstraps in the ring of degree 2^9"), "{message}");
    let message = changed("\"blob_count\":0", "\"blob_count\":0,\"sparse\":true");
    assert!(message.contains("the header is invalid: unknown key `sparse`"), "{message}");
    assert!(message.ends_with("the headers of release 2.1.8 are read"), "{message}");
    let message = changed("\"blob_count\":0", "\"blob_count\":-0.5");
    assert!(message.contains("the header is invalid: expected a whole number, found `-0.5`"), "{message}");
    let escaped = network(PARAMS, &LAYERS, &EDGES).replace("standard", "st\\u0061ndard");
    assert!(import(&container(&escaped, &[])).is_ok());
    let message = changed("\"blob_count\":0", "\"blob_count\":1");
    assert!(message.contains("the header says that there are 1 blobs, the file has 0"), "{message}");
    let message = changed("[50,40,40,40]", "[61,40,40,40]");
    assert!(message.contains("params.logq: 4 moduli of the sizes [61, 40, 40, 40]"), "{message}");
    let message = changed("\"logn\":8", "\"logn\":70");
    assert!(message.contains("params.logn: no ring has the degree 2^70"), "{message}");
    let message = changed("\"hybrid\"", "\"nonsense\"");
    assert!(message.contains("unknown variant `nonsense`, expected `hybrid` or `square`"), "{message}");
    let message = changed("\"manifest\":{}", "\"manifest\":{\"needs_rlk\":false}");
    assert!(message.contains("manifest.needs_rlk is false, and the network has 2 products"), "{message}");
    let message = changed("\"manifest\":{}", "\"manifest\":{\"needs_key\":false}");
    assert!(message.contains("unknown key `needs_key`"), "{message}");
    let quad = r#""op":"quad","level":3,"depth":1,"#;
    let message = changed(quad, &format!(r#"{quad}"shape":{{"output":[1,4000]}},"#));
    assert!(message.contains("shape.output is [1, 4000], and its ciphertexts have 128 slots"), "{message}");
    let message = changed("\"input_level\":3", "\"input_level\":4");
    assert!(message.contains("input_level: 4, and params.logq has 4 moduli"), "{message}");
}

#[test]
fn layers_that_are_not_understood_are_refused_by_name() {
    let message = changed("\"op\":\"quad\"", "\"op\":\"squad\"");
    assert_eq!(message, "net.orion: layer `a` (squad): unknown operation `squad`; did you mean `quad`?");
    let message = changed("\"op\":\"quad\"", "\"op\":\"maxpool\"");
    assert!(message.contains("unknown operation `maxpool`; read are flatten, quad, add"), "{message}");
    let quad = r#""op":"quad","level":3,"depth":1,"config":{"#;
    let message = changed(quad, &format!("{quad}\"power\":3"));
    assert!(message.contains("layer `a` (quad): config: unknown key `power`"), "{message}");
    let message = changed(r#"{"src":"a","dst":"c"}"#, r#"{"src":"d","dst":"c"}"#);
    assert!(message.contains("unknown layer `d` in graph.edges[2].src"), "{message}");
    let message = changed(r#",{"src":"a","dst":"c"}"#, "");
    assert!(message.contains("layer `c` (mult): 1 operand, expected 2"), "{message}");
    let message = changed(r#"{"src":"a","dst":"c"}"#, r#"{"src":"c","dst":"b"}"#);
    assert!(message.contains("depends on itself"), "{message}");
    let message = changed(r#""output":"c""#, r#""output":"b""#);
    assert!(message.contains("nothing uses the result of the layer `c`"), "{message}");
    let message = changed("\"name\":\"b\"", "\"name\":\"../b\"");
    assert!(message.contains("invalid name `../b` of a layer (graph.nodes[1])"), "{message}");
    let message = changed("[50,40,40,40]", "[50,40]");
    assert!(message.contains("input_level: 3"), "{message}");
    let message = changed("\"config\":{}}]", "\"config\":{},\"blob_refs\":{\"w\":0}}]");
    assert!(message.contains("layer `c` (mult): blob_refs: unknown blob `w`"), "{message}");
    let levels = network(
        PARAMS,
        &["a quad 3 {}", "b quad 2 {}", "c quad 1 {}", "d quad 0 {}"],
        &["a>b", "b>c", "c>d"],
    );
    let message = error(&container(&levels, &[]));
    assert!(message.contains("layer `d` (quad): ") && message.contains("level 1"), "{message}");
}

/// A matrix whose blobs do not fit.
#[test]
fn matrices_that_do_not_fit_are_refused_by_name() {
    let header = |blobs: &str, count: usize, config: &str| {
        let layer = format!("fc linear_transform 3 {config}");
        let text = network(PARAMS, &[&layer], &[]);
        let text = text.replace("}}],\"edges\"", &format!("}},\"blob_refs\":{{{blobs}}}}}],\"edges\""));
        text.replace("\"blob_count\":0", &format!("\"blob_count\":{count}"))
    };
    let config = r#"{"bsgs_ratio":2,"output_rotations":0,"num_input_cts":1,"num_output_cts":1}"#;
    let diagonal = |index: i32, value: f64| {
        let mut blob = 1_u32.to_le_bytes().to_vec();
        blob.extend(index.to_le_bytes());
        (0..128).for_each(|_| blob.extend(value.to_le_bytes()));
        blob
    };
    let file = |blobs: &str, data: &[Vec<u8>]| container(&header(blobs, data.len(), config), data);
    let good = file("\"diag_0_0\":0", &[diagonal(-1, 0.5)]);
    assert_eq!(import(&good).unwrap().generated.ledger.total().automorphisms, 1);
    let wrong = |blobs: &str, data: &[Vec<u8>], expected: &str| {
        let message = error(&file(blobs, data));
        assert!(message.contains(expected), "{message}");
    };
    wrong("", &[], "layer `fc` (linear_transform): blob_refs lacks `diag_0_0`");
    wrong("\"bias_0\":0", &[diagonal(0, 1.0)], "blob_refs lacks `diag_0_0`");
    wrong("\"diag_0_0\":1", &[diagonal(0, 1.0)], "blob_refs.diag_0_0: blob 1 of 1");
    wrong("\"diag_0_0\":0", &[vec![0; 3]], "it lacks the number of diagonals");
    wrong("\"diag_0_0\":0", &[vec![0; 4]], "has no diagonal");
    wrong("\"diag_0_0\":0", &[vec![1; 40]], "40 bytes, and 16843009 diagonals of 128 slots have");
    wrong("\"diag_0_0\":0", &[diagonal(0, f64::NAN)], "the diagonal 0 has a number that is not finite");
    wrong("\"diag_0_0\":0,\"bias_0\":1", &[diagonal(0, 1.0), vec![0; 8]], "blob_refs.bias_0: 8 bytes");
    wrong("\"diag_0_0\":0,\"bias\":0", &[diagonal(0, 1.0)], "unknown blob `bias`");
    wrong("\"diag_0_0\":0", &[diagonal(0, 1.0), vec![0; 8]], "no layer has the blob 1");
    let bias = |value: f64| (0..128).flat_map(|_| value.to_le_bytes()).collect::<Vec<u8>>();
    // Q has 130 bits after the rescale of the matrix.
    for value in [1e28, 1e300] {
        let blobs = [diagonal(0, 1.0), bias(value)];
        let expected = format!("blob_refs.bias_0: {value:e} with the scale 2^40.000000 is beyond its moduli");
        wrong("\"diag_0_0\":0,\"bias_0\":1", &blobs, &expected);
    }
    wrong(
        "\"diag_0_0\":0",
        &[diagonal(0, 1e300)],
        "blob_refs.diag_0_0: 1e300 with the scale 2^40.000000 is beyond",
    );
    let flat = config.replace("\"bsgs_ratio\":2", "\"bsgs_ratio\":0");
    let message = error(&container(&header("\"diag_0_0\":0", 1, &flat), &[diagonal(0, 1.0)]));
    assert!(message.contains("config.bsgs_ratio is 0, expected a number above 0"), "{message}");
    let high = header("\"diag_0_0\":0", 1, config).replace("\"level\":3", &format!("\"level\":{}", u64::MAX));
    let message = error(&container(&high, &[diagonal(0, 1.0)]));
    assert!(
        message.contains("its operand has the level 3, and its own is 18446744073709551615"),
        "{message}"
    );
    let many = config.replace("\"output_rotations\":0", "\"output_rotations\":8");
    let message = error(&container(&header("\"diag_0_0\":0", 1, &many), &[diagonal(0, 1.0)]));
    assert!(message.contains("config.output_rotations is 8, and there are 128 slots"), "{message}");
    let mut longer = good.clone();
    longer.push(0);
    assert!(error(&longer).contains("1 bytes after the last blob"), "{}", error(&longer));
    let shorter = &good[..good.len() - 1];
    assert!(error(shorter).contains("the file ends in blob 0 of 1"), "{}", error(shorter));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Damaged files are errors, or other programs.
    #[test]
    fn damaged_networks_do_not_panic(
        sample in prop::sample::select(vec![
            PERCEPTRON.to_vec(),
            CONVOLUTION.to_vec(),
            container(&network(PARAMS, &LAYERS, &EDGES), &[]),
        ]),
        // Most damage is to the header, which begins the file.
        damages in prop::collection::vec((0_usize..4096, 0_usize..20, "[ -~]{0,6}"), 1..4),
    ) {
        let mut bytes = sample;
        for (place, length, inserted) in damages {
            let begin = place.min(bytes.len());
            let end = (begin + length).min(bytes.len());
            bytes.splice(begin..end, inserted.into_bytes());
        }
        // The length of the header that is there.
        if let Some(end) = bytes.windows(3).position(|window| window == b"0}\0") {
            let length = (end + 2).saturating_sub(12) as u32;
            if let Some(place) = bytes.get_mut(8..12) {
                place.copy_from_slice(&length.to_le_bytes());
            }
        }
        let _ = import(&bytes);
    }
}
