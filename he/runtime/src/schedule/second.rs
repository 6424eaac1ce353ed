//! A second model of the schedule, written from its specification: simple, and slow.

mod lifted;
mod random;
mod sliced;

use super::{BURST_BYTES, INSTRUCTION_BYTES, LAUNCH_WORD_BYTES, Timeline};
use crate::launches::facts::Facts;
use crate::schedule::place::{Item, Saved};
use crate::schedule::time::{Span, Time};
use crate::schedule::traffic::Kind;
use sim::Clock;
use sim::Machine;

/// A launch of the model.
#[derive(Clone, Debug)]
struct Launch {
    /// The kernel, its program, and the words of its parameters: those of the launch, and of each run; none
    /// for a gather.
    kernel: Option<(Facts, u32, [u64; 2])>,
    operands: Vec<usize>,
    sources: usize,
    results: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Program {
    items: Vec<Item>,
    launches: Vec<Launch>,
    /// The pages of the VDM.
    capacity: u64,
    /// The words of a page.
    page: u64,
}

/// No launch.
const NEVER: usize = usize::MAX;

/// A save, planned if it has an end.
#[derive(Clone, Copy)]
struct Save {
    kind: Kind,
    bytes: u64,
    ready: u64,
    end: Option<u64>,
}

/// A piece of free space: its time, its pages, and the save that it waits for.
type Piece = (u64, u64, Option<usize>);

struct Model<'a> {
    machine: &'a Machine,
    program: &'a Program,
    now: usize,
    /// Of each item: whether the VDM has it, when it is complete, when its last launch has ended, and its
    /// save.
    here: Vec<bool>,
    complete: Vec<u64>,
    idle: Vec<u64>,
    saved: Vec<Option<usize>>,
    always: Vec<bool>,
    saves: Vec<Save>,
    pieces: Vec<Piece>,
    /// The busy times of the channel, in order.
    busy: Vec<(u64, u64)>,
    /// Those of the generator of seeded keys.
    generating: Vec<(u64, u64)>,
    transfers: Vec<(Kind, u64, u64, u64)>,
    /// The number of transfers when the last run was planned.
    served: usize,
    /// The programs in the memory: number, instructions, arrival, end of the last launch.
    programs: Vec<(u32, u64, u64, u64)>,
    ended: u64,
    /// Of each run: the time from which it fetches, its end, and the bytes of its parameters.
    kernels: Vec<(u64, u64, u64)>,
    runs: Vec<(u64, u64, u64)>,
}

fn ps(ns: f64) -> u64 {
    (ns * 1e3).ceil() as u64
}

