//! The instructions, one arm each.

use super::error::Fault;
use super::memory::Width;
use super::registers::SourceRule;
use super::{Executor, lanes};
use crate::machine::LawOperands;
use b512_asm::reg::MAX_VDM_WORDS;
use b512_asm::{AReg, AddressMode, Instr, LaneMap, MReg, Offset, SReg, VReg};
use ring::modular::{Modulus, Narrow};
use ring::vector::{self, Factors, narrow};
use std::ops::Range;

/// One operation on lanes of 128 bits, and on lanes of 64 bits.
struct Widths<W, N> {
    wide: W,
    narrow: N,
}

/// `out = kernel(a, b)`.
type Binary = Widths<fn(&Modulus, &mut [u128], &[u128], &[u128]), fn(Narrow, &mut [u64], &[u64], &[u64])>;
const ADD: Binary = Widths { wide: vector::add, narrow: narrow::add };
const SUB: Binary = Widths { wide: vector::sub, narrow: narrow::sub };

/// `out = kernel(a, scalar)`.
type Scalar = Widths<fn(&Modulus, &mut [u128], &[u128], u128), fn(Narrow, &mut [u64], &[u64], u64)>;
const ADD_SCALAR: Scalar = Widths { wide: vector::add_scalar, narrow: narrow::add_scalar };
const SUB_SCALAR: Scalar = Widths { wide: vector::sub_scalar, narrow: narrow::sub_scalar };
const MULTIPLY_SCALAR: Scalar = Widths { wide: vector::multiply_scalar, narrow: narrow::multiply_scalar };

/// `(out, out1) = kernel(a, b, w)`.
type Butterfly = Widths<
    fn(&Modulus, [&mut [u128]; 2], &[u128], &[u128], &Factors),
    fn(Narrow, [&mut [u64]; 2], &[u64], &[u64], &Factors),
>;
const BUTTERFLY: Butterfly = Widths { wide: vector::butterfly, narrow: narrow::butterfly };
const INVERSE_BUTTERFLY: Butterfly =
    Widths { wide: vector::inverse_butterfly, narrow: narrow::inverse_butterfly };

/// `out = kernel(a, b)`, for a kernel that moves lanes.
type Movement = Widths<fn(&mut [u128], &[u128], &[u128]), fn(&mut [u64], &[u64], &[u64])>;
const UNPACK_LOW: Movement = Widths { wide: lanes::unpack::<0, _>, narrow: lanes::unpack::<0, _> };
const UNPACK_HIGH: Movement = Widths { wide: lanes::unpack::<1, _>, narrow: lanes::unpack::<1, _> };
const PACK_EVEN: Movement = Widths { wide: lanes::pack::<0, _>, narrow: lanes::pack::<0, _> };
const PACK_ODD: Movement = Widths { wide: lanes::pack::<1, _>, narrow: lanes::pack::<1, _> };

impl Executor {
    /// Executes one instruction.
    pub(super) fn step(&mut self, instr: Instr) -> Result<(), Fault> {
        let missing = instr.op().info().feature.filter(|&feature| !self.resources.features.contains(feature));
        if let Some(feature) = missing {
            return Err(Fault::Extension(feature));
        }
        match instr {
            Instr::Halt {} => Ok(()),
            Instr::Vload { vd, base, offset, mode } => self.load_vector(vd, base, offset, mode),
            Instr::Vstore { vs, base, offset, mode } => self.store_vector(vs, base, offset, mode),
            Instr::Sload { rt, offset } => self.sdm(offset).map(|v| self.registers.scalar[rt.index()] = v),
            Instr::Aload { rt, offset } => self.load_address(rt, offset),
            Instr::Mload { rt, offset } => self.load_modulus(rt, offset),
            Instr::Vadd { vd, vs, vt, rm } => self.lanewise(vd, vs, vt, rm, &ADD),
            Instr::Vsub { vd, vs, vt, rm } => self.lanewise(vd, vs, vt, rm, &SUB),
            Instr::Vmul { vd, vs, vt, rm } => self.multiply(vd, vs, vt, rm),
            Instr::Vadds { vd, vs, rt, rm } => {
                self.with_scalar(vd, vs, rt, rm, SourceRule::Reduced, &ADD_SCALAR)
            }
            Instr::Vsubs { vd, vs, rt, rm } => {
                self.with_scalar(vd, vs, rt, rm, SourceRule::Reduced, &SUB_SCALAR)
            }
            Instr::Vmuls { vd, vs, rt, rm } => {
                self.with_scalar(vd, vs, rt, rm, SourceRule::Multiplicand, &MULTIPLY_SCALAR)
            }
            Instr::Bfly { vd, vd1, vs, vt, vt1, rm } => {
                self.butterfly([vd, vd1], [vs, vt, vt1], rm, SourceRule::Multiplicand, &BUTTERFLY)
            }
            Instr::Gsbfly { vd, vd1, vs, vt, vt1, rm } => {
                self.butterfly([vd, vd1], [vs, vt, vt1], rm, SourceRule::Reduced, &INVERSE_BUTTERFLY)
            }
            Instr::Unpklo { vd, vs, vt } => self.shuffle(vd, vs, vt, &UNPACK_LOW),
            Instr::Unpkhi { vd, vs, vt } => self.shuffle(vd, vs, vt, &UNPACK_HIGH),
            Instr::Pklo { vd, vs, vt } => self.shuffle(vd, vs, vt, &PACK_EVEN),
            Instr::Pkhi { vd, vs, vt } => self.shuffle(vd, vs, vt, &PACK_ODD),
            Instr::Vaff { vd, vs, map } => self.map_lanes(vd, vs, map),
        }
    }

