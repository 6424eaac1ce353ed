//! Kernels of homomorphic encryption compared with OpenFHE, residue by residue.
//!
//! The environment variable `HE_VECTORS` names a folder with sets of polynomials, `NAME.json.xz`. Each
//! names its moduli and roots, and lists polynomials with the numbers of their moduli.

use b512_asm::Setting;
use codegen::{Parameters, PlanChoice, Request, generate};
use golden::Operation;
use lzma_rust2::XzReader;
use ring::{Basis, Degree, Ring};
use serde_json::Value;
use sim::Machine;
use sim::functional::Executor;
use std::fs::File;

/// A set of polynomials.
struct Set {
    json: Value,
    n: usize,
    rings: Vec<Ring>,
}

/// Residues of a polynomial modulo each of some of the set's moduli.
#[derive(Clone)]
struct Polynomial {
    towers: Vec<usize>,
    words: Vec<Vec<u128>>,
}

impl Polynomial {
    /// The residues modulo these of the set's moduli.
    fn of(&self, towers: &[usize]) -> Self {
        let index = |tower: &usize| self.towers.iter().position(|own| own == tower).unwrap();
        let words = towers.iter().map(|tower| self.words[index(tower)].clone()).collect();
        Self { towers: towers.to_vec(), words }
    }
}

fn hex(text: &Value) -> u128 {
    u128::from_str_radix(text.as_str().unwrap(), 16).unwrap()
}

impl Set {
    fn new(json: Value) -> Self {
        let n = json["meta"]["n"].as_u64().unwrap() as usize;
        let list = |name: &str| json[name].as_array().unwrap().iter().map(hex).collect::<Vec<u128>>();
        let degree = Degree::try_from(n).unwrap();
        let rings = list("moduli").into_iter().zip(list("psi"));
        let rings = rings.map(|(q, psi)| Ring::with_root(degree, q, psi).unwrap()).collect();
        Self { json, n, rings }
    }

    fn number(&self, name: &str) -> usize {
        self.json["meta"][name].as_u64().unwrap() as usize
    }

    /// A polynomial, if the set has it in evaluation form, E, or by its coefficients, C.
    fn get(&self, name: &str, form: &str) -> Option<Polynomial> {
        let polynomial = self.json.get(name).filter(|polynomial| polynomial["fmt"] == form)?;
        let towers = polynomial["towers"].as_array().unwrap().iter();
        let words = |text: &Value| {
            let text = text.as_str().unwrap();
            let width = text.len() / self.n;
            let word = |i: usize| u128::from_str_radix(&text[width * i..width * (i + 1)], 16).unwrap();
            (0..self.n).map(word).collect()
        };
        Some(Polynomial {
            towers: towers.map(|tower| tower.as_u64().unwrap() as usize).collect(),
            words: polynomial["data"].as_array().unwrap().iter().map(words).collect(),
        })
    }

    fn values(&self, name: &str) -> Polynomial {
        self.get(name, "E").unwrap_or_else(|| panic!("no values of {name}"))
    }