impl Model<'_> {
    /// Compares the launches with the words of the VDM, the transfers, the time and the traffic.
    fn assert_equal(&self, timeline: &Timeline, case: usize) {
        let span = |begin, end| Span { begin_ns: Time(begin).ns(), end_ns: Time(end).ns() };
        let runs: Vec<_> = timeline.runs.iter().map(|run| (run.span, run.vdm_words)).collect();
        let expected: Vec<_> =
            self.runs.iter().map(|&(begin, end, words)| (span(begin, end), words)).collect();
        assert_eq!(runs, expected, "case {case}");
        let transfers: Vec<_> = timeline.transfers.iter().map(|t| (t.kind, t.bytes, t.span)).collect();
        let expected: Vec<_> =
            self.transfers.iter().map(|&(kind, bytes, begin, end)| (kind, bytes, span(begin, end))).collect();
        assert_eq!(transfers, expected, "case {case}");
        assert_eq!(timeline.total_ns, Time(self.end()).ns(), "case {case}");
        assert!(timeline.compute_ns.max(timeline.channel_ns) <= timeline.total_ns, "case {case}");
        for &kind in Kind::ALL {
            let bytes: u64 = self.transfers.iter().filter(|t| t.0 == kind).map(|transfer| transfer.1).sum();
            assert_eq!(timeline.traffic[kind], bytes, "case {case}");
        }
    }

    /// The end of the last launch or transfer.
    fn end(&self) -> u64 {
        self.transfers.iter().map(|transfer| transfer.3).max().unwrap_or(0).max(self.ended)
    }

    /// The first launch from `from` on that reads an item.
    fn next(&self, item: usize, from: usize) -> usize {
        let reads = |launch: &usize| self.program.launches[*launch].operands.contains(&item);
        (from..self.program.launches.len()).find(reads).unwrap_or(NEVER)
    }

    fn words(&self, item: usize) -> u64 {
        self.program.items[item].words.into()
    }

    fn pages(&self, words: u64) -> u64 {
        words.div_ceil(self.program.page)
    }

    /// The pages of an item.
    fn room(&self, item: usize) -> u64 {
        self.pages(self.words(item))
    }

    fn bytes(&self, words: u64) -> u64 {
        (words * u64::from(self.machine.isa.word_bits)).div_ceil(8)
    }

    fn length(&self, bytes: u64) -> u64 {
        let hbm = &self.machine.hbm;
        // Whole bursts of 32 bytes.
        let bytes = bytes.div_ceil(32) * 32;
        ps(bytes as f64 / (hbm.gb_per_s * hbm.efficiency / f64::from(hbm.shared_by)))
    }

    /// A read from the off-chip memory.
    fn transfer(&mut self, kind: Kind, bytes: u64, ready: u64) -> u64 {
        self.move_bytes(kind, bytes, ready, 0)
    }

    /// A write to it, between two turns of the channel.
    fn write(&mut self, kind: Kind, bytes: u64, ready: u64) -> u64 {
        self.move_bytes(kind, bytes, ready, ps(2.0 * self.machine.hbm.turn_ns))
    }

    fn move_bytes(&mut self, kind: Kind, bytes: u64, ready: u64, turns: u64) -> u64 {
        if bytes == 0 {
            return ready;
        }
        let length = self.length(bytes) + turns;
        let burst = self.length(1);
        let (begin, end) = occupy(&mut self.busy, length, ready, burst);
        let end = end + ps(self.machine.hbm.latency_ns);
        self.transfers.push((kind, bytes, begin, end));
        end
    }

    /// A load of which the generator makes some halves.
    fn bring(&mut self, kind: Kind, halves: u8, bytes: u64, ready: u64) -> u64 {
        let moved = bytes * u64::from(halves) / 2;
        let end = self.transfer(kind, moved, ready);
        if moved == bytes {
            return end;
        }
        let bytes_per_cycle = self.machine.generator.words_per_cycle * self.machine.isa.word_bits;
        let ghz = Clock::of(self.machine).ghz();
        let ns = (bytes - moved) as f64 / (f64::from(bytes_per_cycle) / 8.0 * ghz);
        end.max(occupy(&mut self.generating, ps(ns), ready, 1).1)
    }

    /// The end of the save of an item, which is planned now; 0 if it has none.
    fn saved(&mut self, item: usize) -> u64 {
        self.saved[item].map_or(0, |save| self.planned(save))
    }

    fn planned(&mut self, save: usize) -> u64 {
        if self.saves[save].end.is_none() {
            let Save { kind, bytes, ready, .. } = self.saves[save];
            self.saves[save].end = Some(self.write(kind, bytes, ready));
        }
        self.saves[save].end.unwrap()
    }

    /// A save of an item that the off-chip memory lacks.
    fn save(&mut self, item: usize, kind: Kind) {
        if !self.always[item] && self.saved[item].is_none() {
            let (bytes, ready) = (self.bytes(self.words(item)), self.complete[item]);
            self.saves.push(Save { kind, bytes, ready, end: None });
            self.saved[item] = Some(self.saves.len() - 1);
        }
    }

    fn leave(&mut self, item: usize) {
        self.here[item] = false;
        let free = self.complete[item].max(self.idle[item]);
        self.free(self.room(item), free, self.saved[item]);
    }

    fn free(&mut self, pages: u64, time: u64, save: Option<usize>) {
        if pages > 0 {
            self.pieces.push((time, pages, save.filter(|&save| self.saves[save].end.is_none())));
            if let Some(end) = save.and_then(|save| self.saves[save].end) {
                self.pieces.last_mut().unwrap().0 = time.max(end);
            }
        }
    }

    /// The place of a piece: the earliest time at which it is free.
    fn earliest(&self, (time, pages, save): Piece) -> (u64, u64, Option<usize>) {
        let earliest = save.map_or(0, |save| {
            let Save { bytes, ready, .. } = self.saves[save];
            let hbm = &self.machine.hbm;
            let turns = ps(2.0 * hbm.turn_ns);
            ready + if bytes > 0 { self.length(bytes) + turns + ps(hbm.latency_ns) } else { 0 }
        });
        (time.max(earliest), pages, save)
    }

    fn free_pages(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.1).sum()
    }

    /// The items that can make room: (next use, saved, number).
    fn victims(&self) -> Vec<(usize, bool, usize)> {
        let launch = &self.program.launches[self.now];
        let items = (0..self.here.len()).filter(|&item| self.here[item] && !launch.operands.contains(&item));
        items.map(|i| (self.next(i, self.now), self.always[i] || self.saved[i].is_some(), i)).collect()
    }

    fn take(&mut self, pages: u64) -> Option<u64> {
        while self.free_pages() < pages {
            let (.., item) = self.victims().into_iter().max()?;
            self.save(item, Kind::Spills);
            self.leave(item);
        }
        let (mut missing, mut free) = (pages, 0);
        while missing > 0 {
            let place = (0..self.pieces.len()).min_by_key(|&place| self.earliest(self.pieces[place]))?;
            let (time, pages, save) = self.pieces.swap_remove(place);
            if let Some(save) = save {
                let end = self.planned(save);
                self.pieces.push((time.max(end), pages, None));
                continue;
            }
            free = free.max(time);
            if pages > missing {
                self.pieces.push((time, pages - missing, None));
            }
            missing = missing.saturating_sub(pages);
        }
        Some(free)
    }

    fn load(&mut self, item: usize, space: u64) {
        let ready = space.max(self.saved(item));
        let Item { kind, halves, .. } = self.program.items[item];
        let bytes = self.bytes(self.words(item));
        self.complete[item] = self.bring(kind, halves, bytes, ready);
        self.here[item] = true;
    }

    /// The arrival of the parameters of a run. The SDM has those of the last runs.
    fn fetch(&mut self, kernel: &Facts, program: u32, words: u64) -> u64 {
        let bytes = LAUNCH_WORD_BYTES * words;
        let mut ready = 0;
        let mut in_sdm = bytes;
        for &(_, end, bytes) in self.kernels.iter().rev() {
            in_sdm += bytes;
            if in_sdm > 1024 * u64::from(self.machine.sdm.size_kib) {
                ready = end;
                break;
            }
        }
        if let Some(&(.., arrival, _)) = self.programs.iter().find(|known| known.0 == program) {
            return self.transfer(Kind::Programs, bytes, arrival.max(ready));
        }
        let capacity = self.machine.instruction_capacity() as u64;
        while self.programs.iter().map(|known| known.1).sum::<u64>() + kernel.instructions > capacity {
            let oldest = (0..self.programs.len()).min_by_key(|&p| (self.programs[p].3, self.programs[p].0));
            let Some(oldest) = oldest else { break };
            ready = ready.max(self.programs.remove(oldest).3);
        }
        let end = self.transfer(Kind::Programs, bytes + INSTRUCTION_BYTES * kernel.instructions, ready);
        self.programs.push((program, kernel.instructions, end, end));
        end
    }

    /// A run that is ready at a time, and so many words of parameters that arrive at another: its begin and
    /// its end.
    fn run(&mut self, kernel: &Facts, ready: u64, (arrival, parameters): (u64, u64)) -> (u64, u64) {
        let ghz = Clock::of(self.machine).ghz();
        let begin = ready.max(arrival).max(self.ended);
        let in_use = self.kernels.last().map_or(0, |run| run.0);
        let set = arrival.max(in_use) + ps(parameters as f64 / ghz);
        let since = self.transfers[self.served..].iter();
        let bytes: u64 =
            since.filter(|t| ![Kind::Permutations, Kind::Programs].contains(&t.0)).map(|t| t.1).sum();
        self.served = self.transfers.len();
        let words = (8 * bytes).div_ceil(self.machine.isa.word_bits.into());
        let in_cycle = u64::from(self.machine.vdm.banks) * u64::from(self.machine.vdm.ports);
        let mut cycles = kernel.bank_cycles + words.div_ceil(in_cycle);
        let hbm = &self.machine.hbm;
        let bytes_per_ns = hbm.gb_per_s * hbm.efficiency / f64::from(hbm.shared_by);
        let share = 8.0 * bytes_per_ns / f64::from(self.machine.isa.word_bits) / ghz / in_cycle as f64;
        if share < 1.0 {
            cycles = cycles.min((kernel.bank_cycles as f64 / (1.0 - share)).ceil() as u64);
        }
        let cycles = cycles.max(kernel.cycles);
        let fetches = begin.max(set) + ps(f64::from(self.machine.launch.cycles) / ghz);
        self.ended = fetches + ps(cycles as f64 / ghz);
        self.kernels.push((fetches, self.ended, LAUNCH_WORD_BYTES * parameters));
        (begin, self.ended)
    }

    fn finish(&mut self, results: &[usize], end: u64) {
        for &item in results {
            (self.here[item], self.complete[item], self.idle[item]) = (true, end, end);
            if self.program.items[item].is_output {
                self.save(item, Kind::Outputs);
            }
            if self.next(item, self.now + 1) == NEVER {
                self.leave(item);
            }
        }
    }

    /// Ends the use of an operand.
    fn release(&mut self, item: usize, end: u64, is_lost: bool) {
        self.idle[item] = self.idle[item].max(end);
        if self.here[item] && (is_lost || self.next(item, self.now + 1) == NEVER) {
            self.leave(item);
        }
    }

    fn launch(&mut self) -> Option<()> {
        let launch = self.program.launches[self.now].clone();
        let (begin, end) = match launch.kernel {
            None => self.gather(&launch)?,
            Some((kernel, program, bytes)) => match kernel.slices {
                None => self.whole(&launch, &kernel, (program, bytes))?,
                Some(slices) => self.sliced(&launch, &kernel, slices, (program, bytes))?,
            },
        };
        if let Some((_, number, _)) = launch.kernel {
            self.programs
                .iter_mut()
                .filter(|program| program.0 == number)
                .for_each(|program| program.3 = end);
        }
        let used = (self.program.capacity - self.free_pages()) * self.program.page;
        self.runs.push((begin, end, used));
        Some(())
    }

    fn whole(
        &mut self,
        launch: &Launch,
        kernel: &Facts,
        (program, words): (u32, [u64; 2]),
    ) -> Option<(u64, u64)> {
        let limbs = &launch.operands[..launch.sources];
        let mut ready = 0;
        for &item in &launch.operands {
            if !self.here[item] {
                let space = self.take(self.room(item))?;
                self.load(item, space);
            }
            ready = ready.max(self.complete[item]);
        }
        let in_place = kernel.may_work_in_place && limbs.len() == launch.results.len();
        let dies = |item: &&usize| in_place && self.next(**item, self.now + 1) == NEVER;
        let replaced: Vec<usize> = limbs.iter().filter(dies).copied().collect();
        let sum = |items: &[usize]| items.iter().map(|&item| self.room(item)).sum::<u64>();
        let scratch = self.pages(kernel.scratch_words);
        ready = ready.max(self.take(sum(&launch.results) - sum(&replaced) + scratch)?);
        for &item in &replaced {
            ready = ready.max(self.idle[item]).max(self.saved(item));
        }
        if kernel.overwrites_operand {
            for &item in limbs {
                if self.next(item, self.now + 1) < NEVER {
                    self.save(item, Kind::Spills);
                }
                ready = ready.max(self.saved(item));
            }
        }
        let words = words[0] + words[1];
        let arrival = self.fetch(kernel, program, words);
        let (begin, end) = self.run(kernel, ready, (arrival, words));
        self.free(scratch, end, None);
        replaced.iter().for_each(|&item| self.here[item] = false);
        for (place, &item) in launch.operands.iter().enumerate() {
            self.release(item, end, kernel.overwrites_operand && place < launch.sources);
        }
        self.finish(&launch.results, end);
        Some((begin, end))
    }

    fn gather(&mut self, launch: &Launch) -> Option<(u64, u64)> {
        let words = launch.results.iter().map(|&item| self.words(item)).sum::<u64>();
        let pages = launch.results.iter().map(|&item| self.room(item)).sum::<u64>();
        let mut ready = self.ended.max(self.take(pages)?);
        for &item in &launch.operands {
            self.save(item, Kind::Permutations);
            ready = ready.max(self.saved(item));
        }
        let end = self.transfer(Kind::Permutations, words * self.bytes(1).max(BURST_BYTES), ready);
        let begin = self.transfers.last().unwrap().2;
        self.ended = end;
        launch.operands.iter().for_each(|&item| self.release(item, end, false));
        self.finish(&launch.results, end);
        Some((begin, end))
    }

    /// Whether there is room of so many pages if only items leave whose next use is after `next`.
    fn has_room(&self, next: usize, pages: u64) -> bool {
        let later = self.victims().into_iter().filter(|victim| victim.0 > next);
        self.free_pages() + later.map(|(.., item)| self.room(item)).sum::<u64>() >= pages
    }
}

