//! Data: the words of inputs and outputs.
//!
//! A data file has the limbs of one name, one after the other. Each limb is n words of 16
//! little-endian bytes, in the order in which the program has them.

pub use crate::words::{Words, concat};

use crate::reduction::{InputModulus, input_moduli};
use crate::{Group, Limb, Liveness, RingProgram};
use diagnostic::{Diagnostic, counted};
use ring::modular::{Modulus, Narrow};
use ring::vector::narrow::{self, BLOCK};
use rustc_hash::FxHashMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// The inputs of one run: words that are given, that a function makes, or that are drawn from a seed.
///
/// A run asks for the words of a limb when it first reads them, and drops them after the last read. So most
/// inputs, such as keys, should be [made](Self::make): they then take memory for that time only.
#[derive(Clone, Debug)]
pub struct Inputs<'p> {
    program: &'p RingProgram,
    moduli: Vec<Option<InputModulus>>,
    liveness: Liveness,
    origins: FxHashMap<Limb, WordSource<'p>>,
    /// The seed of the other inputs.
    seed: Option<u64>,
    /// Whether drawn words cover the edges of their ranges.
    covers_edges: bool,
}

/// The origin of the words of a limb.
#[derive(Clone)]
enum WordSource<'p> {
    Given(Words),
    /// A function of the limb's index in its input, and whether a run keeps the words.
    Made(Maker<'p>, usize, bool),
}

type Maker<'p> = Arc<dyn Fn(usize) -> Words + Send + Sync + 'p>;

impl fmt::Debug for WordSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(words) => f.debug_tuple("Given").field(words).finish(),
            Self::Made(_, index, _) => f.debug_tuple("Made").field(index).finish(),
        }
    }
}

impl<'p> Inputs<'p> {
    /// No words yet.
    pub fn new(program: &'p RingProgram) -> Self {
        let flat = program.flat();
        let (moduli, liveness) = (input_moduli(&flat), Liveness::of(&flat));
        Self { program, moduli, liveness, origins: FxHashMap::default(), seed: None, covers_edges: false }
    }

