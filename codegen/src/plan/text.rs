//! Plans as text.
//!
//! The first line has the algorithm, the ring degree and the plan's name. Each line after it is a pass: the
//! placement of the index bits after its loads, its steps, and the layout of its stores.
//!
//! ```text
//! forward 2^16 windowed-4-2
//! [15..12 | 8..0] S15 S14 S13 U13 S12 U12 -> 15 14 11..0 13 12
//! [11..7 | 6..0 13 12] S11 S10 S9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 15..0
//! ```
//!
//! All lists name index bits, most significant position first. `8..0` stands for `8 7 6 5 4 3 2 1 0`.
//!
//! | text | meaning |
//! |---|---|
//! | `[11..7 \| 6..0 13 12]` | bits 11 to 7 number the registers of a block, the others the lanes; index bit 12 is the lowest lane bit |
//! | `S8` | the butterfly [stage](Step::Stage) of bit 8 |
//! | `U8`, `P8` | [unpack](Step::Unpack), [pack](Step::Pack): bit 8 becomes the lowest, the topmost lane bit |
//! | `T`, `T8` | [twist](Step::Twist), [stage of bit 8 and twist](Step::TwistedStage) |
//! | `-> 15 14 11..0 13 12` | in memory, index bit 12 is the lowest address bit after the pass |
//!
//! The first pass loads from natural order: the index bit at each address bit is that bit itself. The lane
//! bits must have neighbouring addresses, see [`window_mode`](super::window_mode).
//!
//! Documents hold a plan as a string. Earlier versions wrote a table with a `load` list of address bits;
//! such documents are still read.

use super::{Algorithm, Bit, Layout, Pass, Plan, Shape, Step, natural_layout};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use thiserror::Error;

/// An error in the text of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line} of the plan: {problem}: expected {expected}")]
pub struct PlanTextError {
    /// The line, from 1. Blank lines count.
    pub line: usize,
    /// The bytes of the text that are wrong.
    pub span: Range<usize>,
    /// The error.
    pub problem: String,
    /// What would be valid there.
    pub expected: &'static str,
}

/// A word of a line that is wrong.
struct Wrong<'t> {
    word: &'t str,
    problem: String,
    expected: &'static str,
}

impl Wrong<'_> {
    /// The error with its span in the text that contains the word.
    fn within(self, text: &str, line: usize) -> PlanTextError {
        let Self { word, problem, expected } = self;
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        PlanTextError { line: line + 1, span: start..start + word.len(), problem, expected }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stage(bit) => write!(f, "S{}", bit.0),
            Self::Unpack(bit) => write!(f, "U{}", bit.0),
            Self::Pack(bit) => write!(f, "P{}", bit.0),
            Self::Twist => f.write_str("T"),
            Self::TwistedStage(bit) => write!(f, "T{}", bit.0),
        }
    }
}

/// Reads a step.
fn step(word: &str) -> Result<Step, Wrong<'_>> {
    if word == "T" {
        return Ok(Step::Twist);
    }
    let wrong = || Wrong {
        word,
        problem: format!("invalid step `{word}`"),
        expected: "S, U, P or T with an index bit, as in `S15`, or T alone",
    };
    let (head, bit) = word.split_at_checked(1).ok_or_else(wrong)?;
    let bit = diagnostic::number(bit.as_bytes()).ok().and_then(|bit| bit.try_into().ok());
    let bit = Bit(bit.ok_or_else(wrong)?);
    match head {
        "S" => Ok(Step::Stage(bit)),
        "U" => Ok(Step::Unpack(bit)),
        "P" => Ok(Step::Pack(bit)),
        "T" => Ok(Step::TwistedStage(bit)),
        _ => Err(wrong()),
    }
}

fn steps(text: &str) -> Result<Vec<Step>, Wrong<'_>> {
    text.split_whitespace().map(step).collect()
}

/// The shortest descending run of bits that is written with its ends only.
const RUN: usize = 3;

/// Writes bits, most significant position first.
fn write_bits(f: &mut fmt::Formatter<'_>, bits: &[Bit]) -> fmt::Result {
    let mut left = bits;
    while let Some(first) = left.first() {
        let run =
            left.iter().zip((0..=first.0).rev()).take_while(|(bit, expected)| bit.0 == *expected).count();
        let run = if run < RUN { 1 } else { run };
        match run {
            1 => write!(f, "{}", first.0)?,
            _ => write!(f, "{}..{}", first.0, left[run - 1].0)?,
        }
        left = &left[run..];
        if !left.is_empty() {
            f.write_str(" ")?;
        }
    }
    Ok(())
}

/// Reads bits, most significant position first.
fn bits(text: &str) -> Result<Vec<Bit>, Wrong<'_>> {
    let mut bits = Vec::new();
    for word in text.split_whitespace() {
        let wrong = || Wrong {
            word,
            problem: format!("invalid list of index bits at `{word}`"),
            expected: "bits such as `13`, or descending runs such as `8..0`",
        };
        let bit = |text: &str| {
            diagnostic::number(text.as_bytes()).ok().and_then(|bit| bit.try_into().ok()).ok_or_else(wrong)
        };
        let (first, last) = word.split_once("..").unwrap_or((word, word));
        let (first, last) = (bit(first)?, bit(last)?);
        if first < last {
            return Err(wrong());
        }
        bits.extend((last..=first).rev().map(Bit));
    }
    Ok(bits)
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reversed = |bits: &[Bit]| bits.iter().rev().copied().collect::<Vec<_>>();
        f.write_str("[")?;
        write_bits(f, &self.registers)?;
        f.write_str(" | ")?;
        write_bits(f, &reversed(&self.lanes))?;
        f.write_str("] ")?;
        for step in &self.steps {
            write!(f, "{step} ")?;
        }
        f.write_str("-> ")?;
        write_bits(f, &reversed(&self.store))
    }
}