    /// The words of the VDM from the first to the last that a vector load or store accesses.
    fn vdm_range(&self, base: AReg, offset: Offset, mode: AddressMode) -> Result<Range<u32>, Fault> {
        let start = self.registers.address[base.index()] + offset.words();
        let end = start + mode.span(self.resources.isa);
        if end as usize > self.vdm.len() {
            return Err(Fault::OutsideVdm { first: start, last: end - 1, words: self.vdm.len() });
        }
        Ok(start..end)
    }

    fn sdm(&self, offset: Offset) -> Result<u128, Fault> {
        let word = self.sdm.get(offset.words());
        word.ok_or(Fault::OutsideSdm { word: offset.words(), words: self.sdm.len() })
    }

    fn load_vector(&mut self, vd: VReg, base: AReg, offset: Offset, mode: AddressMode) -> Result<(), Fault> {
        let range = self.vdm_range(base, offset, mode)?;
        let register = &mut self.registers.vector[vd.index()];
        register.at_most = self.bounds.at_most(&range);
        register.source = self.constants.slice(&range, mode);
        register.pending = register.source.is_some();
        if !register.pending {
            register.load(&self.vdm, range.start, mode);
        }
        Ok(())
    }

    fn store_vector(&mut self, vs: VReg, base: AReg, offset: Offset, mode: AddressMode) -> Result<(), Fault> {
        let range = self.vdm_range(base, offset, mode)?;
        if self.constants.contains_any(&range) {
            for register in &mut self.registers.vector {
                register.settle(&self.vdm);
                register.source = None;
            }
            self.constants.overwrite(&range, self.resources.isa);
        }
        let register = &mut self.registers.vector[vs.index()];
        register.settle(&self.vdm);
        self.bounds.overwrite(&range, register.at_most, mode == AddressMode::Linear);
        register.store(&mut self.vdm, range.start, mode);
        Ok(())
    }

    fn load_address(&mut self, rt: AReg, offset: Offset) -> Result<(), Fault> {
        let value = self.sdm(offset)?;
        if value >= u128::from(MAX_VDM_WORDS) {
            return Err(Fault::AddressTooLarge { register: rt, value });
        }
        self.registers.address[rt.index()] = value as u32;
        Ok(())
    }

    fn load_modulus(&mut self, rt: MReg, offset: Offset) -> Result<(), Fault> {
        let modulus = Modulus::new(self.sdm(offset)?);
        let modulus = modulus.map_err(|source| Fault::Modulus { register: rt, source })?;
        self.registers.modulus[rt.index()] = Some(modulus);
        Ok(())
    }

