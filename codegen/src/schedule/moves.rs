//! Changes of the order of scheduled instructions.

use super::Scheduled;
use b512_asm::{Class, Instr, Pipe};
use serde::{Deserialize, Serialize};

/// Lets an instruction dispatch later, behind the instructions that follow it. Dependences limit it: it stays in front of
/// the first instruction that has to come after it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "[u32; 2]", into = "[u32; 2]")]
pub struct Move {
    /// The index of the instruction, after all earlier moves.
    pub from: u32,
    /// The number of instructions that overtake it, at most.
    pub by: u32,
}

impl From<[u32; 2]> for Move {
    fn from([from, by]: [u32; 2]) -> Self {
        Self { from, by }
    }
}

impl From<Move> for [u32; 2] {
    fn from(Move { from, by }: Move) -> Self {
        [from, by]
    }
}

impl Move {
    /// The number of instructions that can overtake it, up to `by`.
    pub(crate) fn reach(self, instructions: &[Instr]) -> usize {
        let Some((first, rest)) = instructions.get(self.from as usize..).and_then(<[Instr]>::split_first)
        else {
            return 0;
        };
        rest.iter().take(self.by as usize).take_while(|next| are_independent(first, next)).count()
    }

    /// Changes the order. Returns the number of instructions that overtook the one that moves.
    pub(crate) fn apply(self, scheduled: &mut Scheduled) -> usize {
        let (from, reach) = (self.from as usize, self.reach(&scheduled.instructions));
        if reach > 0 {
            scheduled.instructions[from..=from + reach].rotate_left(1);
            scheduled.origin[from..=from + reach].rotate_left(1);
        }
        reach
    }
}

/// The moves from one order to another: at most one for each instruction. For each place of the new order, `order` has the
/// place in the old one.
pub(crate) fn moves_between(order: &[u32]) -> Vec<Move> {
    // The last place comes first. The instructions for all places before it are still in their old order.
    let mut others = order.to_vec();
    others.sort_unstable();
    let moves = order.iter().enumerate().rev().filter_map(|(place, old)| {
        let from = others.binary_search(old).expect("an order has each place once");
        others.remove(from);
        (from < place).then(|| Move { from: from as u32, by: (place - from) as u32 })
    });
    moves.collect()
}

/// Whether two instructions can change places: no register and no word of memory connects them. Stores keep their order
/// with all other accesses, and instructions of the scalar unit their places.
fn are_independent(first: &Instr, second: &Instr) -> bool {
    let classes = [first, second].map(|instr| instr.op().class());
    let is_scalar = classes.iter().any(|class| class.pipe() == Pipe::Scalar);
    let are_accesses = classes.iter().all(|class| class.pipe() == Pipe::LoadStore);
    if is_scalar || (are_accesses && classes.contains(&Class::Store)) {
        return false;
    }
    let meet = |writer: &Instr, other: &Instr| {
        let uses = |reg| other.vector_reads().contains(reg) || other.vector_writes().contains(reg);
        writer.vector_writes().iter().any(uses)
    };
    !meet(first, second) && !meet(second, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use b512_asm::assemble;

    #[test]
    fn an_order_is_at_most_one_move_for_each_instruction() {
        let order = [2, 0, 1, 5, 3, 4, 7, 6];
        let moves = moves_between(&order);
        let mut changed: Vec<u32> = (0..8).collect();
        for &Move { from, by } in &moves {
            changed[from as usize..=(from + by) as usize].rotate_left(1);
        }
        assert_eq!(changed, order);
        let expected = [Move { from: 6, by: 1 }, Move { from: 4, by: 1 }, Move { from: 3, by: 1 }];
        assert_eq!(moves[..3], expected);
        assert_eq!(moves.len(), 5);
        assert!(moves_between(&[0, 1, 2]).is_empty());
    }

    #[test]
    fn moves_end_at_dependences() {
        let source = ".scratch x, 4096\nvload v1, a0, x\nvload v2, a0, x+512\nvadd v3, v2, v2, m0\n\
            vadd v4, v1, v1, m0\nvstore v4, a0, x\nvstore v3, a0, x+512\nvload v5, a0, x\nvload v1, a0, x\nhalt\n";
        let instructions = assemble(source).unwrap().instructions;
        let reach = |from, by| Move { from, by }.reach(&instructions);
        // The load of v1 reaches its reader, and no more if it may not.
        assert_eq!((reach(0, 9), reach(0, 1)), (2, 1));
        // A read of v1 stays in front of the next write of it, a store in front of other accesses.
        assert_eq!((reach(3, 9), reach(4, 9), reach(5, 9)), (0, 0, 0));
        assert_eq!(reach(2, 9), 2);
        // Loads pass each other. Nothing passes `halt`, and there is nothing behind it.
        assert_eq!((reach(6, 9), reach(7, 9), reach(8, 9), reach(99, 1)), (1, 0, 0, 0));
    }
}
