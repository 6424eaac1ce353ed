//! Random ring programs, with and without calls.

use rand::RngExt;
use ring_program::shape::{
    Binary, Clear, Duplicate, Galois, GaloisCoefficients, Monomial, Scalar, Transform, Unary,
};
use ring_program::{Builder, Call, FunctionIndex, Limb, LimbId, ModulusIndex, Operation, RingProgram};
use std::num::NonZeroU32;

/// The choices for one operation; each is reduced to what the operation needs.
pub type Choice = (u8, [u8; 3], u8, u128, u32);

/// The limbs of a program.
pub const LIMBS: u64 = 10;

/// A program under construction, in which operations get the residues that they need.
pub struct Random {
    /// The program so far.
    pub builder: Builder,
    moduli: Vec<ModulusIndex>,
    /// The modulus of each limb.
    of: Vec<ModulusIndex>,
}

impl Random {
    /// With `reduces`, it begins with a reduction of each limb, so that inputs may have any words.
    pub fn new(log2: u32, reduces: bool) -> Self {
        let mut builder = Builder::new(1 << log2).unwrap();
        let degree = builder.program().degree();
        let primes = [128, 60, 100, 32].map(|bits| ring::prime::largest_prime(bits, degree).unwrap());
        let moduli: Vec<_> = primes.iter().map(|&prime| builder.add_modulus(prime).unwrap()).collect();
        let mut random = Self { builder, moduli, of: Vec::new() };
        for id in 0..LIMBS {
            let m = random.moduli[id as usize % random.moduli.len()];
            random.of.push(m);
            if reduces {
                let (d, scalar) = (random.limb(id), random.builder.constant(1));
                random.push(Operation::MultiplyScalar(Scalar { d, a: d, scalar, m }));
            }
        }
        random
    }

    fn limb(&mut self, id: u64) -> Limb {
        self.builder.limb(LimbId(id))
    }

    fn push(&mut self, operation: Operation) {
        self.builder.push(operation).unwrap();
    }

    /// A limb with residues modulo `m`.
    fn residues(&mut self, id: u8, m: ModulusIndex) -> Limb {
        let id = u64::from(id) % LIMBS;
        let a = self.limb(id);
        if self.of[id as usize] != m {
            let (d, scalar) = (self.limb(id), self.builder.constant(3));
            self.push(Operation::MultiplyScalar(Scalar { d, a, scalar, m }));
            self.of[id as usize] = m;
        }
        a
    }

    /// Appends an operation, and the products that give its operands their residues.
    pub fn add(&mut self, (kind, ids, modulus, constant, small): Choice) {
        let m = self.moduli[modulus as usize % self.moduli.len()];
        let degree = self.builder.program().degree();
        let [id, id_a, id_b] = ids.map(|id| u64::from(id) % LIMBS);
        let (d, a, b) = (self.limb(id), self.limb(id_a), self.limb(id_b));
        let k = (small % degree.order() as u32) | 1;
        let mut of = m;
        let operation = match kind % 15 {
            kind @ 0..2 => {
                let (a, b) = (self.residues(ids[1], m), self.residues(ids[2], m));
                [Operation::Add, Operation::Subtract][kind as usize](Binary { d, a, b, m })
            }
            // The reading of words that are not reduced is the same in both executions.
            2 => Operation::Multiply(Binary { d, a, b, m }),
            kind @ 3..5 => {
                let (a, scalar) = (self.residues(ids[1], m), self.builder.constant(constant));
                [Operation::AddScalar, Operation::SubtractScalar][kind as usize - 3](Scalar {
                    d,
                    a,
                    scalar,
                    m,
                })
            }
            5 => {
                let scalar = self.builder.constant(constant);
                Operation::MultiplyScalar(Scalar { d, a, scalar, m })
            }
            6 => Operation::Negate(Unary { d, a: self.residues(ids[1], m), m }),
            kind @ 7..9 => {
                let q = ring::Modulus::new(self.builder.program().moduli().value(m)).unwrap();
                let smallest = ring::root::smallest_root(q.value(), degree).unwrap();
                let root =
                    (small % 3 > 0).then(|| self.builder.constant(q.pow(smallest, ((k % 8) | 1).into())));
                let a = self.residues(ids[1], m);
                [Operation::Ntt, Operation::Intt][kind as usize - 7](Transform { d, a, root, m })
            }
            9 => {
                of = self.of[id_a as usize];
                Operation::AutomorphEvaluation(Galois { d, a, k, m: Some(of).filter(|_| small % 4 < 2) })
            }
            10 => {
                Operation::AutomorphCoefficients(GaloisCoefficients { d, a: self.residues(ids[1], m), k, m })
            }
            11 => {
                let offset = small % degree.get() as u32;
                Operation::MultiplyMonomial(Monomial { d, a: self.residues(ids[1], m), offset, m })
            }
            12 => Operation::Zero(Clear { d, m: Some(m).filter(|_| small % 2 == 0) }),
            _ => {
                of = self.of[id_a as usize];
                Operation::Copy(Duplicate { d, a })
            }
        };
        self.push(operation);
        self.of[id as usize] = of;
    }
}

