//! Forecasts of a measure of designs that have not been evaluated.
//!
//! The time of a ring program has the structure of a roofline: kernels and the channel of the off-chip memory
//! overlap, and the longer of the two decides. Each follows few axes in a simple way, and their maximum
//! does not. So each has a model of its own, and a third one has what is left: how well they overlap, and the
//! factor from time to another unit. Any other measure has one model.

use super::Design;
use super::model::{Model, Places};
use crate::measure::{Busy, Costs, Measure};

/// The exponent of the norm that joins two times: 1 for their sum, infinite for the larger one. Set by hand.
const OVERLAP: f64 = 4.0;

/// The logarithm of a measure.
pub(super) enum Forecast<'p> {
    Whole(Model<'p>),
    Overlapping {
        /// Kernels, the channel.
        parts: Box<[Model<'p>; 2]>,
        rest: Model<'p>,
    },
}

/// The relevances of axes that the models of a measure had in the round before.
pub(super) type Relevances = [Vec<f64>; 3];

impl<'p> Forecast<'p> {
    /// Fits the measure of evaluated designs. `None` without designs.
    pub(super) fn fit(
        places: &'p Places,
        designs: &[(&Design, &Costs)],
        measure: Measure,
        before: &mut Relevances,
    ) -> Option<Self> {
        let values: Vec<f64> = designs.iter().map(|(_, costs)| measure.of(costs).ln()).collect();
        let known: Vec<&Design> = designs.iter().map(|(design, _)| *design).collect();
        let [whole, kernels, channel] = before;
        let busy =
            |what| designs.iter().map(move |(_, costs)| costs.busy_us(what).ln()).collect::<Vec<f64>>();
        let times = [busy(Busy::Kernels), busy(Busy::Channel)];
        let is_time = [Measure::Cycles, Measure::TimeUs, Measure::SlotLevelNs].contains(&measure);
        if !is_time || times.iter().flatten().any(|time| !time.is_finite()) {
            return Some(Self::Whole(Model::fit(places, &known, &values, whole)?));
        }
        let joined = times[0].iter().zip(&times[1]).map(|(kernels, channel)| join([*kernels, *channel]));
        let rest: Vec<f64> = joined.zip(&values).map(|(joined, value)| value - joined).collect();
        Some(Self::Overlapping {
            parts: Box::new([
                Model::fit(places, &known, &times[0], kernels)?,
                Model::fit(places, &known, &times[1], channel)?,
            ]),
            rest: Model::fit(places, &known, &rest, whole)?,
        })
    }

    /// The mean and the standard deviation of a design's.
    pub(super) fn of(&self, design: &Design) -> (f64, f64) {
        match self {
            Self::Whole(model) => model.predict(design),
            Self::Overlapping { parts, rest } => {
                let [kernels, channel] = [0, 1].map(|part| parts[part].predict(design));
                let (rest, rest_deviation) = rest.predict(design);
                // What the joined time gains by a part's.
                let share = 1.0 / (1.0 + (OVERLAP * (channel.0 - kernels.0)).exp());
                let variance = (share * kernels.1).powi(2)
                    + ((1.0 - share) * channel.1).powi(2)
                    + rest_deviation.powi(2);
                (join([kernels.0, channel.0]) + rest, variance.sqrt())
            }
        }
    }

    /// The forecast as if a design were evaluated and as forecast (a kriging believer): it is sure of it, and
    /// of what is near.
    pub(super) fn believing(&self, design: &Design) -> Option<Self> {
        Some(match self {
            Self::Whole(model) => Self::Whole(model.believing(design)?),
            Self::Overlapping { parts, rest } => {
                let [kernels, channel] = &**parts;
                Self::Overlapping {
                    parts: Box::new([kernels.believing(design)?, channel.believing(design)?]),
                    rest: rest.believing(design)?,
                }
            }
        })
    }
}

/// The logarithm of the time of two parts that overlap.
fn join([a, b]: [f64; 2]) -> f64 {
    let (less, more) = (a.min(b), a.max(b));
    more + (OVERLAP * (less - more)).exp().ln_1p() / OVERLAP
}

#[cfg(test)]
mod tests {
    use super::super::Space;
    use super::*;
    use crate::Definition;

    /// Kernels by the number of HPLEs, the channel by its bandwidth.
    #[test]
    fn a_time_of_two_parts_is_known_where_the_other_part_decides() {
        let text = "kernel = 'hmult'\nset = 'ark'\nn = 1024\n[grid]\nhple.count = [4, 8, 16, 32, 64, 128]\n\
            hbm.gb_per_s = [64, 128, 256, 512, 1024, 2048]";
        let space = Space::new(&Definition::parse("space.toml", text).unwrap()).unwrap();
        let places = Places::new(&space);
        let costs = |design: &Design| {
            let [kernels, channel] = [0, 1].map(|axis| 64.0 * 0.5_f64.powi(design[axis] as i32));
            let time = join([kernels.ln(), channel.ln()]).exp();
            let mut costs = Costs::UNKNOWN;
            costs.set(Measure::TimeUs, time);
            costs.set_busy(Busy::Kernels, kernels / time);
            costs.set_busy(Busy::Channel, channel / time);
            costs.set(Measure::EnergyUj, kernels + channel);
            costs
        };
        // A cross of designs: one axis at a time.
        let known: Vec<(Design, Costs)> = space
            .all()
            .filter(|design| design.contains(&2))
            .map(|design| {
                let costs = costs(&design);
                (design, costs)
            })
            .collect();
        let known: Vec<(&Design, &Costs)> = known.iter().map(|(design, costs)| (design, costs)).collect();
        let forecast = Forecast::fit(&places, &known, Measure::TimeUs, &mut Relevances::default()).unwrap();
        assert!(matches!(forecast, Forecast::Overlapping { .. }));
        for design in space.all() {
            let error = (forecast.of(&design).0 - Measure::TimeUs.of(&costs(&design)).ln()).abs();
            assert!(error < 0.1, "{design:?}: {error}");
        }
        let energy = Forecast::fit(&places, &known, Measure::EnergyUj, &mut Relevances::default());
        assert!(matches!(energy, Some(Forecast::Whole(_))));
        // What is believed is more certain, and does not change.
        let corner = vec![5, 5];
        let (mean, deviation) = forecast.of(&corner);
        let (believed, certain) = forecast.believing(&corner).unwrap().of(&corner);
        assert!((mean - believed).abs() < 0.01 && certain < deviation, "{deviation}, {certain}");
        assert!(Forecast::fit(&places, &[], Measure::TimeUs, &mut Relevances::default()).is_none());
    }
}
