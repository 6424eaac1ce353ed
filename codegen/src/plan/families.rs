//! The families of plans that the search draws on.

use super::{Algorithm, Bit, Layout, Pass, Placement, Plan, Shape, Step, Steps, natural_layout};

impl Plan {
    /// Korn-Lambiotte: every stage works on the topmost address bit, which an unpack then makes
    /// the lowest one. Passes of `depth` stages over blocks of 2^depth registers, the paper's
    /// rectangles; where the whole transform fits 2^depth registers, one pass. The movement of
    /// the last stage is left to strided stores.
    pub fn korn_lambiotte(shape: Shape, depth: u32) -> Self {
        let (Shape { log_n, lanes }, vectors) = (shape, shape.vectors());
        let whole = vectors <= depth;
        let mut layout = natural_layout(log_n);
        let mut stages: Vec<Bit> = Algorithm::Forward.stages(log_n);
        let mut passes = Vec::new();
        while !stages.is_empty() {
            let take = if whole { stages.len() } else { stages.len().min(depth as usize) };
            let held = if whole { vectors as usize } else { take };
            let now: Vec<Bit> = stages.drain(..take).collect();
            let mut steps: Vec<Step> =
                now.iter().flat_map(|&bit| [Step::Stage(bit), Step::Unpack(bit)]).collect();
            if stages.is_empty() {
                steps.pop();
            }
            let registers = layout.iter().rev().take(held).copied().collect();
            layout.rotate_right(take);
            passes.push(Pass {
                load: (0..lanes as u8).collect(),
                registers,
                steps: Steps(steps),
                store: layout.clone(),
            });
        }
        Self { name: "kl".to_owned(), algorithm: Algorithm::Forward, log_n, passes }
    }

    /// One or two passes over contiguous vectors. The first one does the `first` topmost stages
    /// (none: there is one pass) and makes lanes of the bits in `early`; the second one does the
    /// rest and makes a lane of each bit below the vector length as soon as it has been dealt with, so that
    /// the result is stored contiguously. `held` bits that the first pass has dealt with number
    /// registers of the second one as well.
    ///
    /// With `strided`, the bits one higher become lanes, and the last movement is left to strided
    /// stores.
    pub fn windowed(shape: Shape, first: u32, early: &[Bit], held: u32, strided: bool) -> Self {
        let Shape { log_n, lanes } = shape;
        let stages = Algorithm::Forward.stages(log_n);
        let (top, rest) = stages.split_at(first as usize);
        let linear: Vec<u8> = (0..lanes as u8).collect();
        let natural = natural_layout(log_n);
        let (lowest, highest) = if strided { (1, lanes as u8) } else { (0, lanes as u8 - 1) };
        let mut passes = Vec::new();
        let mut placement = Placement { lanes: natural[..lanes as usize].to_vec(), registers: top.to_vec() };
        let steps = |stages: &[Bit], late: bool| {
            let becomes_lane = |bit: &Bit| early.contains(bit) || late && (lowest..=highest).contains(&bit.0);
            let steps = stages.iter().flat_map(|&bit| {
                std::iter::once(Step::Stage(bit)).chain(becomes_lane(&bit).then_some(Step::Unpack(bit)))
            });
            Steps(steps.collect())
        };
        if !top.is_empty() {
            let steps = steps(top, false);
            steps.0.iter().for_each(|&step| placement.apply(step));
            let others = natural.iter().filter(|bit| !placement.lanes.contains(bit));
            let store = placement.lanes.iter().chain(others).copied().collect();
            passes.push(Pass { load: linear.clone(), registers: top.to_vec(), steps, store });
        }
        let outside = |bit: &&Bit| !placement.lanes.contains(bit);
        let held = top.iter().filter(outside).take(held as usize);
        let registers = rest.iter().filter(outside).chain(held).copied().collect();
        passes.push(Pass { load: linear, registers, steps: steps(rest, true), store: natural });
        let name = format!("windowed-{first}-{}", early.len());
        Self { name, algorithm: Algorithm::Forward, log_n, passes }
    }

    /// One or two passes as in [`Self::windowed`], in which all lanes leave and enter through the
    /// place of one register bit of the last pass, the `door`: it becomes a lane after its own
    /// stage, and the topmost lane takes its place, is dealt with, becomes the lowest lane, and so
    /// on. So the unpack of a bit and the stage of the next one pair the same registers: there is
    /// a chain for each pair, independent of the others from the last register bit's stage on,
    /// and one unpack more than there are lane bits does it all.
    pub fn through(shape: Shape, first: u32, door: Bit) -> Self {
        let name = format!("through-{}-{first}", door.0);
        Self { name, ..Self::windowed(shape, first, &[door], 0, false) }
    }