/// Reads a pass. An error in one of its parts hides no error in another part.
fn pass(line: &str) -> Result<Pass, Vec<Wrong<'_>>> {
    let parts = || {
        let (placement, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
        let (registers, lanes) = placement.split_once('|')?;
        let (steps, store) = rest.split_once("->")?;
        Some((registers, lanes, steps, store))
    };
    let Some((registers, lanes, given, store)) = parts() else {
        let problem = "invalid pass".to_owned();
        let expected = "its registers, lanes, steps and stores, as in `[9 | 8..0] S9 U9 S8 -> 9..0`";
        return Err(vec![Wrong { word: line.trim(), problem, expected }]);
    };
    let reversed = |text| bits(text).map(|bits| bits.into_iter().rev().collect::<Vec<_>>());
    match (bits(registers), reversed(lanes), steps(given), reversed(store)) {
        (Ok(registers), Ok(lanes), Ok(steps), Ok(store)) => Ok(Pass { lanes, registers, steps, store }),
        (registers, lanes, steps, store) => {
            let wrong = [registers.err(), lanes.err(), steps.err(), store.err()];
            Err(wrong.into_iter().flatten().collect())
        }
    }
}

/// The names of the algorithms.
const ALGORITHMS: [(&str, Algorithm); 3] = [
    ("forward", Algorithm::Forward),
    ("inverse", Algorithm::Inverse),
    ("inverse-twisted", Algorithm::InverseTwisted),
];

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = ALGORITHMS.iter().find(|(_, algorithm)| *algorithm == self.algorithm);
        let (algorithm, _) = named.expect("every algorithm has a name");
        writeln!(f, "{algorithm} 2^{} {}", self.log_n, self.name)?;
        self.passes.iter().try_for_each(|pass| writeln!(f, "{pass}"))
    }
}

/// Reads the first line of a plan.
fn head(line: &str) -> Result<(Algorithm, u32, String), Vec<Wrong<'_>>> {
    let mut words = line.trim().splitn(3, char::is_whitespace);
    let (word, degree) = (words.next().unwrap_or(line), words.next().unwrap_or(&line[line.len()..]));
    let known = ALGORITHMS.iter().find(|(name, _)| *name == word);
    let algorithm = known.map(|(_, algorithm)| *algorithm).ok_or_else(|| Wrong {
        word,
        problem: format!("unknown algorithm `{word}`"),
        expected: "`forward`, `inverse` or `inverse-twisted`",
    });
    let log_n = degree.strip_prefix("2^").and_then(|log_n| log_n.parse().ok());
    let log_n = log_n.ok_or_else(|| Wrong {
        word: degree,
        problem: format!("invalid ring degree `{degree}`"),
        expected: "a power such as `2^16`",
    });
    match (algorithm, log_n) {
        (Ok(algorithm), Ok(log_n)) => {
            Ok((algorithm, log_n, words.next().unwrap_or_default().trim().to_owned()))
        }
        (algorithm, log_n) => Err(algorithm.err().into_iter().chain(log_n.err()).collect()),
    }
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// Returns all errors of the text, in its order.
    pub fn read(text: &str) -> Result<Self, Vec<PlanTextError>> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (mut errors, mut passes) = (Vec::new(), Vec::new());
        let (number, first) = lines.next().unwrap_or((0, text));
        let at = |number| move |wrong: Wrong<'_>| wrong.within(text, number);
        let head = head(first).map_err(|wrong| errors.extend(wrong.into_iter().map(at(number))));
        for (number, line) in lines {
            match pass(line) {
                Ok(pass) => passes.push(pass),
                Err(wrong) => errors.extend(wrong.into_iter().map(at(number))),
            }
        }
        match head {
            Ok((algorithm, log_n, name)) if errors.is_empty() => Ok(Self { name, algorithm, log_n, passes }),
            _ => Err(errors),
        }
    }
}

impl FromStr for Plan {
    type Err = PlanTextError;
    fn from_str(text: &str) -> Result<Self, PlanTextError> {
        Self::read(text).map_err(|mut errors| errors.swap_remove(0))
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Plan;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a plan as text, or a table of an earlier version")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Plan, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Plan, A::Error> {
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                table.plan().map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A plan in the notation of earlier versions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    algorithm: Algorithm,
    log_n: u32,
    passes: Vec<TablePass>,
}

/// A pass in the notation of earlier versions: `load` has the address bit of each lane bit, lowest first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TablePass {
    load: Vec<u8>,
    registers: Vec<Bit>,
    steps: String,
    store: Layout,
}

impl Table {
    fn plan(self) -> Result<Plan, String> {
        let Self { name, algorithm, log_n, passes: tables } = self;
        if name.contains(char::is_control) {
            return Err("the name of a plan must be one line".to_owned());
        }
        let lanes = tables.first().map_or(0, |pass| pass.load.len() as u32);
        let mut layout = natural_layout(Shape { log_n, lanes }.bits().min(u32::from(u8::MAX)));
        let mut passes = Vec::new();
        for TablePass { load, registers, steps: text, store } in tables {
            let lane = |&address: &u8| {
                let unknown =
                    || format!("invalid address bit {address}: the plan has {} of them", layout.len());
                layout.get(usize::from(address)).copied().ok_or_else(unknown)
            };
            let lanes = load.iter().map(lane).collect::<Result<_, _>>()?;
            let steps =
                steps(&text).map_err(|wrong| format!("{}: expected {}", wrong.problem, wrong.expected))?;
            passes.push(Pass { lanes, registers, steps, store: store.clone() });
            layout = store;
        }
        Ok(Plan { name, algorithm, log_n, passes })
    }
}
