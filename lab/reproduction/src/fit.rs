//! Fits the constants of a technology to published numbers.
//!
//! A [`Claims`] file holds printed numbers: the clock, two SRAM macros, areas of designs or their ratios, the
//! energy of one program and its shares. [`fit`] turns them into a [`Technology`]: the macros determine the
//! line of all SRAMs; a least-squares fit determines the area constants under `fit`; the shares, divided by
//! the program's event counts, determine the energies. [`Fit::file`] is the technology file, with the source
//! of each constant, every claim with its result, and the results of fits to other claims.
//!
//! The fit works on the logarithms of the constants, so that they stay positive. The residual of a
//! claim is its deviation divided by its tolerance. The fit is deterministic: the same claims give
//! the same file.

mod claims;
mod constants;
mod file;

pub use claims::{AreaClaim, Claims, EnergyClaim, FitError, Given, Macro, Printed, Shares, Tied};

use constants::{AREA, DELAY, POWER, WIRES, components};

use codegen::{PlanChoice, Request};
pub use configs::GF12_CLAIMS;
use diagnostic::Diagnostics;
use diagnostic::document::{Format, Schema};
use numeris::DynVector;
use numeris::optim::{LmSettings, finite_difference_jacobian_dyn, least_squares_lm_dyn};
use ring::Degree;
use serde::de::DeserializeOwned;
use sim::machine::{InvalidMachine, VbarArea};
use sim::tech::{AreaConstants, ClockPoint, EnergyConstants, Technology};
use sim::{Area, Energy, Events, Machine};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The largest number of printed areas: other fits are made to every choice of some.
const MAX_PRINTED: usize = 12;

/// Significant digits of a fitted constant.
const DIGITS: usize = 4;

/// The constants, and the claims compared with them.
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    /// The technology.
    pub technology: Technology,
    /// All claims: areas in the order of the file, then energies.
    pub residuals: Vec<Residual>,
    /// The results of fits to other claims: every choice of as many printed values as there are
    /// constants, with the area claims in the order of the file; omitted if they do not determine
    /// the constants.
    pub alternatives: Vec<Option<Vec<Residual>>>,
    /// The sources of the area constants that were not fitted, by name.
    sources: BTreeMap<String, String>,
}

/// A claim compared with the constants.
#[derive(Clone, PartialEq, Debug)]
pub struct Residual {
    /// The claim's number.
    pub id: String,
    /// The quantity.
    pub quantity: String,
    /// The printed value.
    pub printed: Printed,
    /// The result.
    pub ours: f64,
    /// The deviation that counts as agreement.
    pub tolerance: f64,
    /// Whether it was part of the fit, not a prediction.
    pub fitted: bool,
}

impl Printed {
    /// The deviation of a value: zero between the bounds.
    fn deviation(self, ours: f64) -> f64 {
        match self {
            Self::Value(value) => ours - value,
            Self::Between([low, high]) => ours - ours.clamp(low, high),
        }
    }
}

impl Residual {
    /// The deviation of ours, in the unit of the value; zero between printed bounds.
    pub fn deviation(&self) -> f64 {
        self.printed.deviation(self.ours)
    }

    /// Whether ours is within the tolerance.
    pub fn agrees(&self) -> bool {
        self.deviation().abs() <= self.tolerance
    }
}

