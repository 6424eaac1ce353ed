//! The claims of a paper about a technology, and the errors of a fit.

use super::constants::{components, list, names};
use diagnostic::Diagnostics;
use serde::Deserialize;
use sim::machine::InvalidMachine;
use sim::tech::ClockPoint;
use std::collections::BTreeMap;
use thiserror::Error;

/// The printed values of a paper about a technology.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The technology's name.
    pub name: String,
    /// The process node, in nanometres.
    pub node_nm: u32,
    /// Stages of the multiplier of the printed area and energy.
    pub law_stages: u32,
    /// The clock at some numbers of VDM banks, ascending.
    pub clock: Vec<ClockPoint>,
    /// Delays of logic and wires, by name. They are not fitted.
    pub delay: BTreeMap<String, Given>,
    /// Power that does not depend on events, by name. It is not fitted.
    pub power: BTreeMap<String, Given>,
    /// Wires between parts, by name. They are not fitted.
    pub wires: BTreeMap<String, Given>,
    /// Two SRAM macros of 128-bit words.
    pub sram: [Macro; 2],
    /// Area constants that are not fitted, by name.
    pub given: BTreeMap<String, Given>,
    /// Area constants that are multiples of fitted ones, by name.
    #[serde(default)]
    pub tied: BTreeMap<String, Tied>,
    /// Area constants to fit, with initial values above zero.
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
    /// Its source.
    pub source: String,
}

/// A constant that is a multiple of a fitted one.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tied {
    /// The name of the fitted constant.
    pub to: String,
    /// The factor, above zero.
    pub times: f64,
    /// Its source.
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
    /// HPLEs and banks of the reference design, if the claim is a ratio.
    pub over: Option<[u32; 2]>,
    /// The printed number: mm2, or a ratio.
    pub value: Option<f64>,
    /// Printed bounds instead.
    pub between: Option<[f64; 2]>,
    /// The deviation that counts as agreement, in the unit of the value; above zero.
    pub tolerance: f64,
    /// Whether it is part of the fit.
    #[serde(default)]
    pub fit: bool,
}

/// A printed number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Printed {
    /// A single value.
    Value(f64),
    /// A range of two values.
    Between([f64; 2]),
}

/// The printed energy of the 64K transform, as the paper's program on the (128, 128) design.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyClaim {
    /// The total.
    pub total_uj: f64,
    /// The power of a multiplier that begins a multiplication in each cycle.
    pub multiplier_mw: f64,
    /// The growth of an access to an SRAM for twice the words beyond 32 KiB. No printed number has it.
    pub sram_growth_beyond_32_kib: Given,
    /// Shares of the components, in percent. The front end has the rest.
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

/// The reason why the fit fails.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum FitError {
    /// The file is not a list of claims.
    #[error(transparent)]
    Config(#[from] Diagnostics),
    /// The constants under `given`, `tied` and `fit` do not match the area model's.
    #[error("`given`, `tied` and `fit` must name each of {}, once: {message}", names())]
    Constants {
        /// The problem.
        message: String,
    },
    /// The constants of a section that are not fitted do not match those of its model.
    #[error("`{section}` must name each of {}: {message}", list(constants))]
    Given {
        /// The section of the claims.
        section: &'static str,
        /// Its constants.
        constants: &'static [(&'static str, &'static str)],
        /// The problem.
        message: String,
    },
    /// A claim names an unknown component.
    #[error("claim {id}: unknown component `{component}`; expected total, hples, {}", components().join(", "))]
    Component {
        /// The claim.
        id: String,
        /// The component.
        component: String,
    },
    /// A claim about an invalid design.
    #[error("claim {id}: {reason}")]
    Design {
        /// The claim.
        id: String,
        /// The reason.
        reason: InvalidMachine,
    },
    /// Constants that no technology has.
    #[error("the fitted constants are no technology: {0}")]
    Technology(InvalidMachine),
    /// A claim without a number.
    #[error("claim {id}: write `value = ..`, or `between = [low, high]`")]
    Printed {
        /// The claim.
        id: String,
    },
    /// A value that must be above zero is not.
    #[error("{what} must be a number above 0")]
    NotPositive {
        /// The value.
        what: String,
    },
    /// Shares of the energy that leave no valid constants.
    #[error(
        "the shares of the energy leave nothing for additions or instructions: `energy.percent` must add up to at \
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
    /// More printed areas than other fits can choose from.
    #[error("{printed} area claims have a `value`, but at most {max} may")]
    TooManyValues {
        /// Area claims with a value.
        printed: usize,
        /// The limit.
        max: usize,
    },
    /// The least-squares fit does not converge.
    #[error("the fit does not converge: {reason}; start closer, or mark other claims with `fit = true`")]
    Diverges {
        /// The reason, from the method.
        reason: String,
    },
    /// The program of the printed energy cannot be generated.
    #[error("the program whose energy is fitted: {reason}")]
    Program {
        /// The reason.
        reason: String,
    },
}
