//! The plans of the classical constant-geometry transforms.
//!
//! The examples are plans for 2^16 elements of B512, in the notation of [plans as text](super::text).

use super::{Algorithm, Bit, Pass, Plan, Shape, Step, natural_layout};

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
        if shape.vectors() == 0 {
            return Self::copied(shape);
        }
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
    /// ```text
    /// U9 S8 U8 S7 U7 .. S1 U1 S0 U0     [9 | 8 .. 0] -> [8 | 7 .. 0 9] -> .. -> [9 | 8 .. 0]
    /// ```
    fn copied(shape: Shape) -> Self {
        let Shape { log_n, lanes } = shape;
        let copy = Bit(lanes as u8);
        let stages = Algorithm::Forward.stages(log_n).into_iter();
        let stages = stages.flat_map(|bit| [Step::Stage(bit), Step::Unpack(bit)]);
        let pass = Pass {
            lanes: natural_layout(lanes),
            registers: vec![copy],
            steps: std::iter::once(Step::Unpack(copy)).chain(stages).collect(),
            store: natural_layout(shape.bits()),
        };
        Self { name: "copied".to_owned(), algorithm: Algorithm::Forward, log_n, passes: vec![pass] }
    }
}