impl Claims {
    /// Parses a claims file; `file` is its name in errors.
    ///
    /// # Errors
    /// Returns all errors: the text is not TOML, or keys are missing, unknown or have invalid values.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostics> {
        Self::schema().read_toml(file, text)
    }

    /// The JSON schema of claims files.
    pub fn schema() -> &'static Schema {
        static CLAIMS: LazyLock<Schema> =
            LazyLock::new(|| Schema::new(Format::Claims, include_str!("../schema/claims.json")));
        &CLAIMS
    }

    fn check(&self) -> Result<(), FitError> {
        let positive = |what: String, value: f64| {
            if value > 0.0 && value.is_finite() { Ok(()) } else { Err(FitError::NotPositive { what }) }
        };
        for (name, &start) in &self.fit {
            if self.given.contains_key(name) || self.tied.contains_key(name) {
                return Err(FitError::Constants { message: format!("`{name}` occurs twice") });
            }
            positive(format!("`fit.{name}`"), start)?;
        }
        for (name, tied) in &self.tied {
            if self.given.contains_key(name) {
                return Err(FitError::Constants { message: format!("`{name}` occurs twice") });
            }
            if !self.fit.contains_key(&tied.to) {
                let message = format!("`{name}` is tied to `{}`, which is not under `fit`", tied.to);
                return Err(FitError::Constants { message });
            }
            positive(format!("`tied.{name}.times`"), tied.times)?;
        }
        for claim in &self.area {
            if claim.component != "total"
                && claim.component != "hples"
                && !components().contains(&&*claim.component)
            {
                let (id, component) = (claim.id.clone(), claim.component.clone());
                return Err(FitError::Component { id, component });
            }
            claim.printed()?;
            positive(format!("the tolerance of claim {}", claim.id), claim.tolerance)?;
            for design in [Some(claim.of), claim.over].into_iter().flatten() {
                let invalid = |reason| FitError::Design { id: claim.id.clone(), reason };
                Designs::default().design(design).map_err(invalid)?;
            }
        }
        positive(
            "the difference of the bytes of the two `sram` macros".into(),
            (self.sram[1].bytes - self.sram[0].bytes).abs(),
        )?;
        if self.clock.is_empty() {
            return Err(FitError::NotPositive { what: "the number of `clock` points".into() });
        }
        let printed = self.area.iter().filter(|claim| claim.value.is_some()).count();
        if printed > MAX_PRINTED {
            return Err(FitError::TooManyValues { printed, max: MAX_PRINTED });
        }
        let (constants, claims) = (self.fit.len(), self.area.iter().filter(|claim| claim.fit).count());
        if claims < constants { Err(FitError::TooFewClaims { constants, claims }) } else { Ok(()) }
    }

    /// The area constants for these values of the fitted ones, in the order of their names. Fitted
    /// and tied constants are rounded as given.
    fn area_constants(
        &self,
        fitted: impl IntoIterator<Item = f64>,
        round: fn(f64) -> f64,
    ) -> Result<AreaConstants, FitError> {
        let [a, b] = self.sram;
        let per_byte = (b.um2 - a.um2) / (b.bytes - a.bytes);
        let mut values =
            vec![("sram_macro_um2", a.um2 - per_byte * a.bytes), ("sram_um2_per_byte", per_byte)];
        values.extend(self.given.iter().map(|(name, given)| (name.as_str(), given.value)));
        let fitted = fitted.into_iter().map(round);
        let fitted: BTreeMap<&str, f64> = self.fit.keys().map(String::as_str).zip(fitted).collect();
        let tied =
            self.tied.iter().map(|(name, tied)| (name.as_str(), round(tied.times * fitted[&*tied.to])));
        values.extend(tied);
        values.extend(fitted.iter().map(|(&name, &value)| (name, value)));
        let table: toml::Table =
            values.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        table
            .try_into()
            .map_err(|error: toml::de::Error| FitError::Constants { message: error.message().into() })
    }
}

/// The events of the program behind the printed energy: the 64K transform as the paper's program on
/// its machine.
///
/// # Errors
/// Returns an error if it cannot be generated.
pub fn paper_events() -> Result<Events, FitError> {
    let failed = |reason: String| FitError::Program { reason };
    let request = Degree::new(1 << 16).and_then(|n| Request::with_primes(golden::NTT, n, 128, 1));
    let request = request.map_err(|error| failed(error.to_string()))?;
    let machine = Machine::rpu_128x128_paper();
    let program = lab_sweep::generate(&request, &PlanChoice::Paper, &machine).map_err(failed)?.program;
    Ok(Events::of(&program))
}

/// Fits the constants. `events` counts the program behind the printed energy.
///
/// # Errors
/// Returns an error if the claims do not determine the constants, or name an unknown constant.
pub fn fit(claims: &Claims, events: &Events) -> Result<Fit, FitError> {
    claims.check()?;
    let area = fit_areas(claims)?;
    let energy = claims.energy.constants(&claims.clock, events);
    if !(energy.add_pj >= 0.0 && energy.instruction_pj >= 0.0 && energy.sbar_element_pj.is_finite()) {
        return Err(FitError::Shares);
    }
    let mut residuals = claims.area_residuals(&area)?;
    let alternatives = alternatives(claims, &area);
    let technology = Technology {
        name: claims.name.clone(),
        node_nm: claims.node_nm,
        law_stages: claims.law_stages,
        clock: claims.clock.clone(),
        delay: Claims::given("delay", &DELAY, &claims.delay)?,
        power: Claims::given("power", &POWER, &claims.power)?,
        wires: Claims::given("wires", &WIRES, &claims.wires)?,
        vbar_area: VbarArea::Claim,
        area,
        energy,
    };
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.technology = technology.clone()).map_err(FitError::Technology)?;
    residuals.extend(claims.energy.residuals(&Energy::of(&machine, events)));
    Ok(Fit { technology, residuals, alternatives, sources: claims.sources() })
}