    /// Two passes over blocks of 32 registers, for memories in which no power-of-two stride meets
    /// bank conflicts: strided loads and stores do what shuffles would have to. The first pass
    /// does the five topmost stages and `unpacks` more, the second one the rest, with six
    /// unpacks less `unpacks` at 2^16 elements of B512, so that both together shuffle as little as
    /// any plan and no pass has to do much more of it than of computing. There is one for rings of
    /// 32 to 256 vectors with up to 10 - `vectors` unpacks, at most 3.
    pub fn folded(shape: Shape, unpacks: u32) -> Option<Self> {
        let (Shape { log_n, lanes }, vectors) = (shape, shape.vectors());
        if !(5..=8).contains(&vectors) || unpacks > (10 - vectors).min(3) {
            return None;
        }
        // One past the topmost lane of the second pass's stores, which take the lanes from 5 on.
        let end = lanes + 5;
        let span = |from: u32, to: u32| (from as u8..to as u8).map(Bit);
        let stages = |from: u32, to: u32| span(to, from).rev().map(Step::Stage);
        // The bits from `high` on number registers of the first pass, those from `low` on its
        // lanes.
        let (high, low) = (log_n - 5, log_n - end);
        let split = high - unpacks;
        let becomes_lane = |bit: &Bit, from: u32, to: u32| (from as u8..to as u8).contains(&bit.0);
        let steps = |stages: &mut dyn Iterator<Item = Step>, from, to| {
            let with_unpack = |step: Step| {
                let unpack = step.bit().filter(|bit| becomes_lane(bit, from, to)).map(Step::Unpack);
                std::iter::once(step).chain(unpack)
            };
            Steps(stages.flat_map(with_unpack).collect())
        };
        // In ascending order the lanes of the first pass's stores and of the second one's loads
        // are both consecutive in this.
        let between: Layout =
            span(split, end).chain(span(low, split)).chain(span(0, low)).chain(span(end, log_n)).collect();
        let loaded = &between[..lanes as usize];
        let registers = span(0, split).rev().filter(|bit| !loaded.contains(bit)).collect();
        let first = Pass {
            load: (low as u8..(low + lanes) as u8).collect(),
            registers: span(high, log_n).rev().collect(),
            steps: steps(&mut stages(log_n, split), end - unpacks, end),
            store: between.clone(),
        };
        let second = Pass {
            load: (0..lanes as u8).collect(),
            registers,
            steps: steps(&mut stages(split, 0), 5, split),
            store: natural_layout(log_n),
        };
        let name = format!("folded-{unpacks}");
        Some(Self { name, algorithm: Algorithm::Forward, log_n, passes: vec![first, second] })
    }