/// Occupies a resource for so long, in the first times that are free; before others, in multiples of a burst.
/// Returns the begin and the end.
fn occupy(busy: &mut Vec<(u64, u64)>, mut left: u64, ready: u64, burst: u64) -> (u64, u64) {
    let (mut at, mut pieces) = (ready, Vec::new());
    for &(begin, end) in busy.iter() {
        if left > 0 && begin > at {
            let room = begin - at;
            let part = if room < left || room < burst { room / burst * burst } else { left };
            if part > 0 {
                pieces.push((at, at + part));
            }
            left -= part;
        }
        at = at.max(end);
    }
    if left > 0 {
        pieces.push((at, at + left));
    }
    let span = (pieces[0].0, pieces[pieces.len() - 1].1);
    busy.extend(pieces);
    busy.sort_unstable();
    span
}

/// The times of the model; none if a launch does not fit.
fn model<'a>(program: &'a Program, machine: &'a Machine) -> Option<Model<'a>> {
    let count = program.items.len();
    let mut model = Model {
        machine,
        program,
        now: 0,
        here: vec![false; count],
        complete: vec![0; count],
        idle: vec![0; count],
        saved: vec![None; count],
        always: program.items.iter().map(|item| item.saved == Saved::Always).collect(),
        saves: Vec::new(),
        pieces: vec![(0, program.capacity, None)],
        busy: Vec::new(),
        generating: Vec::new(),
        transfers: Vec::new(),
        served: 0,
        programs: Vec::new(),
        ended: 0,
        kernels: Vec::new(),
        runs: Vec::new(),
    };
    for launch in 0..program.launches.len() {
        model.now = launch;
        model.launch()?;
    }
    for save in 0..model.saves.len() {
        model.planned(save);
    }
    Some(model)
}
