//! The instructions, one arm each.

use super::error::Fault;
use super::memory::{gather, scatter};
use super::registers::Source;
use super::{Executor, lanes};
use crate::machine::LawOperands;
use b512_asm::reg::MAX_VDM_WORDS;
use b512_asm::{AReg, AddressMode, Instr, MReg, Offset, SReg, VReg};
use ring::modular::Modulus;
use ring::vector::{self, Factors};
use std::ops::Range;

/// A butterfly of [`vector`]: `(out, out1) = kernel(a, b, w)`.
type ButterflyKernel = fn(&Modulus, [&mut [u128]; 2], &[u128], &[u128], &Factors);

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
            Instr::Vadd { vd, vs, vt, rm } => self.lanewise(vd, vs, vt, rm, vector::add),
            Instr::Vsub { vd, vs, vt, rm } => self.lanewise(vd, vs, vt, rm, vector::sub),
            Instr::Vmul { vd, vs, vt, rm } => self.multiply(vd, vs, vt, rm),
            Instr::Vadds { vd, vs, rt, rm } => {
                self.with_scalar(vd, vs, rt, rm, Source::Reduced, vector::add_scalar)
            }
            Instr::Vsubs { vd, vs, rt, rm } => {
                self.with_scalar(vd, vs, rt, rm, Source::Reduced, vector::sub_scalar)
            }
            Instr::Vmuls { vd, vs, rt, rm } => {
                self.with_scalar(vd, vs, rt, rm, Source::Multiplicand, vector::multiply_scalar)
            }
            Instr::Bfly { vd, vd1, vs, vt, vt1, rm } => {
                self.butterfly([vd, vd1], [vs, vt, vt1], rm, Source::Multiplicand, vector::butterfly)
            }
            Instr::Gsbfly { vd, vd1, vs, vt, vt1, rm } => {
                self.butterfly([vd, vd1], [vs, vt, vt1], rm, Source::Reduced, vector::inverse_butterfly)
            }
            Instr::Unpklo { vd, vs, vt } => self.shuffle(vd, vs, vt, lanes::unpack::<0>),
            Instr::Unpkhi { vd, vs, vt } => self.shuffle(vd, vs, vt, lanes::unpack::<1>),
            Instr::Pklo { vd, vs, vt } => self.shuffle(vd, vs, vt, lanes::pack::<0>),
            Instr::Pkhi { vd, vs, vt } => self.shuffle(vd, vs, vt, lanes::pack::<1>),
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
        let word = self.sdm.get(offset.words() as usize).copied();
        word.ok_or(Fault::OutsideSdm { word: offset.words(), words: self.sdm.len() })
    }

    fn load_vector(&mut self, vd: VReg, base: AReg, offset: Offset, mode: AddressMode) -> Result<(), Fault> {
        let range = self.vdm_range(base, offset, mode)?;
        let register = &mut self.registers.vector[vd.index()];
        register.at_most = self.bounds.at_most(&range);
        register.source = self.constants.slice(&range, mode);
        register.pending = register.source.is_some();
        if !register.pending {
            gather(&mut register.lanes, &self.vdm[range.start as usize..], mode);
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
        scatter(&register.lanes, &mut self.vdm[range.start as usize..], mode);
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
    fn lanewise(
        &mut self,
        vd: VReg,
        vs: VReg,
        vt: VReg,
        rm: MReg,
        kernel: fn(&Modulus, &mut [u128], &[u128], &[u128]),
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        r.require_below(vs, rm, &q, &self.vdm)?;
        r.require_below(vt, rm, &q, &self.vdm)?;
        let (a, b) = (&r.vector[vs.index()].lanes, &r.vector[vt.index()].lanes);
        kernel(&q, &mut r.spare[0].lanes, a, b);
        r.commit(0, vd, q.value() - 1);
        Ok(())
    }

    /// `vd = kernel(vs, scalar)`, lane by lane.
    fn with_scalar(
        &mut self,
        vd: VReg,
        vs: VReg,
        rt: SReg,
        rm: MReg,
        source: Source,
        kernel: fn(&Modulus, &mut [u128], &[u128], u128),
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        r.require(source, self.operands, vs, (rm, &q), &self.vdm)?;
        let scalar = r.scalar_below(rt, rm, &q)?;
        kernel(&q, &mut r.spare[0].lanes, &r.vector[vs.index()].lanes, scalar);
        r.commit(0, vd, q.value() - 1);
        Ok(())
    }

    /// `vd = vs vt`, lane by lane: `vs` is the multiplicand, and `vt` must be below the modulus.
    fn multiply(&mut self, vd: VReg, vs: VReg, vt: VReg, rm: MReg) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        if self.operands == LawOperands::Reduced {
            r.require(Source::Multiplicand, self.operands, vs, (rm, &q), &self.vdm)?;
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
        let register = &mut r.vector[w.index()];
        let w = self.constants.prepare(register, w, (rm, &q), &self.vdm, &mut r.factor)?;
        vector::multiply(&q, &mut r.spare[0].lanes, &r.vector[x.index()].lanes, w);
        r.commit(0, vd, q.value() - 1);
        Ok(())
    }

    /// `(vd, vd1) = kernel(vs, vt, vt1)`, with `vt1` as factors.
    fn butterfly(
        &mut self,
        [vd, vd1]: [VReg; 2],
        [vs, vt, vt1]: [VReg; 3],
        rm: MReg,
        source: Source,
        kernel: ButterflyKernel,
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        r.require_below(vs, rm, &q, &self.vdm)?;
        r.require(source, self.operands, vt, (rm, &q), &self.vdm)?;
        let register = &mut r.vector[vt1.index()];
        let w = self.constants.prepare(register, vt1, (rm, &q), &self.vdm, &mut r.factor)?;
        let (a, b) = (&r.vector[vs.index()].lanes, &r.vector[vt.index()].lanes);
        let [out, out1] = &mut r.spare;
        kernel(&q, [&mut out.lanes, &mut out1.lanes], a, b, w);
        r.commit(0, vd, q.value() - 1);
        r.commit(1, vd1, q.value() - 1);
        Ok(())
    }

    /// `vd = kernel(vs, vt)`, for a kernel that moves lanes.
    fn shuffle(
        &mut self,
        vd: VReg,
        vs: VReg,
        vt: VReg,
        kernel: fn(&mut [u128], &[u128], &[u128]),
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        for register in [vs, vt] {
            r.vector[register.index()].settle(&self.vdm);
        }
        let (a, b) = (&r.vector[vs.index()], &r.vector[vt.index()]);
        let at_most = a.at_most.max(b.at_most);
        kernel(&mut r.spare[0].lanes, &a.lanes, &b.lanes);
        r.commit(0, vd, at_most);
        Ok(())
    }
}
