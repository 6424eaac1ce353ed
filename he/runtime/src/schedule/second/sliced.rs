//! Launches of which some operands or results move slice by slice.

use super::{Launch, Model, NEVER, Save};
use crate::launches::facts::Facts;
use crate::schedule::place::Item;
use crate::schedule::traffic::Kind;

impl Model<'_> {
    pub(super) fn sliced(
        &mut self,
        launch: &Launch,
        kernel: &Facts,
        (slice, runs): (u32, u32),
        (program, parameters): (u32, [u64; 2]),
    ) -> Option<(u64, u64)> {
        let slice = u64::from(slice);
        let turns = if runs > 1 { 2 } else { 1 };
        let is_output = |model: &Self, item: &&usize| model.program.items[**item].is_output;
        // The pages of the slices of operands and results, of heirs' first slices, and of scratch words.
        let of_slices = |model: &Self, streams: &[usize], stored: &[usize], heirs: usize| {
            let outputs = stored.iter().filter(|item| is_output(model, item)).count();
            let limbs =
                [outputs, stored.len() - outputs].map(|limbs| model.pages(limbs as u64 * turns * slice));
            let operands = turns * model.pages(streams.len() as u64 * slice);
            let heirs = heirs as u64 * model.pages(slice);
            operands + limbs[0] + limbs[1] + heirs + model.pages(kernel.scratch_words)
        };
        let after = |model: &Self, item| model.next(item, model.now + 1);
        let (mut whole, mut streams): (Vec<usize>, Vec<usize>) =
            launch.operands.iter().partition(|&&item| self.here[item]);
        loop {
            let room = self.free_pages() + self.victims().iter().map(|v| self.room(v.2)).sum::<u64>();
            if room >= of_slices(self, &streams, &launch.results, 0) {
                break;
            }
            let farthest = |&&item: &&usize| {
                let next = after(self, item);
                (if next == NEVER { 0 } else { next + 1 }, item)
            };
            let item = *whole.iter().max_by_key(farthest)?;
            whole.retain(|&other| other != item);
            self.save(item, Kind::Spills);
            self.leave(item);
            streams.push(item);
        }
        let dies =
            |&item: &usize| runs > 1 && after(self, item) == NEVER && !self.program.items[item].is_output;
        let mut leaving: Vec<usize> = whole.iter().copied().filter(dies).collect();
        let results = launch.results.iter().map(|&item| (after(self, item), 0, item));
        let mut wanted: Vec<_> = results.chain(streams.iter().map(|&i| (after(self, i), 1, i))).collect();
        wanted.retain(|want| want.0 < NEVER);
        wanted.sort_unstable();
        let (mut moved, mut kept, mut heirs) = (Vec::new(), Vec::new(), 0);
        let mut stored = launch.results.clone();
        let mut taken = 0;
        for (next, is_operand, item) in wanted {
            let is_heir = is_operand == 0 && heirs < leaving.len();
            let without = |items: &[usize]| -> Vec<usize> {
                items.iter().copied().filter(|&other| other != item).collect()
            };
            let (rest, rest_stored) = if is_operand == 1 {
                (without(&streams), stored.clone())
            } else {
                (streams.clone(), without(&stored))
            };
            let slices = of_slices(self, &rest, &rest_stored, heirs + usize::from(is_heir));
            let own = if is_heir { 0 } else { self.room(item) };
            if !self.has_room(next, slices + taken + own) {
                continue;
            }
            taken += own;
            if is_operand == 1 {
                streams.retain(|&other| other != item);
                moved.push(item);
            } else {
                stored.retain(|&other| other != item);
                kept.push(item);
                heirs += usize::from(is_heir);
            }
        }
        leaving.truncate(heirs);
        let space = self.take(of_slices(self, &streams, &stored, heirs))?;
        let mut ready = space;
        let mut moves = Vec::new();
        for &item in &moved {
            let space = self.take(self.room(item))?;
            let Item { kind, halves, .. } = self.program.items[item];
            moves.push((kind, halves, self.bytes(slice), space.max(self.saved(item))));
        }
        let own = kept[heirs..].iter().map(|&item| self.room(item)).sum();
        ready = ready.max(self.take(own)?);
        let mut free: Vec<u64> = vec![space; runs.min(2) as usize];
        let in_turn = self.pages(streams.len() as u64 * slice);
        while in_turn > 0 && free.len() < runs as usize && self.free_pages() >= in_turn {
            free.push(self.take(in_turn)?);
        }
        for &item in launch.operands.iter().filter(|&&item| self.here[item]) {
            ready = ready.max(self.complete[item]);
        }
        // Loads and stores by kind: bytes of a run, and the time from which they are ready.
        let mut loads: Vec<(Kind, u8, u64, u64)> = Vec::new();
        let mut stores: Vec<(Kind, u64)> = Vec::new();
        for &item in &streams {
            let time = self.saved(item);
            let Item { kind, halves, .. } = self.program.items[item];
            let bytes = self.bytes(slice);
            match loads.iter_mut().find(|load| (load.0, load.1) == (kind, halves)) {
                Some(load) => (load.2, load.3) = (load.2 + bytes, load.3.max(time)),
                None => loads.push((kind, halves, bytes, time)),
            }
        }
        let kind_of = |item: usize| match self.program.items[item].is_output {
            true => Kind::Outputs,
            false => Kind::Spills,
        };
        for &item in &stored {
            let bytes = self.bytes(slice);
            match stores.iter_mut().find(|store| store.0 == kind_of(item)) {
                Some(store) => store.1 += bytes,
                None => stores.push((kind_of(item), bytes)),
            }
        }
        let mut spans: Vec<(u64, u64)> = Vec::new();
        for run in 0..runs as usize {
            let before = if run >= 2 { spans[run - 2].1 } else { 0 };
            let mut at = ready;
            let words = parameters[1] + if run == 0 { parameters[0] } else { 0 };
            let arrival = self.fetch(kernel, program, words);
            let turn = run % free.len();
            for &(kind, halves, bytes, time) in &moves {
                at = at.max(self.bring(kind, halves, bytes, time));
            }
            for &(kind, halves, bytes, time) in &loads {
                at = at.max(self.bring(kind, halves, bytes, free[turn].max(time)));
            }
            if run >= 2 {
                for &(kind, bytes) in &stores {
                    at = at.max(self.write(kind, bytes, before));
                }
            }
            let span = self.run(kernel, at, (arrival, words));
            spans.push(span);
            free[turn] = span.1;
        }
        if runs >= 2 {
            for &(kind, bytes) in &stores {
                self.write(kind, bytes, spans[runs as usize - 2].1);
            }
        }
        let end = self.ended;
        moved.iter().for_each(|&item| (self.here[item], self.complete[item]) = (true, end));
        free.into_iter().for_each(|free| self.free(in_turn, free, None));
        self.free(heirs as u64 * self.pages(slice) + self.pages(kernel.scratch_words), end, None);
        for (kind, bytes) in stores {
            self.saves.push(Save { kind, bytes, ready: end, end: None });
            let save = self.saves.len() - 1;
            let of_kind: Vec<usize> = stored
                .iter()
                .copied()
                .filter(|&item| self.program.items[item].is_output == (kind == Kind::Outputs))
                .collect();
            self.free(self.pages(of_kind.len() as u64 * turns * slice), end, Some(save));
            for item in of_kind {
                (self.saved[item], self.complete[item]) = (Some(save), end);
            }
        }
        leaving.iter().for_each(|&item| self.here[item] = false);
        launch.operands.iter().for_each(|&item| self.release(item, end, false));
        self.finish(&kept, end);
        Some((spans[0].0, end))
    }
}