/// The program of some operations, of degree 2^`log2`. It accepts any words.
pub fn program(log2: u32, choices: Vec<Choice>) -> RingProgram {
    let mut random = Random::new(log2, true);
    choices.into_iter().for_each(|choice| random.add(choice));
    random.builder.finish(None).unwrap()
}

/// A random program of fewer than 120 operations.
pub fn random_program(rng: &mut impl rand::Rng) -> RingProgram {
    let choices = (0..rng.random_range(0..120)).map(|_| rng.random()).collect();
    program(rng.random_range(10..13), choices)
}

/// A program of the calls of random functions, each of ten limbs.
pub struct Calls {
    /// The program so far.
    pub main: Builder,
    functions: Vec<FunctionIndex>,
}

impl Calls {
    /// With `reduces`, functions begin with reductions, so that their arguments may have any words.
    pub fn new(log2: u32, bodies: &[Vec<Choice>], reduces: bool) -> Self {
        let mut main = Builder::new(1 << log2).unwrap();
        for (_, modulus) in Random::new(log2, reduces).builder.program().moduli().iter() {
            main.add_modulus(modulus).unwrap();
        }
        let mut functions = Vec::new();
        for (index, choices) in bodies.iter().enumerate() {
            let mut lines = Random::new(log2, reduces);
            choices.iter().for_each(|&choice| lines.add(choice));
            let parameters: Vec<Limb> = (0..LIMBS).map(|id| lines.limb(id)).collect();
            let results: Vec<LimbId> = (0..LIMBS).map(LimbId).collect();
            let body = lines.builder.function_of(&parameters, lines.builder.program().operations());
            functions.push(main.add_function(format!("f{index}"), body, &results).unwrap());
        }
        Self { main, functions }
    }

    /// Appends a call of a function, by its index modulo their number. The arguments, then the first result,
    /// are taken from `limbs` in turn.
    pub fn call(&mut self, function: usize, limbs: &[u8]) {
        let builder = &mut self.main;
        let function = self.functions[function % self.functions.len()];
        let mut limbs = limbs.iter().cycle().map(|&limb| u64::from(limb));
        let arguments = (0..LIMBS).map(|_| builder.limb(LimbId(limbs.next().unwrap() % LIMBS))).collect();
        let first = limbs.next().unwrap();
        let results = (0..LIMBS).map(|index| builder.limb(LimbId((first + index) % LIMBS))).collect();
        builder.call(Call { function, arguments, results }).unwrap();
    }
}

/// The operations of each function; and of each call, whether and how often it repeats, its function, and its
/// limbs.
pub type Choices = (Vec<Vec<Choice>>, Vec<(u8, usize, Vec<u8>)>);

/// The program of some functions and calls; `reduces` is as in [`Calls::new`].
pub fn program_with_calls(log2: u32, (bodies, calls): &Choices, reduces: bool) -> RingProgram {
    let mut program = Calls::new(log2, bodies, reduces);
    for (kind, function, limbs) in calls {
        let is_repeated = kind % 3 == 0;
        if is_repeated {
            let count = NonZeroU32::new(1 + u32::from(kind / 64)).unwrap();
            program.main.begin_repeat(count).unwrap();
        }
        program.call(*function, limbs);
        if is_repeated {
            assert!(program.main.end_repeat().unwrap());
        }
    }
    program.main.finish(None).unwrap()
}

/// A random program of three functions and up to five calls, some in repeats. Its data may not suit it.
pub fn random_calls(rng: &mut impl rand::Rng) -> RingProgram {
    let bodies = (0..3).map(|_| (0..rng.random_range(1..40)).map(|_| rng.random()).collect()).collect();
    let calls = (0..rng.random_range(1..6)).map(|_| {
        let limbs = (0..rng.random_range(1..14)).map(|_| rng.random()).collect();
        (rng.random(), rng.random_range(0..3), limbs)
    });
    let calls = calls.collect();
    program_with_calls(rng.random_range(10..13), &(bodies, calls), rng.random())
}