    /// The program.
    pub fn program(&self) -> &'p RingProgram {
        self.program
    }

    /// The modulus of an input limb, if an operation tells it.
    pub fn modulus(&self, limb: Limb) -> Option<InputModulus> {
        self.moduli[limb.index()]
    }

    /// Whether the program depends on the words of a limb.
    pub fn is_needed(&self, limb: Limb) -> bool {
        !self.liveness.first_use(limb).is_dead()
    }

    /// When the program, [without calls](RingProgram::flat), reads its limbs.
    pub fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    /// The words of a limb, if it has some: given, or made in this call.
    ///
    /// # Panics
    /// Panics if a function of [`make`](Self::make) does not return n words.
    pub fn words(&self, limb: Limb) -> Option<Words> {
        match self.origins.get(&limb) {
            Some(WordSource::Given(words)) => Some(words.clone()),
            Some(WordSource::Made(make, index, _)) => {
                let words = make(*index);
                assert_eq!(words.len(), self.program.degree().len(), "words of a limb that was made");
                Some(words)
            }
            None => self.seed.map(|seed| self.drawn(limb, seed)),
        }
    }

    /// The inputs that still lack words.
    pub fn missing(&self) -> impl Iterator<Item = &'p Group> + '_ {
        let has_words = |limb: &Limb| self.seed.is_some() || self.origins.contains_key(limb);
        let missing = move |limb: &Limb| self.is_needed(*limb) && !has_words(limb);
        self.program.inputs().iter().filter(move |group| group.limbs.iter().any(missing))
    }

    /// Reads the data file of the input `name`.
    ///
    /// # Errors
    /// Returns an error if the program has no such input, or the file cannot be read, has the wrong
    /// length, or has a word that is not below its modulus.
    pub fn load_file(&mut self, name: &str, path: &Path) -> Result<(), Diagnostic> {
        let file = diagnostic::path(path);
        let unreadable = |error: io::Error| {
            Diagnostic::new(format!("cannot read the input `{name}`: {error}")).in_file(&file)
        };
        let data = diagnostic::input::open(path).map_err(unreadable)?;
        let length = data.metadata().map_err(unreadable)?;
        if length.is_file() {
            let group = self.group(name, &file)?;
            self.check_length(group, length.len(), &file)?;
        }
        self.load(name, &file, io::BufReader::with_capacity(1 << 16, data))
    }

    /// Reads the data of the input `name`. Errors name the file `file`.
    ///
    /// # Errors
    /// Returns an error if the program has no such input, or the data cannot be read, has the wrong
    /// length, or has a word that is not below its modulus.
    pub fn load(&mut self, name: &str, file: &str, mut data: impl Read) -> Result<(), Diagnostic> {
        let group = self.group(name, file)?;
        let n = self.program.degree().len();
        let mut bytes = vec![0; 16 * n];
        for (index, &limb) in group.limbs.iter().enumerate() {
            let found = fill(&mut data, &mut bytes).map_err(|error| {
                Diagnostic::new(format!("cannot read the input `{name}`: {error}")).in_file(file)
            })?;
            if found < bytes.len() {
                let length = (index * bytes.len() + found) as u64;
                return self.check_length(group, length, file);
            }
            let words =
                bytes.chunks_exact(16).map(|word| u128::from_le_bytes(word.try_into().expect("16 bytes")));
            self.set_at(group, index, limb, words.collect()).map_err(|error| error.in_file(file))?;
        }
        match fill(&mut data, &mut bytes) {
            Ok(0) => Ok(()),
            Ok(more) => self.check_length(group, (group.limbs.len() * bytes.len() + more) as u64, file),
            Err(error) => {
                Err(Diagnostic::new(format!("cannot read the input `{name}`: {error}")).in_file(file))
            }
        }
    }

    /// Sets the words of the input `name`, limb by limb.
    ///
    /// # Errors
    /// Returns an error if the program has no such input, or the number of limbs or of words is
    /// wrong, or a word is not below its modulus.
    pub fn set(&mut self, name: &str, limbs: impl IntoIterator<Item = Words>) -> Result<(), Diagnostic> {
        let group = self.group(name, "")?;
        let limbs: Vec<Words> = limbs.into_iter().collect();
        if limbs.len() != group.limbs.len() {
            let message =
                format!("the input `{name}` has {} limbs, found {}", group.limbs.len(), limbs.len());
            return Err(Diagnostic::new(message));
        }
        for (index, (words, &limb)) in limbs.into_iter().zip(&group.limbs).enumerate() {
            self.set_at(group, index, limb, words)?;
        }
        Ok(())
    }

    /// Has `limb` make the words of the input `name` when a run needs them: n words for each index of a limb
    /// in the input, below the modulus. Several threads may call it, in any order, and a check against
    /// another executor calls it again, so its results must depend on the index alone. Limbs that have words
    /// already keep them.
    ///
    /// # Errors
    /// Returns an error if the program has no such input.
    pub fn make(
        &mut self,
        name: &str,
        limb: impl Fn(usize) -> Words + Send + Sync + 'p,
    ) -> Result<(), Diagnostic> {
        self.make_limbs(name, Arc::new(limb), true)
    }

    /// As [`make`](Self::make), for words that take less time to make than their memory is worth: a run drops
    /// them soon after a line has read them, and has them made again for lines much later.
    ///
    /// # Errors
    /// Returns an error if the program has no such input.
    pub fn make_again(
        &mut self,
        name: &str,
        limb: impl Fn(usize) -> Words + Send + Sync + 'p,
    ) -> Result<(), Diagnostic> {
        self.make_limbs(name, Arc::new(limb), false)
    }

    fn make_limbs(&mut self, name: &str, make: Maker<'p>, is_kept: bool) -> Result<(), Diagnostic> {
        for (index, &limb) in self.group(name, "")?.limbs.iter().enumerate() {
            self.origins.entry(limb).or_insert_with(|| WordSource::Made(Arc::clone(&make), index, is_kept));
        }
        Ok(())
    }

    /// Whether a run keeps the words of a limb until the last line that reads them; not so those of
    /// [`make_again`](Self::make_again).
    pub fn is_kept(&self, limb: Limb) -> bool {
        !matches!(self.origins.get(&limb), Some(WordSource::Made(_, _, false)))
    }

    /// Gives pseudo-random words to all limbs that have none.
    ///
    /// They depend on the first `seed` and on the limb's id only, and are below the limb's modulus. A limb
    /// without a modulus gets words below all moduli.
    pub fn fill(&mut self, seed: u64) {
        self.seed.get_or_insert(seed);
    }

    /// Gives the same limbs words of the whole range that the program allows: below the limb's modulus, or
    /// below the largest one if only operations that take any words read it. Half of the words are at an
    /// edge: 0, 1, the largest, and those around the modulus.
    pub fn fill_with_edges(&mut self, seed: u64) {
        self.fill(seed);
        self.covers_edges = true;
    }

    /// See [`Self::fill_with_edges`].
    fn drawn_with_edges(&self, limb: Limb, seed: u64) -> Words {
        let moduli = self.program.moduli();
        let largest = || moduli.iter().map(|(_, modulus)| modulus).max().unwrap_or(1);
        let own = self.modulus(limb).map(|modulus| moduli.value(modulus.modulus()));
        let bound = match (self.modulus(limb), own) {
            (Some(InputModulus::Residues(_)), Some(own)) => own,
            _ => largest(),
        };
        let q = own.unwrap_or(bound);
        let edges = [0, 1, q / 2, q / 2 + 1, q - 1, q, q.saturating_add(1), bound - 1];
        let edges: Vec<u128> = edges.into_iter().filter(|&edge| edge < bound).collect();
        let mut state = seed ^ mix(self.program.limbs().id(limb).0);
        let mut word = || {
            let choice = split_mix(&mut state) as usize;
            let random = u128::from(split_mix(&mut state)) << 64 | u128::from(split_mix(&mut state));
            if choice.is_multiple_of(2) { edges[choice / 2 % edges.len()] } else { random % bound }
        };
        (0..self.program.degree().len()).map(|_| word()).collect()
    }

    fn drawn(&self, limb: Limb, seed: u64) -> Words {
        if self.covers_edges {
            return self.drawn_with_edges(limb, seed);
        }
        let moduli = self.program.moduli();
        let smallest = || moduli.iter().map(|(_, modulus)| modulus).min().unwrap_or(1);
        let modulus = self.modulus(limb).map_or_else(smallest, |modulus| moduli.value(modulus.modulus()));
        let mut state = seed ^ mix(self.program.limbs().id(limb).0);
        let mut half = || split_mix(&mut state);
        let n = self.program.degree().len();
        match Modulus::new(modulus).ok().and_then(|q| q.narrow()) {
            Some(q) => drawn_narrow(q, n, half).into(),
            None => (0..n).map(|_| (u128::from(half()) << 64 | u128::from(half())) % modulus).collect(),
        }
    }

    fn group(&self, name: &str, file: &str) -> Result<&'p Group, Diagnostic> {
        let inputs = self.program.inputs();
        inputs.iter().find(|group| group.name == name).ok_or_else(|| {
            let error = Diagnostic::new(format!("unknown input `{name}`")).in_file(file);
            let names = || inputs.iter().map(|group| group.name.as_str());
            match diagnostic::nearest(name, names()) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None if inputs.len() <= 20 => {
                    let names: Vec<_> = names().map(|name| format!("`{name}`")).collect();
                    error.with_help(format!("the inputs are {}", names.join(", ")))
                }
                None => error,
            }
        })
    }

    fn check_length(&self, group: &Group, found: u64, file: &str) -> Result<(), Diagnostic> {
        let (limbs, n) = (group.limbs.len(), self.program.degree().len());
        let expected = 16 * (limbs * n) as u64;
        if found == expected {
            return Ok(());
        }
        let reason = match found.checked_sub(expected) {
            Some(_) => "the file is longer".to_owned(),
            None => format!("limb {} is incomplete", found / (16 * n as u64)),
        };
        let name = &group.name;
        Err(Diagnostic::new(format!("the input `{name}` has {expected} bytes, found {found}: {reason}"))
            .in_file(file)
            .with_help(format!("{} of {n} words of 16 bytes", counted(limbs, "limb", "limbs"))))
    }

    fn set_at(&mut self, group: &Group, index: usize, limb: Limb, words: Words) -> Result<(), Diagnostic> {
        let (name, id, n) = (&group.name, self.program.limbs().id(limb), self.program.degree().len());
        let error = |message: String| {
            Err(Diagnostic::new(format!("limb {index} (`{id}`) of the input `{name}`: {message}")))
        };
        if words.len() != n {
            return error(format!("found {} words in place of {n}", words.len()));
        }
        if let Some(InputModulus::Residues(m)) = self.modulus(limb) {
            let q = self.program.moduli().value(m);
            if let Some(index) = words.iter().position(|word| word >= q) {
                let word = words.at(index);
                return error(format!(
                    "word {index} is {word:#x}, not below the modulus m[{}] = {q:#x}",
                    m.get()
                ));
            }
        }
        match self.origins.get(&limb) {
            Some(WordSource::Given(known)) if *known != words => {
                error("another input has the limb with other words".into())
            }
            _ => {
                // Real programs leave most keys unread.
                if self.is_needed(limb) {
                    self.origins.insert(limb, WordSource::Given(words));
                }
                Ok(())
            }
        }
    }
}