    /// Three passes with (almost) no shuffles: strided loads and stores transpose the data
    /// between them. For memories in which no power-of-two stride meets bank conflicts. There is
    /// one for rings of 32 vectors to 2^15 elements, and for 2^16 elements of B512.
    pub fn transposing(shape: Shape) -> Option<Self> {
        let Shape { log_n, lanes } = shape;
        let bits = |bits: &[u8]| bits.iter().copied().map(Bit).collect::<Vec<_>>();
        let span = |from: u32, to: u32| (from as u8..to as u8).map(Bit).collect::<Vec<_>>();
        let steps = |stages: &[Bit]| Steps(stages.iter().map(|&bit| Step::Stage(bit)).collect());
        let window = |from: u32| (from as u8..(from + lanes) as u8).collect::<Vec<u8>>();
        let down = |from: u32, to: u32| span(to, from).into_iter().rev().collect::<Vec<_>>();
        let passes = match shape {
            Shape { log_n: 11..=15, .. } if shape.vectors() >= 5 => {
                // Passes of five, five and the rest; every layout is a rotation of the bits.
                let low = log_n - 10;
                let rotated = |by: u32| [span(by, log_n), span(0, by)].concat();
                let pass = |load: Vec<u8>, registers: Vec<Bit>, store: Layout| Pass {
                    load,
                    steps: steps(&registers),
                    registers,
                    store,
                };
                vec![
                    pass(window(0), down(log_n, low + 5), rotated(lanes)),
                    pass(window(low + 5 - lanes), down(low + 5, low), rotated(low)),
                    pass(window(0), down(low, 0), natural_layout(log_n)),
                ]
            }
            Shape { log_n: 16, lanes: 9 } => {
                // The sixth stage of the first pass takes one unpack; the layouts are such that
                // the lanes of each pass are consecutive before and after it.
                let before = bits(&[10, 11, 12, 13, 0, 1, 14, 15, 2, 3, 4, 5, 6, 7, 8, 9]);
                let after = bits(&[5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1, 14, 15, 2, 3, 4]);
                let mut first = steps(&down(16, 10));
                first.0.insert(1, Step::Unpack(Bit(15)));
                let pass = |load, registers, steps, store| Pass { load, registers, steps, store };
                vec![
                    pass(window(2), down(16, 11), first, before),
                    pass(window(2), down(10, 5), steps(&down(10, 5)), after),
                    pass(window(0), down(5, 0), steps(&down(5, 0)), natural_layout(16)),
                ]
            }
            _ => return None,
        };
        Some(Self { name: "transposing".to_owned(), algorithm: Algorithm::Forward, log_n, passes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use b512_asm::{AddressMode, Log2};

    /// log2 of every vector length.
    const LANES: std::ops::RangeInclusive<u32> = 6..=12;

    /// The shapes of rings from 2^7 to 2^17 with every vector length.
    fn shapes() -> impl Iterator<Item = Shape> {
        LANES.flat_map(|lanes| (lanes + 1..=17).map(move |log_n| Shape { log_n, lanes }))
    }

    #[test]
    fn korn_lambiotte_traces_at_every_shape_and_depth() {
        for shape in shapes() {
            for depth in 1..=5 {
                let plan = Plan::korn_lambiotte(shape, depth);
                let traced = plan.trace().unwrap();
                assert_eq!(plan.shape(), shape);
                assert_eq!(traced.last().unwrap().store_mode, AddressMode::Strided(Log2::new(1).unwrap()));
                let back = plan.reversed("pease", Algorithm::Inverse).unwrap();
                let packs =
                    back.passes.iter().flat_map(|p| &p.steps.0).filter(|s| matches!(s, Step::Pack(_)));
                assert_eq!(packs.count() as u32, shape.log_n - 1);
                back.trace().unwrap();
                assert_eq!(back.passes[0].load, (1..=shape.lanes as u8).collect::<Vec<u8>>());
            }
        }
    }

    #[test]
    fn windowed_folded_and_transposing_plans_trace() {
        for shape in shapes() {
            let top = Algorithm::Forward.stages(shape.log_n);
            let vectors = shape.vectors();
            // One pass, or a first one that stays above the lanes.
            for first in std::iter::once(0).chain(2..=vectors.min(5)) {
                for early in 1..=2 {
                    let plan = Plan::windowed(shape, first, &top[..early], 0, false);
                    // Blocks beyond 2^6 registers are refused.
                    if plan.passes.iter().all(|pass| pass.registers.len() <= 6) && vectors > 1 {
                        plan.trace().unwrap_or_else(|error| panic!("{shape:?} {first} {early}: {error}"));
                    }
                }
            }
            if vectors <= 6 {
                Plan::windowed(shape, 0, &top[..1], 0, true).trace().unwrap();
            }
            for plan in (0..=3).filter_map(|unpacks| Plan::folded(shape, unpacks)) {
                plan.trace().unwrap_or_else(|error| panic!("{shape:?} {}: {error}", plan.name));
            }
            if let Some(plan) = Plan::transposing(shape) {
                plan.trace().unwrap_or_else(|error| panic!("{shape:?}: {error}"));
                plan.reversed("back", Algorithm::InverseTwisted).unwrap().trace().unwrap();
            }
        }
        let plan = Plan::windowed(Shape::b512(16), 4, &[Bit(13), Bit(12)], 0, false);
        assert_eq!(plan.passes[0].steps.to_string(), "S15 S14 S13 U13 S12 U12");
        assert_eq!(
            plan.passes[1].steps.to_string(),
            "S11 S10 S9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0"
        );
    }

    #[test]
    fn one_unpack_more_than_lane_bits_suffices_through_any_door() {
        for shape in shapes() {
            let Shape { log_n, lanes } = shape;
            for first in [0, 2, 3, 4, 5] {
                for door in (lanes..log_n.saturating_sub(first)).map(|bit| Bit(bit as u8)) {
                    let plan = Plan::through(shape, first, door);
                    if plan.passes.iter().any(|pass| pass.registers.len() > 6) {
                        continue;
                    }
                    plan.trace().unwrap_or_else(|error| panic!("{shape:?} {first} {door:?}: {error}"));
                    let steps = plan.passes.iter().flat_map(|pass| &pass.steps.0);
                    let unpacks = steps.filter(|step| matches!(step, Step::Unpack(_))).count();
                    assert_eq!(unpacks as u32, lanes + 1);
                }
            }
        }
        assert_eq!(
            Plan::through(Shape::b512(11), 0, Bit(9)).passes[0].steps.to_string(),
            "S10 S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0"
        );
    }

    #[test]
    fn the_papers_plan_has_its_passes() {
        let plan = Plan::korn_lambiotte(Shape::b512(16), 4);
        assert_eq!(plan.passes.len(), 4);
        assert_eq!(plan.passes[0].steps.to_string(), "S15 U15 S14 U14 S13 U13 S12 U12");
        assert_eq!(plan.passes[3].steps.to_string(), "S3 U3 S2 U2 S1 U1 S0");
    }
}
