//! The parameters of a bootstrap.

/// How a set's ciphertexts are bootstrapped: the table `[bootstrap]` of its file.
///
/// The levels are, from the lowest: those that are left after a bootstrap, then those of SlotToCoeff, of
/// EvalMod, of CoeffToSlot, and of the normalisation. q_0 is the product of the moduli of the lowest one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bootstrap {
    /// log2 of the scale of messages.
    pub scale_bits: u32,
    /// log2 of q_0 over the scale of messages before the mod-raise.
    pub message_ratio_bits: u32,
    /// The levels of CoeffToSlot, one for each of its matrices.
    pub coeff_to_slot: usize,
    /// The levels of EvalMod.
    pub eval_mod: usize,
    /// The levels of SlotToCoeff.
    pub slot_to_coeff: usize,
    /// The matrices of SlotToCoeff, as many for each of its levels.
    pub slot_to_coeff_matrices: usize,
    /// Levels for a constant factor before CoeffToSlot: 0 or 1.
    pub normalisation: usize,
    /// K: after the mod-raise a phase is the message plus I q_0 with |I| < K, but for a small probability.
    pub range: u32,
    /// The degree of the cosine's polynomial, which is even.
    pub degree: usize,
    /// The number r of double angles after the polynomial.
    pub double_angles: u32,
    /// The degree of the arcsine's polynomial after the double angles, which is odd; 0 for none.
    pub arcsine: usize,
    /// The Hamming weight of the secret during the mod-raise; without one the secret stays.
    pub ephemeral_weight: Option<u64>,
    /// The baby and giant steps.
    pub steps: Steps,
}

/// Whose baby and giant steps linear transforms have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Steps {
    /// Lattigo's: babies below a power of two, which follows from the number of diagonals.
    Lattigo,
    /// OpenFHE 1.5.1's: babies from the most negative offset on, a mod-down of the first component for each
    /// giant step, and the last rescale of CoeffToSlot after the conjugation.
    OpenFhe,
    /// Cheddar's: 4 babies for up to 16 diagonals and 8 for up to 64, offsets from 0 on. What is left to
    /// rotate is in the plaintexts of the next matrix.
    Cheddar,
}

impl Steps {
    pub(crate) const ALL: [Self; 3] = [Self::Lattigo, Self::OpenFhe, Self::Cheddar];

    /// The name in a set's file.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lattigo => "lattigo",
            Self::OpenFhe => "openfhe",
            Self::Cheddar => "cheddar",
        }
    }
}

impl Bootstrap {
    /// The levels that a bootstrap uses up.
    pub fn depth(&self) -> usize {
        self.slot_to_coeff + self.eval_mod + self.coeff_to_slot + self.normalisation
    }

    /// The fewest slots of a message, so that each matrix has a stage.
    pub(crate) fn least_slots(&self) -> usize {
        1 << self.coeff_to_slot.max(self.slot_to_coeff_matrices)
    }

    /// The levels of a cosine by a polynomial and double angles, and of the arcsine.
    pub(crate) fn least_eval_mod(&self) -> usize {
        let levels = |degree: usize| degree.checked_ilog2().map_or(0, |log| log as usize + 1);
        levels(self.degree) + self.double_angles as usize + levels(self.arcsine)
    }
}
