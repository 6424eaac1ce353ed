//! The sources of the words of a memory.

use b512_asm::{AddressMode, Isa};
use std::ops::Range;

/// The sources `S` of the words of a memory. An aligned vector whose words have one source is one entry, so
/// that the cost of most accesses does not depend on the vector length.
#[derive(Debug)]
pub(super) struct Memory<S> {
    words: usize,
    isa: Isa,
    vectors: Vec<Words<S>>,
}

/// The words of an aligned vector.
#[derive(Clone, Debug)]
enum Words<S> {
    /// All have one source.
    Same(S),
    /// One source for each word.
    Each(Box<[S]>),
}

impl<S: Copy + PartialEq> Memory<S> {
    /// A memory of `words` words from one source.
    pub(super) fn new(words: u32, isa: Isa, source: S) -> Self {
        let vectors = words.div_ceil(isa.vector_length()) as usize;
        Self { words: words as usize, isa, vectors: vec![Words::Same(source); vectors] }
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.words
    }

    /// The source of a word; `None` beyond the memory.
    pub(super) fn get(&self, word: usize) -> Option<S> {
        self.pieces(word..word + 1).next().map(|(_, source)| source)
    }

    /// Sets the words of a range that are inside the memory.
    pub(super) fn fill(&mut self, range: Range<usize>, source: S) {
        let mut word = range.start;
        let end = range.end.min(self.words);
        while word < end {
            let (number, inside) = self.inside(word, end);
            word += inside.len();
            self.set(number, inside, source);
        }
    }

    /// Changes the words of a range that are inside the memory.
    pub(super) fn update(&mut self, range: Range<usize>, change: impl Fn(S) -> S) {
        let end = range.end.min(self.words);
        let pieces: Vec<(usize, S)> = self.pieces(range).collect();
        let ends: Vec<usize> = pieces.iter().skip(1).map(|(first, _)| *first).chain([end]).collect();
        for ((first, source), end) in pieces.into_iter().zip(ends) {
            self.fill(first..end, change(source));
        }
    }

    /// The words of a range that are inside the memory, as runs of one source with their first words.
    pub(super) fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = (usize, S)> {
        let mut word = range.start;
        let end = range.end.min(self.words);
        std::iter::from_fn(move || {
            (word < end).then(|| {
                let (number, inside) = self.inside(word, end);
                let first = word;
                match &self.vectors[number] {
                    Words::Same(source) => {
                        word += inside.len();
                        (first, *source)
                    }
                    Words::Each(sources) => {
                        word += 1;
                        (first, sources[inside.start])
                    }
                }
            })
        })
    }

    /// Stores a vector that lies inside the memory.
    pub(super) fn store(&mut self, address: u32, mode: AddressMode, source: S) {
        self.change(address, mode, |_| source);
    }

    /// Changes the sources of a vector that lies inside the memory.
    pub(super) fn change(&mut self, address: u32, mode: AddressMode, change: impl Fn(S) -> S) {
        for (number, lanes) in Lanes::new(self.isa, address, mode) {
            if let Words::Same(before) = self.vectors[number] {
                let after = change(before);
                if after == before {
                    continue;
                }
                if lanes.len() == self.isa.vector_length() as usize {
                    self.vectors[number] = Words::Same(after);
                    continue;
                }
            }
            let first = number << self.isa.lane_bits();
            let sources = each(&mut self.vectors[number], self.isa);
            for lane in lanes {
                let source = &mut sources[(address + mode.element(lane)) as usize - first];
                *source = change(*source);
            }
            self.join(number);
        }
    }

    /// Stores a vector that lies inside the memory, with a source for each of its lanes. If lanes share a
    /// word, the highest lane's source stays.
    pub(super) fn store_each(&mut self, address: u32, mode: AddressMode, of_lanes: &[S]) {
        // A repeated word is visited with its lowest lane.
        let repeats = match mode {
            AddressMode::Repeated(v) => of_lanes.len().saturating_sub(1 << v.value()),
            AddressMode::Linear | AddressMode::Strided(_) | AddressMode::StridedSkip(_) => 0,
        };
        for (number, lanes) in Lanes::new(self.isa, address, mode) {
            let first = number << self.isa.lane_bits();
            let sources = each(&mut self.vectors[number], self.isa);
            for lane in lanes {
                let word = (address + mode.element(lane)) as usize;
                sources[word - first] = of_lanes[lane as usize + repeats];
            }
            self.join(number);
        }
    }

    /// Visits the sources of a vector that lies inside the memory, with the first word of each run of one
    /// source.
    pub(super) fn load(&self, address: u32, mode: AddressMode, mut visit: impl FnMut(u32, S)) {
        for (number, lanes) in Lanes::new(self.isa, address, mode) {
            match &self.vectors[number] {
                Words::Same(source) => visit(address + mode.element(lanes.start), *source),
                Words::Each(sources) => {
                    let first = number << self.isa.lane_bits();
                    for lane in lanes {
                        let word = address + mode.element(lane);
                        visit(word, sources[word as usize - first]);
                    }
                }
            }
        }
    }

