//! The contents of the scalar registers at one point of a schedule.

use super::Graph;
use super::id_set::IdSet;
use crate::code::{Code, InstId, ScalarId};
use b512_asm::SReg;
use b512_asm::reg::REGISTERS;

/// The scalars in registers, and the instructions that need them.
///
/// A scalar with undispatched users is in one register or is one of the `missing`. A scalar leaves its
/// register at the dispatch of its last user.
#[derive(Clone)]
pub(super) struct ScalarRegisters<'a> {
    code: &'a Code,
    graph: &'a Graph,
    /// The scalar in each register.
    content: [Option<ScalarId>; REGISTERS],
    /// The register of each scalar.
    register: Vec<Option<SReg>>,
    /// The undispatched users of each scalar.
    left: Vec<u32>,
    /// The undispatched instructions with a scalar, in program order.
    users: IdSet,
    /// The number of scalars with undispatched users that are in no register.
    missing: usize,
}

impl<'a> ScalarRegisters<'a> {
    pub(super) fn of(code: &'a Code, graph: &'a Graph) -> Self {
        let mut users = IdSet::new(code.insts.len());
        let with_scalar = (0..).map(InstId).zip(&code.insts).filter(|(_, inst)| inst.scalar.is_some());
        with_scalar.for_each(|(id, _)| users.insert(id));
        let scalars = (0..code.scalars.len() as u32).map(ScalarId);
        let left: Vec<u32> = scalars.map(|scalar| graph.scalar_users(scalar).len() as u32).collect();
        let missing = left.iter().filter(|&&left| left > 0).count();
        let (content, register) = ([None; REGISTERS], vec![None; code.scalars.len()]);
        Self { code, graph, content, register, left, users, missing }
    }

    pub(super) fn register(&self, scalar: ScalarId) -> Option<SReg> {
        self.register[scalar.index()]
    }

    /// The missing scalar with the first use, and a register for it: a free one, or else the one of the
    /// scalar with the furthest next use, if that use comes later.
    pub(super) fn next(&self) -> Option<(ScalarId, SReg)> {
        if self.missing == 0 {
            return None;
        }
        let mut uses =
            self.users.iter().filter_map(|user| Some((user, self.code.insts[user.index()].scalar?)));
        let (user, scalar) = uses.find(|&(_, scalar)| self.register(scalar).is_none())?;
        let reg = self.place(scalar);
        let is_later = self.next_use(reg).is_none_or(|next| next > user);
        is_later.then_some((scalar, reg))
    }

    /// A register for a scalar: a free one, or else the one of the scalar with the furthest next use.
    pub(super) fn place(&self, scalar: ScalarId) -> SReg {
        let own = SReg::at(scalar.index() % REGISTERS);
        let is_free = |reg: &SReg| self.content[reg.index()].is_none();
        let free = std::iter::once(own).chain(SReg::all()).find(is_free);
        free.or_else(|| SReg::all().max_by_key(|&reg| self.next_use(reg))).expect("there are registers")
    }

    /// The next user, in program order, of the scalar in a register.
    fn next_use(&self, reg: SReg) -> Option<InstId> {
        let scalar = self.content[reg.index()]?;
        self.graph.scalar_users(scalar).iter().copied().find(|&user| self.users.contains(user))
    }

    /// Notes the load of a scalar.
    pub(super) fn hold(&mut self, scalar: ScalarId, reg: SReg) {
        if let Some(evicted) = self.content[reg.index()].replace(scalar) {
            self.register[evicted.index()] = None;
            self.missing += 1;
        }
        self.register[scalar.index()] = Some(reg);
        self.missing -= 1;
    }

    /// Notes the dispatch of a user of a scalar.
    pub(super) fn retire(&mut self, user: InstId, scalar: ScalarId) {
        self.users.remove(user);
        self.left[scalar.index()] -= 1;
        if self.left[scalar.index()] == 0
            && let Some(reg) = self.register[scalar.index()].take()
        {
            self.content[reg.index()] = None;
        }
    }
}
