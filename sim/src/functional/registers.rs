//! The register files, and the rules for operands.

use super::error::Fault;
use super::memory::{Memory, TableSlice, Width, gather, gather_narrow, scatter, scatter_narrow};
use crate::machine::LawOperands;
use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, AddressMode, MReg, SReg, VReg};
use ring::modular::Modulus;
use ring::vector::{self, Factors, Vector};

/// The register files.
#[derive(Debug)]
pub(super) struct Registers {
    pub(super) vector: [VectorRegister; REGISTERS],
    /// Results before they are exchanged with their destinations.
    pub(super) spare: [VectorRegister; 2],
    /// The prepared form of a factor that is not constant.
    pub(super) factor: Factors,
    /// The residues of a multiplicand that does not fit words of 64 bits.
    pub(super) residues: Vector,
    pub(super) scalar: [u128; REGISTERS],
    pub(super) address: [u32; REGISTERS],
    pub(super) modulus: [Option<Modulus>; REGISTERS],
}

/// The storage of a multiplicand.
#[derive(Clone, Copy)]
pub(super) enum Multiplicand {
    Register(VReg),
    /// [`Registers::residues`].
    Residues,
}

impl Multiplicand {
    /// The lanes there, in words of the modulus's width.
    pub(super) fn lanes<'a>(self, vector: &'a [VectorRegister], residues: &'a Vector) -> &'a Vector {
        match self {
            Self::Register(register) => &vector[register.index()].lanes,
            Self::Residues => residues,
        }
    }
}

/// A vector register, with the known properties of its lanes.
#[derive(Clone, Debug)]
pub(super) struct VectorRegister {
    pub(super) lanes: Vector,
    /// Operations convert the lanes as they need them.
    pub(super) width: Width,
    /// An upper bound of the lanes; `u128::MAX` if none is known.
    pub(super) at_most: u128,
    /// The constant words that the register was loaded from, if any.
    pub(super) source: Option<TableSlice>,
    /// Whether these words have not been copied to the lanes yet.
    pub(super) pending: bool,
}

/// The rule for a vector source of an arithmetic instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SourceRule {
    /// Every lane is below the modulus.
    Reduced,
    /// Every lane is any word, if the machine's multipliers accept that.
    Multiplicand,
}

impl VectorRegister {
    /// A register of zeros.
    fn zero(lanes: usize) -> Self {
        let (lanes, width) = (Vector::zero(lanes), Width::Narrow);
        Self { lanes, width, at_most: 0, source: None, pending: false }
    }

    /// Loads the lanes from a memory, from the word `start` on.
    #[inline]
    pub(super) fn load(&mut self, memory: &Memory, start: u32, mode: AddressMode) {
        let start = start as usize;
        self.width = Width::Narrow;
        match memory {
            Memory::Narrow(words) => gather(self.lanes.narrow_mut(), &words[start..], mode),
            Memory::Wide(words) => {
                if !gather_narrow(self.lanes.narrow_mut(), &words[start..], mode) {
                    gather(&mut self.lanes, &words[start..], mode);
                    self.width = Width::Wide;
                }
            }
        }
    }

    /// Stores the lanes to a memory, from the word `start` on.
    pub(super) fn store(&mut self, memory: &mut Memory, start: u32, mode: AddressMode) {
        let start = start as usize;
        if let Memory::Narrow(words) = memory
            && self.narrow()
        {
            return scatter(self.lanes.narrow(), &mut words[start..], mode);
        }
        let words = &mut memory.widen()[start..];
        match self.width {
            Width::Narrow => scatter_narrow(self.lanes.narrow(), words, mode),
            Width::Wide => scatter(&self.lanes, words, mode),
        }
    }

    /// The lane with this index.
    pub(super) fn lane(&self, index: usize) -> u128 {
        match self.width {
            Width::Narrow => self.lanes.narrow()[index].into(),
            Width::Wide => self.lanes[index],
        }
    }

    /// Changes the lanes to words of 128 bits.
    #[inline]
    pub(super) fn widen(&mut self) {
        if self.width == Width::Narrow {
            self.lanes.widen();
            self.width = Width::Wide;
        }
    }

    /// Changes the lanes to words of 64 bits, if all fit. Returns whether they do.
    #[inline]
    pub(super) fn narrow(&mut self) -> bool {
        if self.width == Width::Wide {
            if self.at_most >> u64::BITS != 0 {
                self.at_most = vector::max(&self.lanes);
            }
            if self.at_most >> u64::BITS != 0 {
                return false;
            }
            self.lanes.narrow_down();
            self.width = Width::Narrow;
        }
        true
    }

    /// The largest lane.
    fn max(&self) -> u128 {
        match self.width {
            Width::Narrow => vector::narrow::max(self.lanes.narrow()).into(),
            Width::Wide => vector::max(&self.lanes),
        }
    }

    /// Performs a deferred load from the VDM.
    #[inline]
    pub(super) fn settle(&mut self, vdm: &Memory) {
        if let Some(TableSlice { start, mode }) = self.source
            && self.pending
        {
            self.load(vdm, start, mode);
            self.pending = false;
        }
    }