    /// The results of an operation on the simulated machine. In one ring, its operands and results have one
    /// modulus; otherwise, `lists` names the moduli.
    fn run(
        &self,
        operation: Operation,
        lists: &[(&str, &[usize])],
        parameters: &[(&str, Setting)],
        operands: &[&Polynomial],
    ) -> Vec<Vec<u128>> {
        let mut towers: Vec<usize> = lists.iter().flat_map(|(_, towers)| towers.iter().copied()).collect();
        towers.sort_unstable();
        towers.dedup();
        let rings = towers.iter().map(|&tower| self.rings[tower]).collect();
        let mut values: Vec<(String, Setting)> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        for list in operation.lists() {
            let (_, own) = lists.iter().find(|(name, _)| *name == list.name).unwrap();
            let moduli: Vec<u128> = own.iter().map(|&tower| self.rings[tower].q()).collect();
            let value = match list.kind {
                golden::Kind::Modulus => Setting::Number(moduli[0]),
                _ => Setting::Numbers(moduli),
            };
            values.push((list.name.to_owned(), value));
        }
        let basis = Basis::new(rings).unwrap();
        let request = Request { operation, basis, parameters: Parameters::new(values) };
        let mut machine = Machine::rpu_128x128();
        machine.vdm.size_mib = 32;
        let program = generate(&request, &machine, &PlanChoice::Classical).unwrap().program;
        let mut executor = Executor::new(machine.vdm_words(), machine.sdm_words());
        executor.load(&program).unwrap();
        let words = operands.iter().flat_map(|operand| &operand.words);
        assert_eq!(words.clone().count(), program.claims[0].inputs.len(), "{operation}");
        for (name, words) in program.claims[0].inputs.iter().zip(words) {
            executor.write(name, words).unwrap();
        }
        executor.run().unwrap();
        program.claims[0].outputs.iter().map(|name| executor.read(name).unwrap().to_vec()).collect()
    }

    fn is(&self, found: &[Vec<u128>], expected: &Polynomial, what: &str) {
        assert!(found == expected.words, "{what} of {}", self.json["meta"]["name"]);
    }

    fn conversions(&self) -> usize {
        let mut tested = 0;
        for name in ["fbc_up", "fbc_down"] {
            let parts = ["in", "out"].map(|part| self.get(&format!("{name}.{part}"), "C"));
            let [Some(x), Some(y)] = parts else { continue };
            let variant = ("variant", Setting::Word("plain".into()));
            let found = self.run(golden::BCONV, &[("from", &x.towers), ("to", &y.towers)], &[variant], &[&x]);
            self.is(&found, &y, name);
            tested += 1;
        }
        tested
    }

    /// A key switch: digits, inner products and the division by the special moduli.
    fn key_switch(&self, name: &str, key: &str) -> usize {
        let (q, alpha) = (self.number("num_q"), self.number("alpha"));
        let Some(input) = self.get(&format!("{name}.in"), "E") else { return 0 };
        let special: Vec<usize> = (q..q + self.number("num_p")).collect();
        let all = [&input.towers[..], &special].concat();
        let mut raised = Vec::new();
        for (digit, own) in input.towers.chunks(alpha).enumerate() {
            let others: Vec<usize> = all.iter().copied().filter(|tower| !own.contains(tower)).collect();
            let found = self.run(golden::MOD_UP, &[("from", own), ("to", &others)], &[], &[&input.of(own)]);
            let digit = self.values(&format!("{name}.modup.{digit}"));
            self.is(&found, &digit.of(&others), "mod_up");
            raised.push(digit);
        }
        let inner = [0, 1].map(|part| self.values(&format!("{name}.inner.{part}")));
        for &tower in &all {
            let of = |polynomial: &Polynomial| polynomial.of(&[tower]);
            let keys = |part: &str| {
                let key = |digit| of(&self.values(&format!("{key}.{part}.{digit}")));
                (0..raised.len()).map(key).collect::<Vec<_>>()
            };
            let operands = [raised.iter().map(of).collect(), keys("b"), keys("a")].concat();
            let operands: Vec<&Polynomial> = operands.iter().collect();
            let digits = ("digits", Setting::Number(raised.len() as u128));
            let found = self.run(golden::KS_INNER_PRODUCT, &[("modulus", &[tower])], &[digits], &operands);
            for (found, inner) in found.into_iter().zip(&inner) {
                self.is(&[found], &of(inner), "ks_inner_product");
            }
        }
        let t = if self.json["meta"]["scheme"] == "bgv" { self.number("plaintext_modulus") } else { 1 };
        for (part, inner) in inner.iter().enumerate() {
            let out = self.values(&format!("{name}.out.{part}"));
            let lists: [(&str, &[usize]); 2] = [("from", &special), ("to", &input.towers)];
            let operands = [&inner.of(&input.towers), &inner.of(&special)];
            let t = ("t", Setting::Number(t as u128));
            self.is(&self.run(golden::MOD_DOWN, &lists, &[t], &operands), &out, "mod_down");
        }
        1
    }

