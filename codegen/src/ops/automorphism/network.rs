//! Affine permutations of the lanes of two vectors, in registers.

use super::super::builder::RingBuilder;
use crate::code::ValueId;
use crate::number::Expression;
use b512_asm::Op;

/// The order in which the network visits the bits of a lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Visit {
    /// From the lowest bit, with packs.
    Ascending,
    /// From the highest bit, with unpacks.
    Descending,
}

/// Two registers with the same or different permutations.
pub(super) struct Pair {
    /// The registers.
    pub(super) registers: [ValueId; 2],
    /// The elements have been doubled this often.
    pub(super) doublings: u32,
    /// The target of each element: a lane of the first register, or, after these, of the second.
    targets: [Vec<u32>; 2],
}

/// Moves every element of the pairs to its target, unless all of its pair are there. The pairs advance
/// together, which hides the latencies of a step.
///
/// The visited bits of a target must depend on the bits of its lane that are visited first, up to the same
/// one: on the others, the network has two elements with one target.
pub(super) fn permute(ring: &mut RingBuilder<'_>, pairs: &mut [Pair], visit: Visit) {
    let mut moving: Vec<&mut Pair> = pairs.iter_mut().filter(|pair| !pair.is_sorted()).collect();
    let bits = ring.code.isa.lane_bits();
    for step in 0..bits {
        let bit = match visit {
            Visit::Ascending => step,
            Visit::Descending => bits - 1 - step,
        };
        moving.iter_mut().for_each(|pair| pair.shuffle(ring, visit));
        moving.iter_mut().for_each(|pair| pair.exchange(ring, bit));
    }
    for pair in moving {
        pair.shuffle(ring, visit);
        assert!(pair.is_sorted());
    }
}

impl Pair {
    /// Two registers whose lanes shall move to these lanes.
    pub(super) fn new(registers: [ValueId; 2], lanes: [&[u32]; 2]) -> Self {
        let targets = [0, 1].map(|register| {
            let before = register as u32 * lanes[0].len() as u32;
            lanes[register].iter().map(|&lane| before + lane).collect()
        });
        Self { registers, doublings: 0, targets }
    }

    fn is_sorted(&self) -> bool {
        self.targets.iter().flatten().copied().eq(0..2 * self.targets[0].len() as u32)
    }

    /// Turns the next lane bit into the bit that selects the register.
    fn shuffle(&mut self, ring: &mut RingBuilder<'_>, visit: Visit) {
        let ops = match visit {
            Visit::Ascending => [Op::Pklo, Op::Pkhi],
            Visit::Descending => [Op::Unpklo, Op::Unpkhi],
        };
        let tower = ring.tower();
        self.registers = ops.map(|op| ring.code.apply(op, self.registers, None, tower));
        let [a, b] = &self.targets;
        let half = a.len() / 2;
        self.targets = [0, 1].map(|high| match visit {
            Visit::Ascending => a.iter().chain(b).skip(high).step_by(2).copied().collect(),
            Visit::Descending => {
                let halves = a[high * half..].iter().zip(&b[high * half..]).take(half);
                halves.flat_map(|(&a, &b)| [a, b]).collect()
            }
        });
    }

    /// Exchanges lanes of the registers so that the register is this bit of the targets' lanes.
    fn exchange(&mut self, ring: &mut RingBuilder<'_>, bit: u32) {
        let moves: Vec<bool> = self.targets[0].iter().map(|target| target >> bit & 1 == 1).collect();
        let [a, b] = &mut self.targets;
        for ((a, b), _) in a.iter_mut().zip(b).zip(&moves).filter(|(_, moves)| **moves) {
            std::mem::swap(a, b);
        }
        assert!(self.targets[1].iter().all(|target| target >> bit & 1 == 1));
        if moves.iter().all(|&moves| moves) {
            self.registers.swap(0, 1);
        } else if moves.contains(&true) {
            let signs =
                [Expression::Value(1), Expression::minus_one()].map(|number| ring.code.number(number));
            let one = ring.vector(vec![signs[0]; moves.len()]);
            let signs = ring.vector(moves.into_iter().map(|moves| signs[usize::from(moves)]).collect());
            let tower = ring.tower();
            let both = ring.code.butterfly(Op::Bfly, self.registers, one, tower);
            self.registers = ring.code.butterfly(Op::Bfly, both, signs, tower);
            self.doublings += 1;
        }
    }
}
