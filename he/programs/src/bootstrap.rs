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

/// A value with which a bootstrap computes nothing.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Its key.
    pub(crate) key: &'static str,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Bootstrap {
    /// Refuses messages that have no room below q_0, or that rounding drowns. `rounding` is log2 of the error
    /// of a slot after a rescale, times the scale.
    pub(crate) fn check_messages(&self, log2_q0: f64, rounding: f64) -> Result<(), Fault> {
        let &Self { scale_bits: scale, message_ratio_bits: ratio, .. } = self;
        // As far as moduli are from powers of two.
        let room = (log2_q0 + 0.5).floor() as u32;
        if scale >= room {
            let message = format!("no message of the scale 2^{scale} is below q_0, which is 2^{log2_q0:.1}");
            return Err(Fault { key: "scale_bits", message, help: format!("choose at most {}", room - 1) });
        }
        if scale + ratio > room {
            let message = format!(
                "q_0 is 2^{log2_q0:.1}, so a message of the scale 2^{scale} is not below it by the ratio 2^{ratio}"
            );
            return Err(Fault {
                key: "message_ratio_bits",
                message,
                help: format!("choose at most {}", room - scale),
            });
        }
        if f64::from(scale) <= rounding {
            let message = format!(
                "messages of the scale 2^{scale} are drowned by the rounding of a rescale, 2^{rounding:.1} in a slot"
            );
            let help = format!("choose more than {rounding:.1}, by the bits that a slot should keep");
            return Err(Fault { key: "scale_bits", message, help });
        }
        Ok(())
    }

    /// Refuses meta bits by which the error of the first bootstrap exceeds a message. This error is at least
    /// the rounding of a rescale.
    pub(crate) fn check_meta_bits(&self, bits: Option<u32>, rounding: f64) -> Result<(), Fault> {
        let room = f64::from(self.scale_bits) - rounding;
        let Some(bits) = bits.filter(|&bits| f64::from(bits) >= room) else { return Ok(()) };
        let message = format!(
            "the error of the first is at least 2^-{room:.1} in a slot, the rounding of a rescale: times 2^{bits} \
             it exceeds a message"
        );
        Err(Fault { key: "meta_bits", message, help: format!("choose fewer bits than {room:.1}") })
    }

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
