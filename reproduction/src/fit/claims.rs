//! The claims of a paper about a technology, and the errors of a fit to them.

use super::constants::{components, names};
use diagnostic::Diagnostic;
use serde::Deserialize;
use sim::tech::ClockPoint;
use std::collections::BTreeMap;
use thiserror::Error;

/// What a paper prints about a technology.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The technology's name.
    pub name: String,
    /// The process node, in nanometres.
    pub node_nm: u32,
    /// The clock at some numbers of VDM banks, ascending.
    pub clock: Vec<ClockPoint>,
    /// Two SRAM macros of 128-bit words.
    pub sram: [Macro; 2],
    /// Area constants that are not fitted, by their names.
    pub given: BTreeMap<String, Given>,
    /// Area constants that are multiples of fitted ones, by their names.
    #[serde(default)]
    pub tied: BTreeMap<String, Tied>,
    /// Area constants that are fitted, with values above zero to begin with.
    pub fit: BTreeMap<String, f64>,
    /// Printed areas and ratios of areas.
    pub area: Vec<AreaClaim>,
    /// The printed energy.
    pub energy: EnergyClaim,
}

/// An SRAM macro.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Macro {
    /// Its size.
    pub bytes: f64,
    /// Its area.
    pub um2: f64,
}

/// A constant that is not fitted.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Its value.
    pub value: f64,
    /// Where that comes from.
    pub source: String,
}

/// A constant that is a multiple of one that is fitted.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tied {
    /// The name of the fitted one.
    pub to: String,
    /// The factor, above zero.
    pub times: f64,
    /// Where it comes from.
    pub source: String,
}

/// A printed area, or a ratio of areas.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreaClaim {
    /// The claim's number.
    pub id: String,
    /// `total`, `hples` (LAW engines and VRF) or a component, as [`sim::Area`] names it.
    pub component: String,
    /// HPLEs and banks of the design.
    pub of: [u32; 2],
    /// Those of the design whose area it is divided by, if it is a ratio.
    pub over: Option<[u32; 2]>,
    /// The printed number: mm2, or a ratio.
    pub value: Option<f64>,
    /// Printed bounds instead.
    pub between: Option<[f64; 2]>,
    /// The deviation that counts as agreement, in the unit of the value; above zero.
    pub tolerance: f64,
    /// Whether it has a share in the fit.
    #[serde(default)]
    pub fit: bool,
}

/// A printed number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Printed {
    /// This one.
    Value(f64),
    /// One between these two.
    Between([f64; 2]),
}

/// The printed energy of the 64K transform, as the paper's program on the (128, 128) design.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyClaim {
    /// All of it.
    pub total_uj: f64,
    /// The power of a multiplier that begins a multiplication each cycle.
    pub multiplier_mw: f64,
    /// Shares of the components, in percent. What they leave is the front end's.
    pub percent: Shares,
}

/// Shares of the energy, in percent.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shares {
    /// The LAW engines.
    pub law: f64,
    /// The vector register file.
    pub vrf: f64,
    /// The vector data memory.
    pub vdm: f64,
    /// The vector crossbar.
    pub vbar: f64,
    /// The shuffle crossbar.
    pub sbar: f64,
}

/// Why there are no constants.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum FitError {
    /// The file is no list of claims.
    #[error(transparent)]
    Config(#[from] Diagnostic),
    /// The constants under `given`, `tied` and `fit` are not the ones that an area model needs.
    #[error("`given`, `tied` and `fit` must name each of {}, once: {message}", names())]
    Constants {
        /// What is wrong with them.
        message: String,
    },
    /// A claim speaks of a component that there is not.
    #[error("claim {id}: unknown component `{component}`; expected total, hples, {}", components().join(", "))]
    Component {
        /// The claim.
        id: String,
        /// The component.
        component: String,
    },
    /// A claim without a number.
    #[error("claim {id}: write `value = ..`, or `between = [low, high]`")]
    Printed {
        /// The claim.
        id: String,
    },
    /// Something that must be above zero is not.
    #[error("{what} must be a number above 0")]
    NotPositive {
        /// What.
        what: String,
    },
    /// Shares of the energy that no constants give.
    #[error(
        "the shares of the energy leave nothing for additions or for instructions: `energy.percent` must add up to at \
         most 100, and the multiplications must take less than `law`"
    )]
    Shares,
    /// Fewer claims in the fit than constants.
    #[error("cannot fit {constants} constants to {claims} claims; mark more claims with `fit = true`")]
    TooFewClaims {
        /// Constants to fit.
        constants: usize,
        /// Claims in the fit.
        claims: usize,
    },
    /// The least-squares fit has no end.
    #[error("the fit does not converge: {reason}; start closer, or mark other claims with `fit = true`")]
    Diverges {
        /// What the method says.
        reason: String,
    },
    /// The program that the energy is for cannot be generated.
    #[error("the program whose energy is fitted: {reason}")]
    Program {
        /// Why.
        reason: String,
    },
}
