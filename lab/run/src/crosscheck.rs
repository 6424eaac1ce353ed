//! Compares witnesses that share no arithmetic, word for word, on the same tasks: ring operations, and
//! [key switching](KeySwitch) as a chain of them.

mod key_switch;

use crate::{Mode, Options, draw, run};
use codegen::{PlanChoice, Request, generate};
use sim::Machine;
use std::error::Error;
use thiserror::Error;

pub use key_switch::KeySwitch;

/// The results of a task for each set of operands.
pub type Results = Result<Vec<Vec<u128>>, Box<dyn Error + Send + Sync>>;

/// Operands of one computation, one vector of n residues each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operands {
    /// Their kind, for messages: `extreme` or `random`.
    pub name: &'static str,
    /// One vector for each operand of the operation.
    pub vectors: Vec<Vec<u128>>,
}

impl Operands {
    /// Operands of n residues modulo these numbers: residues at the ends of their range, and random ones
    /// from the seed, as [`draw`] generates them.
    pub fn sets(moduli: &[u128], n: usize, seed: u64) -> Vec<Self> {
        let set = |name, vector: &dyn Fn(u64, u128) -> Vec<u128>| Self {
            name,
            vectors: (0..).zip(moduli).map(|(operand, &q)| vector(operand, q)).collect(),
        };
        let extreme = |operand, q: u128| match operand {
            0 => vec![q - 1; n],
            _ => [q - 1, 0, 1].into_iter().cycle().take(n).collect(),
        };
        vec![set("extreme", &extreme), set("random", &|operand, q| draw(seed, operand, n, q))]
    }
}

/// What witnesses compute.
pub trait Task: Send + Sync {
    /// The operation's name.
    fn operation(&self) -> String;

    /// The ring degree.
    fn n(&self) -> u32;

    /// The modulus of the first ring.
    fn modulus(&self) -> u128;

    /// The moduli of the operands. A task that is invalid has none; every witness refuses it.
    fn operands(&self) -> Vec<u128>;

    /// The results of a witness.
    ///
    /// # Errors
    /// Returns an error if the witness cannot compute the task.
    fn ask(&self, witness: &dyn Witness, sets: &[Operands]) -> Results;
}

impl Task for Request {
    fn operation(&self) -> String {
        self.operation.to_string()
    }

    fn n(&self) -> u32 {
        Self::n(self)
    }

    fn modulus(&self) -> u128 {
        self.basis.rings()[0].q()
    }

    fn operands(&self) -> Vec<u128> {
        golden::moduli(&self.claim(0)).map_or(Vec::new(), |moduli| moduli.inputs)
    }

    fn ask(&self, witness: &dyn Witness, sets: &[Operands]) -> Results {
        witness.compute(self, sets)
    }
}

/// An independent implementation of the ring operations.
pub trait Witness: Sync {
    /// The name, a word or two.
    fn name(&self) -> &str;

    /// The result of `request` for each set of operands, in the orders of [`golden::evaluate`].
    ///
    /// # Errors
    /// Returns an error if the witness cannot compute the request.
    fn compute(&self, request: &Request, sets: &[Operands]) -> Results;

    /// The results of a key switch for each set of operands. A witness without a key switch of its own
    /// computes the chain of operations.
    ///
    /// # Errors
    /// Returns an error if the witness cannot compute one of them.
    fn key_switch(&self, task: &KeySwitch, sets: &[Operands]) -> Results {
        task.chain(self, sets)
    }
}

/// [`golden::evaluate`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GoldenModel;

impl Witness for GoldenModel {
    fn name(&self) -> &str {
        "golden model"
    }

    fn compute(&self, request: &Request, sets: &[Operands]) -> Results {
        let claim = request.claim(0);
        let evaluate = |set: &Operands| {
            let vectors: Vec<&[u128]> = set.vectors.iter().map(Vec::as_slice).collect();
            Ok(golden::evaluate(&claim, &vectors)?.concat())
        };
        sets.iter().map(evaluate).collect()
    }
}