    /// `vd = kernel(vs, vt)`, lane by lane.
    fn lanewise(&mut self, vd: VReg, vs: VReg, vt: VReg, rm: MReg, kernel: &Binary) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        r.require_below(vs, rm, &q, &self.vdm)?;
        r.require_below(vt, rm, &q, &self.vdm)?;
        r.set_widths(&q, [vs, vt]);
        let [a, b] = [vs, vt].map(|register| &r.vector[register.index()].lanes);
        let out = &mut r.spare[0].lanes;
        match q.narrow() {
            Some(q) => (kernel.narrow)(q, out.narrow_mut(), a.narrow(), b.narrow()),
            None => (kernel.wide)(&q, out, a, b),
        }
        r.commit(0, vd, Width::of(&q), q.value() - 1);
        Ok(())
    }

    /// `vd = kernel(vs, scalar)`, lane by lane.
    fn with_scalar(
        &mut self,
        vd: VReg,
        vs: VReg,
        rt: SReg,
        rm: MReg,
        source: SourceRule,
        kernel: &Scalar,
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        r.require(source, self.operands, vs, (rm, &q), &self.vdm)?;
        let scalar = r.scalar_below(rt, rm, &q)?;
        let multiplicand = r.multiplicand(&q, vs);
        let (a, out) = (multiplicand.lanes(&r.vector, &r.residues), &mut r.spare[0].lanes);
        match q.narrow() {
            Some(q) => (kernel.narrow)(q, out.narrow_mut(), a.narrow(), scalar as u64),
            None => (kernel.wide)(&q, out, a, scalar),
        }
        r.commit(0, vd, Width::of(&q), q.value() - 1);
        Ok(())
    }

    /// `vd = vs vt`, lane by lane: `vs` is the multiplicand, and `vt` must be below the modulus.
    fn multiply(&mut self, vd: VReg, vs: VReg, vt: VReg, rm: MReg) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        if self.operands == LawOperands::Reduced {
            r.require(SourceRule::Multiplicand, self.operands, vs, (rm, &q), &self.vdm)?;
        }
        // A product commutes: a reduced constant multiplicand can be the prepared factor. The
        // operand rule is independent of the exchange.
        let exchange = self.constants.can_prepare(&mut r.vector[vs.index()], vs, (rm, &q), &self.vdm);
        let (x, w) = if exchange { (vt, vs) } else { (vs, vt) };
        if exchange {
            r.require_below(vt, rm, &q, &self.vdm)?;
        } else {
            r.vector[vs.index()].settle(&self.vdm);
        }
        let multiplicand = r.multiplicand(&q, x);
        let is_constant = r.vector[w.index()].source.is_some();
        if let Some(residues) = q.narrow().filter(|_| !is_constant) {
            // A factor that is used once is not worth its preparation.
            r.vector[w.index()].require_below(w, rm, &q)?;
            r.vector[w.index()].narrow();
            let (x, out) = (multiplicand.lanes(&r.vector, &r.residues), &mut r.spare[0].lanes);
            narrow::product(residues, out.narrow_mut(), x.narrow(), r.vector[w.index()].lanes.narrow());
        } else {
            let register = &mut r.vector[w.index()];
            let w = self.constants.prepare(register, w, (rm, &q), &self.vdm, &mut r.factor)?;
            let (x, out) = (multiplicand.lanes(&r.vector, &r.residues), &mut r.spare[0].lanes);
            match q.narrow() {
                Some(q) => narrow::multiply(q, out.narrow_mut(), x.narrow(), w),
                None => vector::multiply(&q, out, x, w),
            }
        }
        r.commit(0, vd, Width::of(&q), q.value() - 1);
        Ok(())
    }

    /// `(vd, vd1) = kernel(vs, vt, vt1)`, with `vt1` as factors.
    fn butterfly(
        &mut self,
        [vd, vd1]: [VReg; 2],
        [vs, vt, vt1]: [VReg; 3],
        rm: MReg,
        source: SourceRule,
        kernel: &Butterfly,
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        r.require_below(vs, rm, &q, &self.vdm)?;
        r.require(source, self.operands, vt, (rm, &q), &self.vdm)?;
        r.set_widths(&q, [vs]);
        let multiplicand = r.multiplicand(&q, vt);
        let register = &mut r.vector[vt1.index()];
        let w = self.constants.prepare(register, vt1, (rm, &q), &self.vdm, &mut r.factor)?;
        let (a, b) = (&r.vector[vs.index()].lanes, multiplicand.lanes(&r.vector, &r.residues));
        let [out, out1] = r.spare.each_mut().map(|register| &mut register.lanes);
        match q.narrow() {
            Some(q) => {
                (kernel.narrow)(q, [out.narrow_mut(), out1.narrow_mut()], a.narrow(), b.narrow(), w);
            }
            None => (kernel.wide)(&q, [out, out1], a, b, w),
        }
        for (spare, vd) in [vd, vd1].into_iter().enumerate() {
            r.commit(spare, vd, Width::of(&q), q.value() - 1);
        }
        Ok(())
    }

    /// `vd = vs`, with its lanes mapped.
    fn map_lanes(&mut self, vd: VReg, vs: VReg, map: LaneMap) -> Result<(), Fault> {
        let length = self.resources.isa.vector_length() as usize;
        let r = &mut self.registers;
        r.vector[vs.index()].settle(&self.vdm);
        let width = r.common_width([vs, vs]);
        let (a, out) = (&r.vector[vs.index()], &mut r.spare[0].lanes);
        let (at_most, sources) = (a.at_most, (0..length).map(|lane| map.source(lane, length)));
        match width {
            Width::Narrow => {
                let words = a.lanes.narrow();
                out.narrow_mut().iter_mut().zip(sources).for_each(|(word, source)| *word = words[source]);
            }
            Width::Wide => out.iter_mut().zip(sources).for_each(|(word, source)| *word = a.lanes[source]),
        }
        r.commit(0, vd, width, at_most);
        Ok(())
    }

    /// `vd = kernel(vs, vt)`, for a kernel that moves lanes.
    fn shuffle(&mut self, vd: VReg, vs: VReg, vt: VReg, kernel: &Movement) -> Result<(), Fault> {
        let r = &mut self.registers;
        for register in [vs, vt] {
            r.vector[register.index()].settle(&self.vdm);
        }
        let width = r.common_width([vs, vt]);
        let [a, b] = [vs, vt].map(|register| &r.vector[register.index()]);
        let (at_most, out) = (a.at_most.max(b.at_most), &mut r.spare[0].lanes);
        match width {
            Width::Narrow => (kernel.narrow)(out.narrow_mut(), a.lanes.narrow(), b.lanes.narrow()),
            Width::Wide => (kernel.wide)(out, &a.lanes, &b.lanes),
        }
        r.commit(0, vd, width, at_most);
        Ok(())
    }
}
