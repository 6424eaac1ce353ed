//! Liveness: when values are read next, for placement in a small memory.

use crate::{Limb, RingProgram, Shape};

/// The next read of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NextUse(u32);

impl NextUse {
    /// The value is never read again: it is overwritten, or the program ends.
    pub const NEVER: Self = Self(u32::MAX);
    /// No operation reads the value again, but it is an output.
    pub const AT_END: Self = Self(u32::MAX - 1);

    /// The index of the operation that reads the value next. `None` if there is none.
    pub fn operation(self) -> Option<usize> {
        (self < Self::AT_END).then_some(self.0 as usize)
    }

    /// True if nothing reads the value again.
    pub fn is_dead(self) -> bool {
        self == Self::NEVER
    }
}

/// The next uses of the values that one operation touches, after the operation.
///
/// Later uses compare greater, so that the greatest is the value to evict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uses {
    /// Of the result.
    pub destination: NextUse,
    /// Of the sources; dead if the operation overwrites the source or has no such source.
    pub sources: [NextUse; 2],
}

/// The next uses of all values of a program.
#[derive(Clone, Debug)]
pub struct Liveness {
    uses: Vec<Uses>,
    first: Vec<NextUse>,
}

impl Liveness {
    /// Analyses a program without calls, in time linear in its length.
    ///
    /// # Panics
    /// Panics beyond 2^32 - 3 operations.
    pub fn of(program: &RingProgram) -> Self {
        let operations = program.operations();
        assert!(operations.len() < NextUse::AT_END.0 as usize, "too many operations");
        let mut next = vec![NextUse::NEVER; program.limbs().len()];
        for limb in program.outputs().iter().flat_map(|group| &group.limbs) {
            next[limb.index()] = NextUse::AT_END;
        }
        let mut uses = Vec::with_capacity(operations.len());
        for (index, operation) in operations.iter().enumerate().rev() {
            let sources = operation.sources();
            let destination = std::mem::replace(&mut next[operation.destination().index()], NextUse::NEVER);
            let of_sources = sources.map(|limb| limb.map_or(NextUse::NEVER, |limb| next[limb.index()]));
            uses.push(Uses { destination, sources: of_sources });
            sources.into_iter().flatten().for_each(|limb| next[limb.index()] = NextUse(index as u32));
        }
        uses.reverse();
        Self { uses, first: next }
    }

    /// The next uses after the operation with this index.
    ///
    /// # Panics
    /// Panics if the program has no such operation.
    pub fn after(&self, operation: usize) -> Uses {
        self.uses[operation]
    }

    /// The first use of the value that a limb has at the start.
    ///
    /// # Panics
    /// Panics if `limb` is of another program that has more limbs.
    pub fn first_use(&self, limb: Limb) -> NextUse {
        self.first[limb.index()]
    }

    /// The limbs whose values at the start matter: read before they are written, or outputs that
    /// are never written.
    pub fn live_in(&self, program: &RingProgram) -> Vec<Limb> {
        program.limbs().iter().filter(|&limb| !self.first_use(limb).is_dead()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interface, read};

    #[test]
    fn the_next_use_is_the_next_read_of_the_same_value() {
        let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n\
            sr_addp %1, %1, %2, m=1\n\
            sr_mulps %3, %9, 0, m=1\n\
            sr_mulp %3, %1, %1, m=1\n\
            sr_subp %2, %2, %3, m=1\nhalt\n";
        let program = read("", text.as_bytes(), Interface::Degree(512)).unwrap();
        let liveness = Liveness::of(&program);
        let at = |index| NextUse(index);
        let never = NextUse::NEVER;
        assert_eq!(liveness.after(0), Uses { destination: at(2), sources: [never, at(3)] });
        assert_eq!(liveness.after(1), Uses { destination: never, sources: [never, never] });
        assert_eq!(liveness.after(2), Uses { destination: at(3), sources: [never, never] });
        assert_eq!(liveness.after(3), Uses { destination: NextUse::AT_END, sources: [never, never] });
        let ids: Vec<_> = liveness.live_in(&program).iter().map(|&limb| program.limbs().id(limb).0).collect();
        assert_eq!(ids, [1, 2]);
        let outputs: Vec<_> = program.outputs().iter().map(|group| group.name.as_str()).collect();
        assert_eq!(outputs, ["id2"]);
        assert_eq!(NextUse::AT_END.operation(), None);
        assert_eq!(at(3).operation(), Some(3));
    }
}