/// The generated program, executed.
#[derive(Clone, Debug)]
pub struct Simulator {
    /// The machine that executes it.
    pub machine: Machine,
    /// The choice of the program's recipe.
    pub plan: PlanChoice,
}

impl Witness for Simulator {
    fn name(&self) -> &str {
        "simulator"
    }

    fn compute(&self, request: &Request, sets: &[Operands]) -> Results {
        let program = generate(request, &self.machine, &self.plan)?.program;
        let claim = program.claims.first().ok_or("the generated program has no claim")?;
        let execute = |set: &Operands| {
            let inputs = claim.inputs.iter().cloned().zip(set.vectors.iter().cloned()).collect();
            let options = Options { mode: Mode::FunctionalOnly, inputs, ..Options::default() };
            let mut outcome = run(&program, &self.machine, &options)?;
            let outputs = claim.outputs.iter().map(|name| outcome.outputs.remove(name));
            let outputs: Option<Vec<_>> = outputs.collect();
            Ok(outputs.ok_or("the generated program has no output")?.concat())
        };
        sets.iter().map(execute).collect()
    }
}

/// The first difference between a witness and the reference.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{operation} of {n} coefficients modulo {modulus:#x}: on the {operands} operands, the {witness} has {found} at \
     index {index} where the {reference} has {expected:#x}", found = .found.map_or("nothing".into(), |f| format!("{f:#x}"))
)]
pub struct Difference {
    /// The operation.
    pub operation: String,
    /// The ring degree.
    pub n: u32,
    /// The modulus.
    pub modulus: u128,
    /// The name of the operands.
    pub operands: &'static str,
    /// The witness that differs.
    pub witness: String,
    /// The reference.
    pub reference: String,
    /// The index of the first coefficient that differs.
    pub index: usize,
    /// The witness's value there; `None` if its result is too short.
    pub found: Option<u128>,
    /// The reference's value.
    pub expected: u128,
}

/// A witness that could not compute something.
#[derive(Debug, Error)]
#[error("the {witness} cannot compute {operation} of {n} coefficients modulo {modulus:#x}: {cause}")]
pub struct WitnessError {
    /// The witness.
    pub witness: String,
    /// The operation.
    pub operation: String,
    /// The ring degree.
    pub n: u32,
    /// The modulus.
    pub modulus: u128,
    /// The reason.
    #[source]
    pub cause: Box<dyn Error + Send + Sync>,
}