/// The area constants that best meet the claims in the fit.
fn fit_areas(claims: &Claims) -> Result<AreaConstants, FitError> {
    let starts = claims.fit.values().map(|start| start.ln()).collect::<Vec<_>>();
    // Errors in the names are reported before the fit.
    claims.area_constants(claims.fit.values().copied(), |value| value)?;
    let designs = Designs::default();
    let residuals = |logarithms: &DynVector<f64>| claims.deviations(&designs, logarithms);
    let jacobian = |logarithms: &DynVector<f64>| finite_difference_jacobian_dyn(residuals, logarithms);
    let settings = LmSettings { max_iter: MOST_STEPS, ..LmSettings::default() };
    let found = least_squares_lm_dyn(residuals, jacobian, &DynVector::from_vec(starts), &settings);
    let found = found.map_err(|error| FitError::Diverges { reason: error.to_string() })?;
    claims.area_constants(found.x.iter().map(|log| log.exp()), rounded)
}

/// Fits to every choice of as many printed values as there are constants, starting from the
/// constants of the actual fit.
fn alternatives(claims: &Claims, area: &AreaConstants) -> Vec<Option<Vec<Residual>>> {
    let found = toml::Table::try_from(area).expect("constants are numbers");
    let mut claims = claims.clone();
    for (name, start) in &mut claims.fit {
        *start = found.get(name).and_then(toml::Value::as_float).unwrap_or(*start);
    }
    let values: Vec<usize> = (0..claims.area.len()).filter(|&i| claims.area[i].value.is_some()).collect();
    let choices = (0u64..1 << values.len()).filter(|set| set.count_ones() as usize == claims.fit.len());
    let with = |set: u64| {
        let mut other = claims.clone();
        for (bit, &claim) in values.iter().enumerate() {
            other.area[claim].fit = set >> bit & 1 != 0;
        }
        fit_areas(&other).and_then(|area| other.area_residuals(&area)).ok()
    };
    choices.map(with).collect()
}

/// A machine whose HPLEs and banks are replaced for each claim.
#[derive(Clone)]
struct Designs(Machine);

impl Default for Designs {
    fn default() -> Self {
        Self(Machine::rpu_128x128())
    }
}

impl Designs {
    fn design(&self, [hples, banks]: [u32; 2]) -> Result<Machine, InvalidMachine> {
        let mut machine = self.0.clone();
        machine.edit(|values| (values.hple.count, values.vdm.banks) = (hples, banks))?;
        Ok(machine)
    }

    fn area(&self, constants: &AreaConstants, design: [u32; 2]) -> Area {
        Area::with(&self.design(design).expect("the designs of claims are checked"), constants)
    }
}

impl Claims {
    /// The constants of a section that are not fitted.
    fn given<T: DeserializeOwned>(
        section: &'static str,
        constants: &'static [(&'static str, &'static str)],
        given: &BTreeMap<String, Given>,
    ) -> Result<T, FitError> {
        let table: toml::Table =
            given.iter().map(|(name, given)| (name.clone(), given.value.into())).collect();
        table.try_into().map_err(|error: toml::de::Error| FitError::Given {
            section,
            constants,
            message: error.message().into(),
        })
    }

    /// The sources of the constants that are not fitted, by name.
    fn sources(&self) -> BTreeMap<String, String> {
        let given = self.given.iter().map(|(name, given)| (name.clone(), given.source.clone()));
        let tied = self.tied.iter().map(|(name, tied)| {
            let Tied { to, times, source } = tied;
            (name.clone(), format!("{times} times {to}: {source}"))
        });
        let others = self
            .delay
            .iter()
            .chain(&self.power)
            .chain(&self.wires)
            .map(|(name, given)| (name.clone(), given.source.clone()));
        let large_sram = &self.energy.sram_growth_beyond_32_kib;
        let growth = ("sram_growth_beyond_32_kib".to_owned(), large_sram.source.clone());
        let all = given.chain(tied).chain(others).chain([growth]);
        all.map(|(name, source)| (name, diagnostic::one_line(&source).into_owned())).collect()
    }

    /// The area claims compared with the constants, in the order of the file.
    fn area_residuals(&self, constants: &AreaConstants) -> Result<Vec<Residual>, FitError> {
        let designs = Designs::default();
        self.area.iter().map(|claim| claim.residual(&designs, constants)).collect()
    }
}

impl AreaClaim {
    /// The printed value.
    fn printed(&self) -> Result<Printed, FitError> {
        match (self.value, self.between) {
            (Some(value), None) => Ok(Printed::Value(value)),
            (None, Some(bounds)) if bounds[0] <= bounds[1] => Ok(Printed::Between(bounds)),
            _ => Err(FitError::Printed { id: self.id.clone() }),
        }
    }

    /// The value from the constants.
    fn ours(&self, designs: &Designs, constants: &AreaConstants) -> f64 {
        let component = |design| {
            let area = designs.area(constants, design);
            match self.component.as_str() {
                "hples" => area.hples(),
                name => {
                    let parts = area.components();
                    parts.iter().find(|(part, _)| *part == name).map_or(area.total(), |&(_, mm2)| mm2)
                }
            }
        };
        component(self.of) / self.over.map_or(1.0, component)
    }

