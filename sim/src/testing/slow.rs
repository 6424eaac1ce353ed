//! A slow engine: a literal reading of the instructions' documentation, without bounds, caches or vector
//! code.

use crate::machine::LawOperands;
use b512_asm::reg::{MAX_VDM_WORDS, REGISTERS};
use b512_asm::{AReg, AddressMode, FeatureSet, Instr, MReg, Offset, Program, SReg, Space, VReg};
use num_bigint::BigUint;

/// A vector register, lane by lane.
type Lanes = Vec<u128>;

/// The memories of a machine, and the program that it runs.
#[derive(Clone, Debug)]
pub struct SlowEngine {
    program: Program,
    features: FeatureSet,
    operands: LawOperands,
    vdm: Vec<u128>,
    sdm: Vec<u128>,
}

/// The registers during a run.
struct Registers {
    operands: LawOperands,
    vector: Vec<Lanes>,
    scalar: [u128; REGISTERS],
    address: [u32; REGISTERS],
    modulus: [Option<u128>; REGISTERS],
}

/// The operand rule of a vector source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Reduced,
    Multiplicand,
}

impl SlowEngine {
    /// An engine for `program` with these extensions and this rule for multiplicands. Its memories have these
    /// numbers of words and hold the program's images.
    ///
    /// # Panics
    /// Panics if an image does not fit its memory.
    pub fn new(
        program: &Program,
        features: FeatureSet,
        operands: LawOperands,
        [vdm_words, sdm_words]: [u32; 2],
    ) -> Self {
        let filled = |space: Space, words: u32| {
            let mut memory = vec![0; words as usize];
            for segment in &program.image(space).segments {
                memory[segment.start as usize..segment.end() as usize].copy_from_slice(&segment.words);
            }
            memory
        };
        Self {
            program: program.clone(),
            features,
            operands,
            vdm: filled(Space::Vdm, vdm_words),
            sdm: filled(Space::Sdm, sdm_words),
        }
    }

    /// The words of the VDM.
    pub fn vdm(&self) -> &[u128] {
        &self.vdm
    }

    /// Writes words of the VDM from `start` on.
    ///
    /// # Panics
    /// Panics if the VDM has no such words.
    pub fn write(&mut self, start: u32, words: &[u128]) {
        self.vdm[start as usize..][..words.len()].copy_from_slice(words);
    }

    /// Runs the program on the present content of the memories. Returns the number of instructions executed.
    ///
    /// # Errors
    /// Returns the index of the first faulty instruction, which has no effect.
    pub fn run(&mut self) -> Result<usize, usize> {
        let program = self.program.clone();
        let mut registers = Registers::new(&program, self.operands);
        for (index, instr) in program.instructions.iter().enumerate() {
            if matches!(instr, Instr::Halt {}) {
                return Ok(index + 1);
            }
            self.step(*instr, &mut registers).ok_or(index)?;
        }
        Ok(program.instructions.len())
    }

    /// Executes one instruction; `None` is a fault.
    fn step(&mut self, instr: Instr, r: &mut Registers) -> Option<()> {
        if instr.op().info().feature.is_some_and(|feature| !self.features.contains(feature)) {
            return None;
        }
        match instr {
            Instr::Halt {} => {}
            Instr::Vload { vd, base, offset, mode } => {
                let addresses = self.addresses(r, base, offset, mode)?;
                r.vector[vd.index()] = addresses.into_iter().map(|word| self.vdm[word]).collect();
            }
            Instr::Vstore { vs, base, offset, mode } => {
                let addresses = self.addresses(r, base, offset, mode)?;
                addresses
                    .into_iter()
                    .zip(&r.vector[vs.index()])
                    .for_each(|(word, lane)| self.vdm[word] = *lane);
            }
            Instr::Sload { rt, offset } => r.scalar[rt.index()] = self.scalar(offset)?,
            Instr::Aload { rt, offset } => {
                let address = u32::try_from(self.scalar(offset)?).ok();
                r.address[rt.index()] = address.filter(|&address| address < MAX_VDM_WORDS)?;
            }
            Instr::Mload { rt, offset } => {
                let modulus = self.scalar(offset)?;
                r.modulus[rt.index()] = Some(modulus).filter(|q| *q >= 3 && q % 2 == 1);
                r.modulus[rt.index()]?;
            }
            Instr::Vadd { vd, vs, vt, rm } => r.lanewise(vd, [vs, vt], rm, [Rule::Reduced; 2], add)?,
            Instr::Vsub { vd, vs, vt, rm } => r.lanewise(vd, [vs, vt], rm, [Rule::Reduced; 2], sub)?,
            Instr::Vmul { vd, vs, vt, rm } => {
                r.lanewise(vd, [vs, vt], rm, [Rule::Multiplicand, Rule::Reduced], mul)?;
            }
            Instr::Vadds { vd, vs, rt, rm } => r.with_scalar(vd, vs, rt, rm, Rule::Reduced, add)?,
            Instr::Vsubs { vd, vs, rt, rm } => r.with_scalar(vd, vs, rt, rm, Rule::Reduced, sub)?,
            Instr::Vmuls { vd, vs, rt, rm } => r.with_scalar(vd, vs, rt, rm, Rule::Multiplicand, mul)?,
            Instr::Bfly { vd, vd1, vs, vt, vt1, rm } => {
                let q = r.modulus[rm.index()]?;
                let a = r.source(vs, q, Rule::Reduced)?;
                let product =
                    zip(&r.source(vt, q, Rule::Multiplicand)?, &r.source(vt1, q, Rule::Reduced)?, q, mul);
                r.vector[vd.index()] = zip(&a, &product, q, add);
                r.vector[vd1.index()] = zip(&a, &product, q, sub);
            }
            Instr::Gsbfly { vd, vd1, vs, vt, vt1, rm } => {
                let q = r.modulus[rm.index()]?;
                let source = |register| r.source(register, q, Rule::Reduced);
                let (a, b, w) = (source(vs)?, source(vt)?, source(vt1)?);
                r.vector[vd.index()] = zip(&a, &b, q, add);
                r.vector[vd1.index()] = zip(&zip(&a, &b, q, sub), &w, q, mul);
            }
            Instr::Unpklo { vd, vs, vt } => r.shuffle(vd, vs, vt, |lane, _| (lane % 2, lane / 2)),
            Instr::Unpkhi { vd, vs, vt } => r.shuffle(vd, vs, vt, |lane, half| (lane % 2, half + lane / 2)),
            Instr::Pklo { vd, vs, vt } => {
                r.shuffle(vd, vs, vt, |lane, half| (lane / half, 2 * (lane % half)))
            }
            Instr::Pkhi { vd, vs, vt } => {
                r.shuffle(vd, vs, vt, |lane, half| (lane / half, 2 * (lane % half) + 1));
            }
            Instr::Vaff { vd, vs, map } => {
                r.shuffle(vd, vs, vs, |lane, half| {
                    let bits = half.ilog2() + 1;
                    let reversed = |lane: usize| -> usize {
                        (0..bits).map(|bit| (lane >> bit & 1) << (bits - 1 - bit)).sum()
                    };
                    let h = usize::from(map.multiplier()) * reversed(lane) + usize::from(map.shift());
                    (0, reversed(h % (2 * half)))
                });
            }
        }
        Some(())
    }