/// Residues of `n` words of 128 bits, each from two calls of `half`, the high one first.
fn drawn_narrow(q: Narrow, n: usize, mut half: impl FnMut() -> u64) -> Vec<u64> {
    let power = ((1 << u64::BITS) % u128::from(q.value())) as u64;
    let mut words = Vec::with_capacity(n);
    let (mut high, mut low, mut sum) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
    while words.len() < n {
        for (high, low) in high.iter_mut().zip(&mut low) {
            (*high, *low) = (half(), half());
        }
        narrow::multiply_scalar(q, &mut sum, &high, power);
        narrow::multiply_scalar(q, &mut high, &low, 1);
        narrow::add(q, &mut low, &sum, &high);
        // Both are powers of two: the last block is full, or the only one.
        words.extend_from_slice(&low[..BLOCK.min(n)]);
    }
    words
}

/// The next word of SplitMix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mix(*state)
}

/// The output function of SplitMix64.
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Reads until the buffer is full or the data end; the number of bytes.
fn fill(data: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match data.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Writes the data file of an output.
///
/// # Errors
/// Returns an error if `out` cannot be written to.
pub fn write_data(limbs: &[Words], mut out: impl Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    for words in limbs {
        bytes.clear();
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        out.write_all(&bytes)?;
    }
    Ok(())
}
