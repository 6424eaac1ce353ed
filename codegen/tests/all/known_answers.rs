//! Operations in several rings compared with committed results (`data/README.md`).

use b512_asm::Setting;
use codegen::{Parameters, PlanChoice, Request, generate};
use golden::{Kind, Operation};
use ring::{Basis, Degree};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sim::Machine;
use sim::functional::Executor;

const ANSWERS: &str = include_str!("../data/conversions.json");

fn hex(text: &Value) -> u128 {
    u128::from_str_radix(text.as_str().unwrap(), 16).unwrap()
}

fn list(value: &Value) -> Vec<u128> {
    value.as_array().unwrap().iter().map(hex).collect()
}

/// The words of an operand, from splitmix64.
fn draw(operand: u64, n: u64, q: u128) -> Vec<u128> {
    let bits = 128 - q.leading_zeros();
    let mut state = (u64::from(bits) << 32) + 4 * n + operand;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        u128::from(z ^ z >> 31)
    };
    let mut word = || {
        let (hi, lo) = (next(), next());
        if bits > 64 { (hi << 64 | lo) % q } else { lo % q }
    };
    (0..n).map(|_| word()).collect()
}

fn request(n: u64, case: &Value) -> Request {
    let operation: Operation = case["operation"].as_str().unwrap().parse().unwrap();
    let (mut moduli, mut parameters) = (Vec::new(), Vec::new());
    for setting in operation.lists() {
        let own = list(&case["lists"][setting.name]);
        moduli.extend(&own);
        let value =
            if setting.kind == Kind::Moduli { Setting::Numbers(own) } else { Setting::Number(own[0]) };
        parameters.push((setting.name.to_owned(), value));
    }
    for (name, value) in case["settings"].as_object().unwrap() {
        let value = match value.as_str() {
            Some(word) => Setting::Word(word.to_owned()),
            None => Setting::Number(value.as_u64().unwrap().into()),
        };
        parameters.push((name.clone(), value));
    }
    let degree = Degree::new(n).unwrap();
    let rings = moduli.into_iter().map(|q| Request::ring(operation, degree, q, None).unwrap());
    let basis = Basis::new(rings.collect()).unwrap();
    Request { operation, basis, parameters: Parameters::new(parameters) }
}

#[test]
fn kernels_give_the_known_answers() {
    let answers: Value = serde_json::from_str(ANSWERS).unwrap();
    let n = answers["n"].as_u64().unwrap();
    let machine = Machine::rpu_128x128();
    let cases = answers["cases"].as_array().unwrap();
    for case in cases {
        let program = generate(&request(n, case), &machine, &PlanChoice::Classical).unwrap().program;
        let claim = &program.claims[0];
        let mut executor = Executor::new(machine.vdm_words(), machine.sdm_words());
        executor.load(&program).unwrap();
        for ((operand, name), q) in (0..).zip(&claim.inputs).zip(golden::moduli(claim).unwrap().inputs) {
            executor.write(name, &draw(operand, n, q)).unwrap();
        }
        executor.run().unwrap();
        let results = case["results"].as_array().unwrap();
        assert_eq!(results.len(), claim.outputs.len());
        for (name, result) in claim.outputs.iter().zip(results) {
            let words = executor.read(name).unwrap();
            assert_eq!(words[..2], list(&result["head"]), "{name} of {claim}");
            assert_eq!(words[words.len() - 1..], list(&result["tail"]), "{name} of {claim}");
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(digest, result["sha256"].as_str().unwrap(), "{name} of {claim}");
        }
    }
    assert_eq!(cases.len(), 9);
}