    fn tensors(&self) -> usize {
        let Some(first) = self.get("tensor.0", "E") else { return 0 };
        let results = [first.clone(), self.values("tensor.1"), self.values("tensor.2")];
        let operands = ["ct1.0", "ct1.1", "ct2.0", "ct2.1"].map(|name| self.values(name));
        for &tower in &first.towers {
            let operands = operands.each_ref().map(|operand| operand.of(&[tower]));
            let found = self.run(golden::TENSOR, &[("modulus", &[tower])], &[], &operands.each_ref());
            for (found, result) in found.into_iter().zip(&results) {
                self.is(&[found], &result.of(&[tower]), "tensor");
            }
        }
        1
    }

    /// Rescaling in CKKS, and the modulus switch in BGV.
    fn last_moduli(&self) -> usize {
        let mut tested = 0;
        for (from, to) in [("prod", "rescaled"), ("ct1", "ct1_switched")] {
            for part in 0..2 {
                let Some(y) = self.get(&format!("{to}.{part}"), "E") else { continue };
                let x = self.values(&format!("{from}.{part}"));
                let (rest, last) = x.towers.split_at(y.towers.len());
                let (operation, parameters) = if self.json["meta"]["scheme"] == "bgv" {
                    let t = self.number("plaintext_modulus") as u128;
                    (golden::MOD_SWITCH, vec![("t", Setting::Number(t))])
                } else {
                    (golden::RESCALE, Vec::new())
                };
                let operands = [&x.of(rest), &x.of(last)];
                let found = self.run(operation, &[("last", last), ("to", rest)], &parameters, &operands);
                self.is(&found, &y, to);
                tested += 1;
            }
        }
        tested
    }

    fn automorphisms(&self) -> usize {
        let Some(x) = self.get("auto.in.coeff", "C") else { return 0 };
        let modulus: [(&str, &[usize]); 1] = [("modulus", &x.towers)];
        let transform = |x: &Polynomial| {
            let words = self.run(golden::NTT, &modulus, &[], &[x]);
            Polynomial { towers: x.towers.clone(), words }
        };
        for g in [5, 2 * self.n - 1] {
            let of = |order: &str, x: &Polynomial| {
                let order = ("order", Setting::Word(order.into()));
                let g = ("g", Setting::Number(g as u128));
                self.run(golden::AUTOMORPHISM, &modulus, &[g, order], &[x])
            };
            let [coefficients, values] = [("coeff", "C"), ("eval", "E")]
                .map(|(name, form)| self.get(&format!("auto.{g}.{name}"), form));
            self.is(&of("coefficients", &x), &coefficients.unwrap(), "automorphism of coefficients");
            self.is(&of("evaluation", &transform(&x)), &values.unwrap(), "automorphism of values");
        }
        1
    }
}

#[test]
fn kernels_equal_openfhe() {
    let Some(folder) = std::env::var_os("HE_VECTORS") else {
        eprintln!("HE_VECTORS names no folder: the kernels are not compared with OpenFHE's sets");
        return;
    };
    let mut tested = 0;
    for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        if !path.to_string_lossy().ends_with(".json.xz") {
            continue;
        }
        let json = serde_json::from_reader(XzReader::new(File::open(&path).unwrap(), false)).unwrap();
        let set = Set::new(json);
        // Other sets have digests of their polynomials only.
        if set.json["meta"]["mode"] == "native" {
            let counts = [
                set.conversions(),
                set.key_switch("ks", "relin"),
                set.key_switch("ksrot", "rot1"),
                set.tensors(),
                set.last_moduli(),
                set.automorphisms(),
            ];
            println!("{}: {counts:?}", path.display());
            tested += 1;
        }
    }
    assert!(tested > 0, "{} has no set with polynomials", folder.display());
}
