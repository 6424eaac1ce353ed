//! Operands that are not reduced, and the moduli of inputs.
//!
//! Limbs have no modulus of their own. A copy moves words as they are, so a limb may hold residues of one
//! modulus when an operation modulo a smaller one reads it. The format defines this for `sr_mulps` only, and
//! real programs use it only there.

use crate::{Limb, ModulusIndex, Operation, RingProgram, Shape};

/// What an operation demands of its sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Demand {
    /// Residues below the modulus.
    Residues,
    /// Factors of an exact product. Unreduced limbs are rare in practice, but their product is well defined.
    Factors,
    /// Any words.
    Words,
    /// Any words, which the operation moves and does not change.
    Moved,
}

impl Operation {
    /// What the operation demands of its sources.
    pub fn demand(&self) -> Demand {
        match self {
            Self::Add(_)
            | Self::Subtract(_)
            | Self::AddScalar(_)
            | Self::SubtractScalar(_)
            | Self::Negate(_)
            | Self::Ntt(_)
            | Self::Intt(_)
            | Self::AutomorphCoefficients(_)
            | Self::MultiplyMonomial(_) => Demand::Residues,
            Self::Multiply(_) => Demand::Factors,
            Self::MultiplyScalar(_) => Demand::Words,
            Self::AutomorphEvaluation(_) | Self::Copy(_) | Self::Zero(_) => Demand::Moved,
        }
    }
}

/// The modulus of an input, from the first operation that computes with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputModulus {
    /// The words are residues of this modulus.
    Residues(ModulusIndex),
    /// Only `sr_mulps` reads the input, first with this modulus. The words need not be reduced.
    Words(ModulusIndex),
}

impl InputModulus {
    /// The modulus.
    pub fn modulus(self) -> ModulusIndex {
        match self {
            Self::Residues(modulus) | Self::Words(modulus) => modulus,
        }
    }
}

/// The moduli of the inputs of a program without calls, indexed by [`Limb::index`]. `None` for other limbs
/// and for inputs that no operation with a modulus reads.
pub fn input_moduli(program: &RingProgram) -> Vec<Option<InputModulus>> {
    let limbs = program.limbs().len();
    let mut moduli = vec![None; limbs];
    // The input whose words a limb holds, perhaps in another order.
    let mut origin: Vec<Option<Limb>> = vec![None; limbs];
    for &limb in program.inputs().iter().flat_map(|group| &group.limbs) {
        origin[limb.index()] = Some(limb);
    }
    for operation in program.operations() {
        let demand = operation.demand();
        for source in operation.sources().into_iter().flatten() {
            let (Some(input), Some(m)) = (origin[source.index()], operation.modulus()) else { continue };
            let entry = &mut moduli[input.index()];
            match (demand, *entry) {
                (Demand::Residues | Demand::Factors | Demand::Moved, None | Some(InputModulus::Words(_))) => {
                    *entry = Some(InputModulus::Residues(m));
                }
                (Demand::Words, None) => *entry = Some(InputModulus::Words(m)),
                (_, Some(_)) => {}
            }
        }
        let moved = operation.sources()[0].filter(|_| demand == Demand::Moved);
        origin[operation.destination().index()] = moved.and_then(|source| origin[source.index()]);
    }
    moduli
}

/// Whether an operation may read a word that is not below its modulus, though it must be: its source has the
/// words of an operation with a larger modulus, or of an input that another operation reads first.
pub fn may_read_unreduced(program: &RingProgram) -> bool {
    let program = &*program.flat();
    // The number below which the words of a limb are; `None` for any words.
    let mut bounds: Vec<Option<u128>> = vec![None; program.limbs().len()];
    let moduli = input_moduli(program);
    for limb in program.inputs().iter().flat_map(|group| &group.limbs) {
        bounds[limb.index()] = match moduli[limb.index()] {
            Some(InputModulus::Residues(m)) => Some(program.moduli().value(m)),
            Some(InputModulus::Words(_)) | None => None,
        };
    }
    program.operations().iter().any(|operation| {
        let modulus = operation.modulus().map(|m| program.moduli().value(m));
        let (demand, sources) = (operation.demand(), operation.sources());
        let exceeds =
            |source: &Limb| bounds[source.index()].is_none_or(|bound| modulus.is_some_and(|q| bound > q));
        let is_reducing = matches!(demand, Demand::Residues | Demand::Factors);
        let exceeds = is_reducing && sources.iter().flatten().any(exceeds);
        bounds[operation.destination().index()] = match (demand, sources[0]) {
            (Demand::Moved, Some(source)) => bounds[source.index()],
            // Zeros.
            (Demand::Moved, None) => Some(1),
            (Demand::Residues | Demand::Factors | Demand::Words, _) => modulus,
        };
        exceeds
    })
}
