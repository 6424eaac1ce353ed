//! The plan families of the search.
//!
//! The examples are plans for 2^16 elements of B512, unless they say otherwise. In their notation,
//! `S15` is the stage of index bit 15, and `U15` is the unpack that makes it a lane bit. A placement
//! lists index bits, most significant first: `[register bits | lane bits]`.

use super::{Algorithm, Bit, Layout, Pass, Placement, Plan, Shape, Step, natural_layout};

impl Plan {
    /// The Korn-Lambiotte plan. Every stage works on the topmost address bit; an unpack then makes it
    /// the lowest one. Each pass holds `depth` stages and works on blocks of 2^depth registers, the
    /// paper's rectangles. If the whole transform fits into 2^depth registers, there is one pass.
    /// Strided stores replace the last unpack.
    ///
    /// The [formula](crate::formula) is `prod_{i=0}^{log2 n - 1} (L^n_{n/2} (NTT_2 (x) I_{n/2})
    /// W^n_i)`. At depth 4, four factors form a pass:
    ///
    /// ```text
    /// S15 U15 S14 U14 S13 U13 S12 U12   [15 .. 12 | 8 .. 0] -> [8 .. 5 | 4 .. 0 15 .. 12] S11 U11
    /// S10 U10 S9 U9 S8 U8       [11 .. 8 | 4 .. 0 15 .. 12] -> [4 .. 1 | 0 15 .. 8] S7 U7 S6 U6 S5
    /// U5 S4 U4           [7 .. 4 | 0 15 .. 8] -> [0 15 14 13 | 12 .. 4] S3 U3 S2 U2 S1 U1 S0
    /// [3 .. 0 | 12 .. 4] -> [12 11 10 0 | 9 .. 1], stores at stride 2
    /// ```
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
            let loaded = layout[..lanes as usize].to_vec();
            layout.rotate_right(take);
            passes.push(Pass { lanes: loaded, registers, steps, store: layout.clone() });
        }
        Self { name: "kl".to_owned(), algorithm: Algorithm::Forward, log_n, passes }
    }

    /// The plan for a polynomial of one vector: the copy bit becomes a lane bit, and the lane bits move
    /// through its register position one by one.
    ///
    /// Returns `None` if the polynomial has several vectors.
    ///
    /// ```text
    /// U9 S8 U8 S7 U7 .. S1 U1 S0 U0     [9 | 8 .. 0] -> [8 | 7 .. 0 9] -> .. -> [9 | 8 .. 0]
    /// ```
    pub fn copied(shape: Shape) -> Option<Self> {
        let Shape { log_n, lanes } = shape;
        let copy = (log_n == lanes).then_some(Bit(lanes as u8))?;
        let stages = Algorithm::Forward.stages(log_n).into_iter();
        let stages = stages.flat_map(|bit| [Step::Stage(bit), Step::Unpack(bit)]);
        let pass = Pass {
            lanes: natural_layout(lanes),
            registers: vec![copy],
            steps: std::iter::once(Step::Unpack(copy)).chain(stages).collect(),
            store: natural_layout(shape.bits()),
        };
        Some(Self { name: "copied".to_owned(), algorithm: Algorithm::Forward, log_n, passes: vec![pass] })
    }

    /// One or two passes over contiguous vectors. The first pass holds the `first` topmost stages and
    /// unpacks the bits in `early`; if `first` is 0, there is one pass. The last pass holds the other
    /// stages. It unpacks each bit below the vector length right after the stage of the bit, so the
    /// result is stored contiguously. In addition, `held` bits of the first pass number registers of
    /// the second pass.
    ///
    /// If `strided` is true, the unpacked bits of the last pass are one higher, and strided stores
    /// replace the last unpack.
    ///
    /// With four stages in the first pass and `early` bits 13 and 12:
    ///
    /// ```text
    /// S15 S14 S13 U13 S12 U12                 [15 .. 12 | 8 .. 0] -> [15 14 8 7 | 6 .. 0 13 12]
    /// S11 S10 S9 S8 U8 S7 U7 .. S1 U1 S0 U0   [11 .. 7 | 6 .. 0 13 12] -> [11 10 9 12 13 | 8 .. 0]
    /// ```
    pub fn windowed(shape: Shape, first: u32, early: &[Bit], held: u32, strided: bool) -> Self {
        let Shape { log_n, lanes } = shape;
        let stages = Algorithm::Forward.stages(log_n);
        let (top, rest) = stages.split_at(first as usize);
        let natural = natural_layout(log_n);
        let (lowest, highest) = if strided { (1, lanes as u8) } else { (0, lanes as u8 - 1) };
        let mut passes = Vec::new();
        let mut placement = Placement { lanes: natural[..lanes as usize].to_vec(), registers: top.to_vec() };
        let steps = |stages: &[Bit], late: bool| {
            let becomes_lane = |bit: &Bit| early.contains(bit) || late && (lowest..=highest).contains(&bit.0);
            let steps = stages.iter().flat_map(|&bit| {
                std::iter::once(Step::Stage(bit)).chain(becomes_lane(&bit).then_some(Step::Unpack(bit)))
            });
            steps.collect::<Vec<_>>()
        };
        if !top.is_empty() {
            let (loaded, steps) = (placement.lanes.clone(), steps(top, false));
            steps.iter().for_each(|&step| placement.apply(step));
            let others = natural.iter().filter(|bit| !placement.lanes.contains(bit));
            let store = placement.lanes.iter().chain(others).copied().collect();
            passes.push(Pass { lanes: loaded, registers: top.to_vec(), steps, store });
        }
        let outside = |bit: &&Bit| !placement.lanes.contains(bit);
        let held = top.iter().filter(outside).take(held as usize);
        let registers = rest.iter().filter(outside).chain(held).copied().collect();
        passes.push(Pass { lanes: placement.lanes, registers, steps: steps(rest, true), store: natural });
        let name = format!("windowed-{first}-{}", early.len());
        Self { name, algorithm: Algorithm::Forward, log_n, passes }
    }

    /// One or two passes as in [`Self::windowed`], in which all lane bits move through one register
    /// position, the `door`. The door bit is unpacked after its own stage. The topmost lane bit takes
    /// its position, runs its stage, is unpacked in turn, and so on. The unpack of a bit and the
    /// stage of the next bit therefore pair the same registers. Each pair forms an independent chain
    /// after the stage of the last register bit. The number of unpacks is one more than the number of
    /// lane bits.
    ///
    /// For 2^11 elements through bit 9, in one pass:
    ///
    /// ```text
    /// S10 S9 U9 S8 U8 S7 U7 .. S1 U1 S0 U0
    /// [10 9 | 8 .. 0] -> [10 8 | 7 .. 0 9] -> [10 7 | 6 .. 0 9 8] -> .. -> [10 9 | 8 .. 0]
    /// ```
    pub fn through(shape: Shape, first: u32, door: Bit) -> Self {
        let name = format!("through-{}-{first}", door.0);
        Self { name, ..Self::windowed(shape, first, &[door], 0, false) }
    }

    /// Two passes over blocks of 32 registers, for memories without bank conflicts at power-of-two
    /// strides. Strided loads and stores replace shuffles. The first pass holds the five topmost
    /// stages and `unpacks` more; the second pass holds the others. For 2^16 elements of B512, the
    /// second pass needs `6 - unpacks` unpacks. No other family of two-pass plans shuffles as little,
    /// and neither pass has many more shuffles than butterflies.
    ///
    /// Returns `None` unless the ring has 2^5 to 2^8 vectors and `unpacks` is at most 3 and at most
    /// `10 - log2 vectors`.
    ///
    /// With one unpack in the first pass:
    ///
    /// ```text
    /// loads at stride 2^2   S15 S14 S13 U13 S12 S11 S10                     stores at stride 2^3
    ///                       [15 .. 11 | 10 .. 2] -> [15 14 10 12 11 | 9 .. 2 13]
    /// contiguous loads      S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 S3 S2 S1 S0   stores at stride 2^5
    ///                       [9 8 7 1 0 | 6 .. 2 13 .. 10] -> [3 2 4 1 0 | 13 .. 5]
    /// ```
    pub fn folded(shape: Shape, unpacks: u32) -> Option<Self> {
        let (Shape { log_n, lanes }, vectors) = (shape, shape.vectors());
        if !(5..=8).contains(&vectors) || unpacks > (10 - vectors).min(3) {
            return None;
        }
        // One past the topmost lane bit at the stores of the second pass, whose lane bits start at 5.
        let end = lanes + 5;
        let span = |from: u32, to: u32| (from as u8..to as u8).map(Bit);
        let stages = |from: u32, to: u32| span(to, from).rev().map(Step::Stage);
        // In the first pass, the bits from `high` on number registers, and the next lower ones, from
        // `low` on, are lane bits.
        let (high, low) = (log_n - 5, log_n - end);
        let split = high - unpacks;
        let becomes_lane = |bit: &Bit, from: u32, to: u32| (from as u8..to as u8).contains(&bit.0);
        let steps = |stages: &mut dyn Iterator<Item = Step>, from, to| {
            let with_unpack = |step: Step| {
                let unpack = step.bit().filter(|bit| becomes_lane(bit, from, to)).map(Step::Unpack);
                std::iter::once(step).chain(unpack)
            };
            stages.flat_map(with_unpack).collect::<Vec<_>>()
        };
        // In this layout, the lane bits of the stores of the first pass and of the loads of the
        // second pass are both consecutive and ascending.
        let between: Layout =
            span(split, end).chain(span(low, split)).chain(span(0, low)).chain(span(end, log_n)).collect();
        let loaded = &between[..lanes as usize];
        let registers = span(0, split).rev().filter(|bit| !loaded.contains(bit)).collect();
        let first = Pass {
            lanes: span(low, low + lanes).collect(),
            registers: span(high, log_n).rev().collect(),
            steps: steps(&mut stages(log_n, split), end - unpacks, end),
            store: between.clone(),
        };
        let second = Pass {
            lanes: loaded.to_vec(),
            registers,
            steps: steps(&mut stages(split, 0), 5, split),
            store: natural_layout(log_n),
        };
        let name = format!("folded-{unpacks}");
        Some(Self { name, algorithm: Algorithm::Forward, log_n, passes: vec![first, second] })
    }

    /// Three passes with at most one unpack, for memories without bank conflicts at power-of-two
    /// strides. Strided loads and stores transpose the data between the passes.
    ///
    /// Returns `None` unless the ring has at least 32 vectors and at most 2^15 elements, or 2^16
    /// elements of B512.
    ///
    /// For 2^15 elements of B512:
    ///
    /// ```text
    /// S14 S13 S12 S11 S10   [14 .. 10 | 8 .. 0]         contiguous loads, stores at stride 2^6
    /// S9 S8 S7 S6 S5        [9 .. 5 | 3 .. 0 14 .. 10]  loads at stride 2, stores at stride 2^5
    /// S4 S3 S2 S1 S0        [4 .. 0 | 13 .. 5]          contiguous loads, stores at stride 2^5
    /// ```
    pub fn transposing(shape: Shape) -> Option<Self> {
        let Shape { log_n, lanes } = shape;
        let bits = |bits: &[u8]| bits.iter().copied().map(Bit).collect::<Vec<_>>();
        let span = |from: u32, to: u32| (from as u8..to as u8).map(Bit).collect::<Vec<_>>();
        let steps = |stages: &[Bit]| stages.iter().map(|&bit| Step::Stage(bit)).collect::<Vec<_>>();
        let window = |layout: &[Bit], from: u32| layout[from as usize..(from + lanes) as usize].to_vec();
        let down = |from: u32, to: u32| span(to, from).into_iter().rev().collect::<Vec<_>>();
        let passes = match shape {
            Shape { log_n: 11..=15, .. } if shape.vectors() >= 5 => {
                // Passes of five, five and the remaining stages; every layout rotates the bits.
                let low = log_n - 10;
                let rotated = |by: u32| [span(by, log_n), span(0, by)].concat();
                let pass = |lanes: Vec<Bit>, registers: Vec<Bit>, store: Layout| Pass {
                    lanes,
                    steps: steps(&registers),
                    registers,
                    store,
                };
                vec![
                    pass(window(&natural_layout(log_n), 0), down(log_n, low + 5), rotated(lanes)),
                    pass(window(&rotated(lanes), low + 5 - lanes), down(low + 5, low), rotated(low)),
                    pass(window(&rotated(low), 0), down(low, 0), natural_layout(log_n)),
                ]
            }
            Shape { log_n: 16, lanes: 9 } => {
                // The sixth stage of the first pass needs one unpack. The lane bits of each pass are
                // consecutive in the layouts before and after the pass.
                let before = bits(&[10, 11, 12, 13, 0, 1, 14, 15, 2, 3, 4, 5, 6, 7, 8, 9]);
                let after = bits(&[5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1, 14, 15, 2, 3, 4]);
                let mut first = steps(&down(16, 10));
                first.insert(1, Step::Unpack(Bit(15)));
                let lanes = [window(&natural_layout(16), 2), window(&before, 2), window(&after, 0)];
                let [first_lanes, second_lanes, third_lanes] = lanes;
                let pass = |lanes, registers, steps, store| Pass { lanes, registers, steps, store };
                vec![
                    pass(first_lanes, down(16, 11), first, before),
                    pass(second_lanes, down(10, 5), steps(&down(10, 5)), after),
                    pass(third_lanes, down(5, 0), steps(&down(5, 0)), natural_layout(16)),
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

    fn text(pass: &Pass) -> String {
        let steps: Vec<String> = pass.steps.iter().map(Step::to_string).collect();
        steps.join(" ")
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
                let packs = back.passes.iter().flat_map(|p| &p.steps).filter(|s| matches!(s, Step::Pack(_)));
                assert_eq!(packs.count() as u32, shape.log_n - 1);
                back.trace().unwrap();
                assert_eq!(back.passes[0].lanes, (1..=shape.lanes as u8).map(Bit).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn polynomials_of_one_vector_have_a_plan() {
        for lanes in LANES {
            let shape = Shape { log_n: lanes, lanes };
            let plan = Plan::copied(shape).unwrap();
            assert_eq!((plan.shape(), plan.trace().unwrap().len()), (shape, 1));
            for algorithm in [Algorithm::Inverse, Algorithm::InverseTwisted] {
                plan.reversed("back", algorithm).unwrap().trace().unwrap();
            }
            assert_eq!(Plan::copied(Shape { log_n: lanes + 1, lanes }), None);
        }
    }

    #[test]
    fn windowed_folded_and_transposing_plans_trace() {
        for shape in shapes() {
            let top = Algorithm::Forward.stages(shape.log_n);
            let vectors = shape.vectors();
            // One pass, or a first pass with stages above the lane bits only.
            for first in std::iter::once(0).chain(2..=vectors.min(5)) {
                for early in 1..=2 {
                    let plan = Plan::windowed(shape, first, &top[..early], 0, false);
                    // Blocks of more than 2^6 registers are invalid.
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
        assert_eq!(text(&plan.passes[0]), "S15 S14 S13 U13 S12 U12");
        assert_eq!(text(&plan.passes[1]), "S11 S10 S9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0");
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
                    let steps = plan.passes.iter().flat_map(|pass| &pass.steps);
                    let unpacks = steps.filter(|step| matches!(step, Step::Unpack(_))).count();
                    assert_eq!(unpacks as u32, lanes + 1);
                }
            }
        }
        assert_eq!(
            text(&Plan::through(Shape::b512(11), 0, Bit(9)).passes[0]),
            "S10 S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0"
        );
    }

    #[test]
    fn the_papers_plan_has_its_passes() {
        let plan = Plan::korn_lambiotte(Shape::b512(16), 4);
        assert_eq!(plan.passes.len(), 4);
        assert_eq!(text(&plan.passes[0]), "S15 U15 S14 U14 S13 U13 S12 U12");
        assert_eq!(text(&plan.passes[3]), "S3 U3 S2 U2 S1 U1 S0");
    }
}
