//! Constant words of the VDM, and factors prepared from them.

use super::error::Fault;
use super::memory::{Memory, TableSlice};
use super::registers::VectorRegister;
use b512_asm::{AddressMode, Isa, MReg, Program, Role, Space, VReg};
use ring::modular::Modulus;
use ring::vector::Factors;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// The constant words of the VDM, and the factors that were prepared from them.
#[derive(Debug, Default)]
pub(super) struct Constants {
    tables: Vec<Range<u32>>,
    prepared: FxHashMap<(TableSlice, u128), Factors>,
}

impl Constants {
    /// The words under the symbols with [`Role::Table`].
    pub(super) fn of(program: &Program) -> Self {
        let tables = program.symbols.iter().filter(|s| s.space == Space::Vdm && s.role == Role::Table);
        Self { tables: tables.map(|s| s.start..s.start + s.words).collect(), prepared: FxHashMap::default() }
    }

    /// The tables: ranges of constant words.
    pub(super) fn tables(&self) -> &[Range<u32>] {
        &self.tables
    }

    /// Adopts the tables that another point of the same program has.
    pub(super) fn set_tables(&mut self, tables: &[Range<u32>]) {
        self.tables = tables.to_vec();
    }

    /// The slice, if all of its words are constant.
    pub(super) fn slice(&self, words: &Range<u32>, mode: AddressMode) -> Option<TableSlice> {
        let mut tables = self.tables.iter();
        tables
            .any(|table| table.start <= words.start && words.end <= table.end)
            .then_some(TableSlice { start: words.start, mode })
    }

    /// The lanes of `register`, which is `vs`, as factors: cached if they are constants from the
    /// `vdm`, otherwise formed in `scratch`.
    pub(super) fn prepare<'a>(
        &'a mut self,
        register: &mut VectorRegister,
        vs: VReg,
        (rm, q): (MReg, &Modulus),
        vdm: &Memory,
        scratch: &'a mut Factors,
    ) -> Result<&'a Factors, Fault> {
        let slot = match register.source {
            None => scratch,
            Some(slice) => match self.prepared.entry((slice, q.value())) {
                Entry::Occupied(entry) => return Ok(entry.into_mut()),
                Entry::Vacant(entry) => {
                    // Lanes that are too large are not cached.
                    register.settle(vdm);
                    register.require_below(vs, rm, q)?;
                    entry.insert(scratch.zero_like())
                }
            },
        };
        register.require_below(vs, rm, q)?;
        let is_one_word =
            |slice: TableSlice| matches!(slice.mode, AddressMode::Repeated(log2) if log2.value() == 0);
        let one_word = register.source.filter(|&slice| is_one_word(slice)).map(|_| register.lane(0));
        match (q.narrow(), one_word) {
            (Some(q), Some(word)) => slot.fill_narrow(q, word as u64),
            (None, Some(word)) => slot.fill(q, word),
            (Some(q), None) => {
                register.narrow();
                slot.set_narrow(q, register.lanes.narrow());
            }
            (None, None) => {
                register.widen();
                slot.set(q, &register.lanes);
            }
        }
        Ok(slot)
    }

    /// Whether `register`, which is `vs`, holds constants below the modulus.
    pub(super) fn can_prepare(
        &self,
        register: &mut VectorRegister,
        vs: VReg,
        (rm, q): (MReg, &Modulus),
        vdm: &Memory,
    ) -> bool {
        let Some(slice) = register.source else { return false };
        self.prepared.contains_key(&(slice, q.value())) || {
            register.settle(vdm);
            register.require_below(vs, rm, q).is_ok()
        }
    }

    /// Forgets all prepared factors.
    pub(super) fn forget_factors(&mut self) {
        self.prepared.clear();
    }

    /// Whether any of `words` count as constant.
    pub(super) fn contains_any(&self, words: &Range<u32>) -> bool {
        self.tables.iter().any(|table| overlap(table, words))
    }

    /// Records that `words` are no longer constant.
    pub(super) fn overwrite(&mut self, words: &Range<u32>, isa: Isa) {
        if self.contains_any(words) {
            self.tables.retain(|table| !overlap(table, words));
            self.prepared
                .retain(|(slice, _), _| !overlap(&(slice.start..slice.start + slice.mode.span(isa)), words));
        }
    }
}

/// Whether two ranges have a word in common.
fn overlap(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}