    fn residual(&self, designs: &Designs, constants: &AreaConstants) -> Result<Residual, FitError> {
        let design = |[hples, banks]: [u32; 2]| format!("({hples}, {banks})");
        let unit = self.over.map_or(", mm2".to_owned(), |over| format!(" over {}", design(over)));
        Ok(Residual {
            id: self.id.clone(),
            quantity: format!("{} of {}{unit}", self.component, design(self.of)),
            printed: self.printed()?,
            ours: self.ours(designs, constants),
            tolerance: self.tolerance,
            fitted: self.fit,
        })
    }
}

impl EnergyClaim {
    /// The number of the paper's claims on energy.
    const ID: &str = "C12";

    fn constants(&self, clock: &[ClockPoint], events: &Events) -> EnergyConstants {
        let share_pj =
            |percent: f64, events: u64| rounded(self.total_uj * percent / 100.0 * 1e6 / events as f64);
        let ghz =
            clock.iter().find(|point| point.banks == 128).or(clock.last()).map_or(0.0, |point| point.ghz);
        let multiply_pj = rounded(self.multiplier_mw / ghz);
        let law_pj = self.total_uj * self.percent.law / 100.0 * 1e6;
        let Shares { law, vrf, vdm, vbar, sbar } = self.percent;
        let (vrf_access_pj, vdm_access_pj) =
            (share_pj(vrf, events.vrf_accesses), share_pj(vdm, events.vdm_accesses));
        EnergyConstants {
            multiply_pj,
            add_pj: rounded((law_pj - multiply_pj * events.multiplications as f64) / events.additions as f64),
            vrf_access_pj,
            vdm_access_pj,
            // 16 words in an SRAM of the VRF, 2048 in a bank of the VDM: seven doublings.
            sram_growth_with_words: rounded((vdm_access_pj / vrf_access_pj).powf(1.0 / 7.0)),
            sram_growth_beyond_32_kib: self.sram_growth_beyond_32_kib.value,
            vbar_element_pj: share_pj(vbar, events.vbar_elements),
            sbar_element_pj: share_pj(sbar, events.sbar_elements),
            instruction_pj: share_pj(100.0 - law - vrf - vdm - vbar - sbar, events.instructions),
        }
    }

    fn residuals(&self, energy: &Energy) -> Vec<Residual> {
        let residual = |quantity: String, printed, ours, tolerance| {
            let (id, printed) = (Self::ID.to_owned(), Printed::Value(printed));
            Residual { id, quantity, printed, ours, tolerance, fitted: true }
        };
        let mut all =
            vec![residual("energy, uJ".into(), self.total_uj, energy.total(), 0.05 * self.total_uj)];
        let Shares { law, vrf, vdm, vbar, sbar } = self.percent;
        for (name, percent, part) in [
            ("law", law, energy.law),
            ("vrf", vrf, energy.vrf),
            ("vdm", vdm, energy.vdm),
            ("vbar", vbar, energy.vbar),
            ("sbar", sbar, energy.sbar),
        ] {
            all.push(residual(
                format!("{name}, % of the energy"),
                percent,
                part / energy.total() * 100.0,
                2.0,
            ));
        }
        all
    }
}

/// The value with [`DIGITS`] significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.*e}", DIGITS - 1).parse().expect("a number that was just written")
}

/// The largest deviation in units of its tolerance. The method adds squares of squares.
const LARGEST_RESIDUAL: f64 = 1e60;

/// The most steps of a fit.
const MOST_STEPS: usize = 500;

impl Claims {
    /// The residuals of the claims in the fit, with these logarithms of the fitted constants, in the order of
    /// their names. Errors in the names have been reported.
    fn deviations(&self, designs: &Designs, logarithms: &DynVector<f64>) -> DynVector<f64> {
        let constants = self.area_constants(logarithms.iter().map(|log| log.exp()), |value| value);
        let residual = |claim: &AreaClaim| {
            let deviation = claim.printed().ok()?.deviation(claim.ours(designs, constants.as_ref().ok()?));
            Some(deviation / claim.tolerance)
        };
        // A step to no numbers is a bad one.
        let finite = |residual: Option<f64>| match residual {
            Some(residual) if !residual.is_nan() => residual.clamp(-LARGEST_RESIDUAL, LARGEST_RESIDUAL),
            Some(_) | None => LARGEST_RESIDUAL,
        };
        let used = self.area.iter().filter(|claim| claim.fit);
        DynVector::from_vec(used.map(residual).map(finite).collect())
    }
}

#[cfg(test)]
mod tests;