    /// The words of a vector access.
    fn addresses(&self, r: &Registers, base: AReg, offset: Offset, mode: AddressMode) -> Option<Vec<usize>> {
        let lanes = self.program.isa.vector_length();
        let word = |lane: u32| {
            let word = u64::from(r.address[base.index()])
                + u64::from(offset.words())
                + u64::from(mode.element(lane));
            usize::try_from(word).ok().filter(|&word| word < self.vdm.len())
        };
        (0..lanes).map(word).collect()
    }

    /// A word of the SDM.
    fn scalar(&self, offset: Offset) -> Option<u128> {
        self.sdm.get(offset.words() as usize).copied()
    }
}

impl Registers {
    /// The initial state of a program: zeros, except for its launch values.
    fn new(program: &Program, operands: LawOperands) -> Self {
        let lanes = program.isa.vector_length() as usize;
        let mut registers = Self {
            operands,
            vector: vec![vec![0; lanes]; REGISTERS],
            scalar: [0; REGISTERS],
            address: [0; REGISTERS],
            modulus: [None; REGISTERS],
        };
        for &(register, address) in &program.addresses {
            registers.address[register.index()] = address;
        }
        for &(register, modulus) in &program.moduli {
            registers.modulus[register.index()] = Some(modulus);
        }
        registers
    }

    /// The lanes of a source, if they keep its rule.
    fn source(&self, register: VReg, q: u128, rule: Rule) -> Option<Lanes> {
        let lanes = &self.vector[register.index()];
        let is_any = rule == Rule::Multiplicand && self.operands == LawOperands::Word;
        (is_any || lanes.iter().all(|&lane| lane < q)).then(|| lanes.clone())
    }

    fn lanewise(
        &mut self,
        vd: VReg,
        [vs, vt]: [VReg; 2],
        rm: MReg,
        rules: [Rule; 2],
        operation: fn(u128, u128, u128) -> u128,
    ) -> Option<()> {
        let q = self.modulus[rm.index()]?;
        let (a, b) = (self.source(vs, q, rules[0])?, self.source(vt, q, rules[1])?);
        self.vector[vd.index()] = zip(&a, &b, q, operation);
        Some(())
    }

    fn with_scalar(
        &mut self,
        vd: VReg,
        vs: VReg,
        rt: SReg,
        rm: MReg,
        rule: Rule,
        operation: fn(u128, u128, u128) -> u128,
    ) -> Option<()> {
        let q = self.modulus[rm.index()]?;
        let (a, scalar) = (self.source(vs, q, rule)?, self.scalar[rt.index()]);
        if scalar >= q {
            return None;
        }
        self.vector[vd.index()] = a.iter().map(|&lane| operation(lane, scalar, q)).collect();
        Some(())
    }

    /// `from` maps a lane of the result and half the number of lanes to the source and its lane.
    fn shuffle(&mut self, vd: VReg, vs: VReg, vt: VReg, from: impl Fn(usize, usize) -> (usize, usize)) {
        let sources = [vs, vt].map(|register| self.vector[register.index()].clone());
        let lanes = sources[0].len();
        let moved = |lane: usize| {
            let (source, index) = from(lane, lanes / 2);
            sources[source][index]
        };
        self.vector[vd.index()] = (0..lanes).map(moved).collect();
    }
}

fn zip(a: &[u128], b: &[u128], q: u128, operation: fn(u128, u128, u128) -> u128) -> Lanes {
    a.iter().zip(b).map(|(&a, &b)| operation(a, b, q)).collect()
}

fn reduced(value: BigUint, q: u128) -> u128 {
    u128::try_from(value % q).expect("a residue")
}

fn add(a: u128, b: u128, q: u128) -> u128 {
    reduced(BigUint::from(a) + b, q)
}

fn sub(a: u128, b: u128, q: u128) -> u128 {
    reduced(BigUint::from(a) + q - b, q)
}

fn mul(a: u128, b: u128, q: u128) -> u128 {
    reduced(BigUint::from(a) * b, q)
}