    /// Checks that every lane of this register, `vs`, is below the modulus `q` of `rm`.
    ///
    /// The register must be settled.
    pub(super) fn require_below(&mut self, vs: VReg, rm: MReg, q: &Modulus) -> Result<(), Fault> {
        let modulus = q.value();
        if self.at_most < modulus {
            return Ok(());
        }
        self.at_most = self.max();
        if self.at_most < modulus {
            return Ok(());
        }
        match (0..self.lanes.len()).find(|&lane| self.lane(lane) >= modulus) {
            None => Ok(()),
            Some(lane) => {
                let value = self.lane(lane);
                Err(Fault::LaneNotBelowModulus { register: vs, lane, value, modulus_register: rm, modulus })
            }
        }
    }
}

impl Registers {
    /// Registers of zeros, without moduli.
    pub(super) fn new(lanes: usize) -> Self {
        Self {
            vector: std::array::from_fn(|_| VectorRegister::zero(lanes)),
            spare: std::array::from_fn(|_| VectorRegister::zero(lanes)),
            factor: Factors::zero(lanes),
            residues: Vector::zero(lanes),
            scalar: [0; REGISTERS],
            address: [0; REGISTERS],
            modulus: [None; REGISTERS],
        }
    }

    /// The initial state of a program: zeros, except for the given launch values.
    pub(super) fn reset(&mut self, addresses: &[(AReg, u32)], moduli: &[(MReg, Modulus)]) {
        for register in &mut self.vector {
            // A register with the bound zero holds zeros already, unless a load of it was deferred.
            if register.at_most > 0 || register.pending {
                register.lanes.narrow_mut().fill(0);
                register.width = Width::Narrow;
            }
            (register.at_most, register.source, register.pending) = (0, None, false);
        }
        self.scalar = [0; REGISTERS];
        self.address = [0; REGISTERS];
        self.modulus = [None; REGISTERS];
        for &(register, address) in addresses {
            self.address[register.index()] = address;
        }
        for &(register, modulus) in moduli {
            self.modulus[register.index()] = Some(modulus);
        }
    }

    /// Makes the spare register `index` the new `vd`; all of its lanes are at most `at_most`.
    pub(super) fn commit(&mut self, index: usize, vd: VReg, width: Width, at_most: u128) {
        self.spare[index].width = width;
        self.spare[index].at_most = at_most;
        self.spare[index].source = None;
        self.spare[index].pending = false;
        std::mem::swap(&mut self.spare[index], &mut self.vector[vd.index()]);
    }

    /// The modulus in `rm`.
    pub(super) fn modulus(&self, rm: MReg) -> Result<Modulus, Fault> {
        self.modulus[rm.index()].ok_or(Fault::ModulusUnset { register: rm })
    }

    /// Settles `vs` and checks that every lane of it is below the modulus `q` of `rm`.
    pub(super) fn require_below(
        &mut self,
        vs: VReg,
        rm: MReg,
        q: &Modulus,
        vdm: &Memory,
    ) -> Result<(), Fault> {
        let register = &mut self.vector[vs.index()];
        register.settle(vdm);
        register.require_below(vs, rm, q)
    }

    /// Settles `register` and checks that it is a valid `source`.
    pub(super) fn require(
        &mut self,
        source: SourceRule,
        operands: LawOperands,
        register: VReg,
        (rm, q): (MReg, &Modulus),
        vdm: &Memory,
    ) -> Result<(), Fault> {
        match (source, operands) {
            (SourceRule::Reduced, _) => self.require_below(register, rm, q, vdm),
            (SourceRule::Multiplicand, LawOperands::Reduced) => {
                self.require_below(register, rm, q, vdm).map_err(Fault::of_multiplicand)
            }
            (SourceRule::Multiplicand, LawOperands::Word) => {
                self.vector[register.index()].settle(vdm);
                Ok(())
            }
        }
    }

    /// Changes the lanes of registers, which must be below the modulus `q`, to its width.
    pub(super) fn set_widths<const N: usize>(&mut self, q: &Modulus, registers: [VReg; N]) {
        for register in registers {
            self.multiplicand(q, register);
        }
    }

    /// The lanes of `register`, or residues equal to them, in the width of the modulus `q`.
    ///
    /// The register must be settled.
    pub(super) fn multiplicand(&mut self, q: &Modulus, register: VReg) -> Multiplicand {
        let source = &mut self.vector[register.index()];
        match Width::of(q) {
            Width::Wide => source.widen(),
            Width::Narrow => {
                if !source.narrow() {
                    for (residue, &word) in self.residues.narrow_mut().iter_mut().zip(&source.lanes[..]) {
                        *residue = q.residue(word) as u64;
                    }
                    return Multiplicand::Residues;
                }
            }
        }
        Multiplicand::Register(register)
    }

    /// Changes the lanes of two registers to one width, and returns it.
    pub(super) fn common_width(&mut self, registers: [VReg; 2]) -> Width {
        let is_wide = |register: VReg| self.vector[register.index()].width == Width::Wide;
        if !registers.into_iter().any(is_wide) {
            return Width::Narrow;
        }
        registers.into_iter().for_each(|register| self.vector[register.index()].widen());
        Width::Wide
    }

    /// The value of `register`, which must be below the modulus `q` of `rm`.
    pub(super) fn scalar_below(&self, register: SReg, rm: MReg, q: &Modulus) -> Result<u128, Fault> {
        let (value, modulus) = (self.scalar[register.index()], q.value());
        if value < modulus {
            Ok(value)
        } else {
            Err(Fault::ScalarNotBelowModulus { register, value, modulus_register: rm, modulus })
        }
    }
}