/// Gives all witnesses the operands of [`Operands::sets`] and compares each with `reference`.
/// Returns for each witness whether it agrees.
///
/// # Errors
/// Returns an error if one of them cannot compute the task at all.
pub fn crosscheck(
    task: &dyn Task,
    seed: u64,
    reference: &dyn Witness,
    witnesses: &[&dyn Witness],
) -> Result<Vec<Result<(), Difference>>, WitnessError> {
    let (operation, n, modulus) = (task.operation(), task.n(), task.modulus());
    let sets = Operands::sets(&task.operands(), n as usize, seed);
    let ask = |witness: &dyn Witness| {
        task.ask(witness, &sets).map_err(|cause| WitnessError {
            witness: witness.name().into(),
            operation: operation.clone(),
            n,
            modulus,
            cause,
        })
    };
    let expected = ask(reference)?;
    let compare = |witness: &&dyn Witness| {
        let found = ask(*witness)?;
        for (at, (set, expected)) in sets.iter().zip(&expected).enumerate() {
            let found = found.get(at).map_or(&[][..], Vec::as_slice);
            if let Some(index) = (0..expected.len()).find(|&index| found.get(index) != Some(&expected[index]))
            {
                return Ok(Err(Difference {
                    operation: operation.clone(),
                    n,
                    modulus,
                    operands: set.name,
                    witness: witness.name().into(),
                    reference: reference.name().into(),
                    index,
                    found: found.get(index).copied(),
                    expected: expected[index],
                }));
            }
        }
        Ok(Ok(()))
    };
    witnesses.iter().map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{ModulusSpec, RequestSpec};
    use golden::Operation;
    use ring::Degree;
    use sim::MachineFile;

    fn request(operation: Operation, n: u32) -> Request {
        let modulus = ModulusSpec::Bits(30);
        RequestSpec { operation, n, modulus, root: None, towers: 1 }.resolve().unwrap()
    }

    /// Correct except for the last operands, for which it changes or omits one coefficient.
    struct Liar {
        cuts: bool,
    }

    impl Witness for Liar {
        fn name(&self) -> &str {
            "liar"
        }

        fn compute(&self, request: &Request, sets: &[Operands]) -> Results {
            let mut results = GoldenModel.compute(request, sets)?;
            let last = results.last_mut().ok_or("no operands")?;
            if self.cuts {
                last.truncate(700);
            } else {
                last[700] ^= 1;
            }
            Ok(results)
        }
    }

    #[test]
    fn the_simulator_agrees_and_a_lie_is_found() {
        let machine = MachineFile::built_in("rpu-128x128", &[]).unwrap();
        let simulator = Simulator { machine, plan: PlanChoice::Classical };
        for function in golden::OPERATIONS.iter().copied() {
            let request = request(function, 1024);
            let witnesses: [&dyn Witness; 3] = [&simulator, &Liar { cuts: false }, &Liar { cuts: true }];
            let verdicts = crosscheck(&request, 5, &GoldenModel, &witnesses).unwrap();
            assert_eq!(verdicts[0], Ok(()));
            let changed = verdicts[1].clone().unwrap_err();
            assert_eq!((changed.index, changed.operands), (700, "random"));
            assert_eq!(changed.found, Some(changed.expected ^ 1));
            assert_eq!(
                changed.to_string(),
                format!(
                    "{function} of 1024 coefficients modulo {:#x}: on the random operands, the liar has {:#x} at index 700 \
                     where the golden model has {:#x}",
                    request.modulus(),
                    changed.expected ^ 1,
                    changed.expected
                )
            );
            let cut = verdicts[2].clone().unwrap_err();
            assert_eq!((cut.index, cut.found), (700, None));
        }
    }

    /// 3 limbs in 2 digits, 2 special limbs.
    #[test]
    fn the_simulator_switches_keys_as_the_golden_model() {
        let machine = MachineFile::built_in("rpu-128x128", &[]).unwrap();
        let simulator = Simulator { machine, plan: PlanChoice::Classical };
        let task = KeySwitch::with_primes(Degree::try_from(1024_u32).unwrap(), 30, 3, 2, 2).unwrap();
        assert_eq!(task.operands().len(), 3 + 2 * 2 * 5);
        let witnesses: [&dyn Witness; 2] = [&simulator, &Liar { cuts: false }];
        let verdicts = crosscheck(&task, 5, &GoldenModel, &witnesses).unwrap();
        assert_eq!(verdicts[0], Ok(()));
        assert_eq!(verdicts[1].clone().unwrap_err().operation, "key_switch");
    }

    #[test]
    fn a_witness_that_cannot_is_named() {
        let machine = MachineFile::built_in("rpu-128x128", &[]).unwrap();
        let request = request(golden::NTT, 256);
        let simulator = Simulator { machine, plan: PlanChoice::Classical };
        let error = crosscheck(&request, 0, &simulator, &[]).unwrap_err();
        assert!(error.to_string().starts_with("the simulator cannot compute ntt of 256 "), "{error}");
    }

    #[test]
    fn operands_reach_the_ends_of_the_range() {
        let request = request(golden::POLYMUL, 1024);
        let q = request.modulus();
        let sets = Operands::sets(&request.operands(), 1024, 3);
        assert_eq!(sets.iter().map(|set| set.vectors.len()).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(sets[0].vectors[0], vec![q - 1; 1024]);
        assert_eq!(sets[0].vectors[1][..4], [q - 1, 0, 1, q - 1]);
        assert_eq!(sets[1].vectors[1], draw(3, 1, 1024, q));
    }
}