    /// The number of a word's vector, and the words of `word..end` inside it, counted from its start.
    fn inside(&self, word: usize, end: usize) -> (usize, Range<usize>) {
        let number = word >> self.isa.lane_bits();
        let first = number << self.isa.lane_bits();
        (number, word - first..(end - first).min(self.isa.vector_length() as usize))
    }

    fn set(&mut self, number: usize, inside: Range<usize>, source: S) {
        if inside.len() == self.isa.vector_length() as usize {
            self.vectors[number] = Words::Same(source);
        } else {
            each(&mut self.vectors[number], self.isa)[inside].fill(source);
            self.join(number);
        }
    }

    /// Merges the words of a vector if they have one source.
    fn join(&mut self, number: usize) {
        if let Words::Each(sources) = &self.vectors[number]
            && sources.iter().all(|source| *source == sources[0])
        {
            self.vectors[number] = Words::Same(sources[0]);
        }
    }
}

/// The words of a vector, one by one.
fn each<S: Copy>(words: &mut Words<S>, isa: Isa) -> &mut [S] {
    if let Words::Same(source) = *words {
        *words = Words::Each(vec![source; isa.vector_length() as usize].into());
    }
    match words {
        Words::Each(sources) => sources,
        Words::Same(_) => unreachable!("the words have their own sources now"),
    }
}

/// The lanes of an access, by the aligned vectors of their words; a word of several lanes counts once.
struct Lanes {
    isa: Isa,
    address: u32,
    mode: AddressMode,
    /// The lanes to come.
    rest: Range<u32>,
}

impl Lanes {
    fn new(isa: Isa, address: u32, mode: AddressMode) -> Self {
        let all = isa.vector_length();
        let lanes = match mode {
            AddressMode::Repeated(v) => all.min(1 << v.value()),
            AddressMode::Linear | AddressMode::Strided(_) | AddressMode::StridedSkip(_) => all,
        };
        Self { isa, address, mode, rest: 0..lanes }
    }
}

impl Iterator for Lanes {
    type Item = (usize, Range<u32>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let vector = (self.address + self.mode.element(self.rest.start)) >> self.isa.lane_bits();
        let offset = ((vector + 1) << self.isa.lane_bits()) - self.address;
        let end = lanes_below(self.mode, offset).min(self.rest.end);
        let lanes = self.rest.start..end;
        self.rest.start = end;
        Some((vector as usize, lanes))
    }
}

/// The number of lanes whose words are less than `offset` words behind the effective address.
fn lanes_below(mode: AddressMode, offset: u32) -> u32 {
    match mode {
        AddressMode::Linear | AddressMode::Repeated(_) => offset,
        AddressMode::Strided(v) => offset.div_ceil(1 << v.value()),
        AddressMode::StridedSkip(v) => {
            let run = 1 << v.value();
            (offset >> (v.value() + 1)) * run + (offset & (2 * run - 1)).min(run)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use b512_asm::Log2;
    use proptest::prelude::*;

    fn modes() -> BoxedStrategy<AddressMode> {
        let exponent = (0..=9u8).prop_map(|exponent| Log2::new(exponent).unwrap());
        prop_oneof![
            Just(AddressMode::Linear),
            exponent.clone().prop_map(AddressMode::Strided),
            exponent.clone().prop_map(AddressMode::StridedSkip),
            exponent.prop_map(AddressMode::Repeated),
        ]
        .boxed()
    }

    proptest! {
        /// Stores, fills and loads agree with a memory that keeps one source for each word.
        #[test]
        fn vectors_with_one_source_are_only_shorter(
            accesses in prop::collection::vec((0..3u8, modes(), 0..4096u32, 0..3u8), 1..40),
            lane_bits in 6..=8u32,
            odd in 0..64u32,
        ) {
            let isa = Isa::new(1 << lane_bits, 128).unwrap();
            let words = 4096 * 3 - odd;
            let mut memory = Memory::new(words, isa, 9);
            let mut plain = vec![9; words as usize];
            for (kind, mode, address, source) in accesses {
                let end = address + mode.span(isa);
                if end > words {
                    continue;
                }
                let accessed = (0..isa.vector_length()).map(|lane| address + mode.element(lane));
                match kind {
                    0 => {
                        memory.store(address, mode, source);
                        accessed.for_each(|word| plain[word as usize] = source);
                    }
                    1 => {
                        let range = address as usize..(end + 1000) as usize;
                        memory.fill(range.clone(), source);
                        plain[range.start..range.end.min(words as usize)].fill(source);
                    }
                    _ => {
                        let mut found = Vec::new();
                        memory.load(address, mode, |word, source| found.push((word, source)));
                        prop_assert!(found.iter().all(|&(word, source)| plain[word as usize] == source));
                        for (lane, word) in accessed.enumerate() {
                            let run = found.iter().rev().find(|(first, _)| *first <= word).unwrap();
                            prop_assert_eq!(run.1, plain[word as usize], "lane {}", lane);
                        }
                    }
                }
            }
            let range = 100..plain.len() + 100;
            let pieces: Vec<(usize, u8)> = memory.pieces(range.clone()).collect();
            for word in range {
                let run = pieces.iter().rev().find(|(first, _)| *first <= word).unwrap();
                prop_assert_eq!(memory.get(word), plain.get(word).copied());
                prop_assert!(word >= plain.len() || run.1 == plain[word]);
            }
        }
    }
}
