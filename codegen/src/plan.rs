//! Plans: what is computed where, as a value.
//!
//! The `log_n` bits of an element's index are the coordinates. At any time nine of them, the
//! *lanes*, number the elements of a vector register; some number the *registers* of the block
//! that is being worked on; the rest number the *blocks*. In memory, each index bit stands at one
//! bit of the word address: that is the [`Layout`].
//!
//! A transform is a chain of butterfly stages, one for each index bit. A stage can only work on a
//! bit that numbers registers. Every data movement of B512 is a permutation of index bits:
//!
//! * a load or store maps the lanes to a window of address bits, which the addressing mode moves;
//! * an unpack of two registers that differ in bit `p` makes `p` the lowest lane; the other lanes
//!   move up by one, and the topmost becomes the register bit in place of `p`;
//! * a pack is its inverse: `p` becomes the topmost lane, the lowest one becomes the register bit.
//!
//! A pass loads a block, works on it in registers and stores it. [`Plan::trace`] follows the bits
//! through a plan and proves that every stage happens once, in an order that the algorithm
//! allows, and that the result lies where it should.

use b512_asm::reg::LANE_BITS;
use b512_asm::{AddressMode, Log2};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Lanes of a vector register, as index bits.
const LANES: usize = LANE_BITS as usize;

/// A bit of an element's index; 0 is the least significant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bit(pub u8);

/// Which index bit stands at each bit of a word address, least significant first.
pub type Layout = Vec<Bit>;

/// The element order in which index and address are the same.
pub fn natural_layout(log_n: u32) -> Layout {
    (0..log_n as u8).map(Bit).collect()
}

/// The chain of stages that a plan implements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Forward transform: Cooley-Tukey butterflies from the highest bit to the lowest. The stage
    /// of bit b multiplies by a factor that depends on the bits above b.
    Forward,
    /// Inverse transform: Gentleman-Sande butterflies from the lowest bit to the highest, with
    /// factors that depend on the bits above; 1/n in the last stage.
    Inverse,
    /// Inverse transform: Cooley-Tukey butterflies from the lowest bit to the highest, with
    /// factors that depend on the bits below; then every element is multiplied by psi^-i / n. A
    /// machine without a Gentleman-Sande butterfly needs fewer instructions for it.
    InverseTwisted,
}

impl Algorithm {
    /// The bits in the order of their stages.
    pub fn stages(self, log_n: u32) -> Vec<Bit> {
        let bits = (0..log_n as u8).map(Bit);
        match self {
            Self::Forward => bits.rev().collect(),
            Self::Inverse | Self::InverseTwisted => bits.collect(),
        }
    }
}

/// One step of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// The butterfly stage of a register bit.
    Stage(Bit),
    /// A register bit becomes the lowest lane.
    Unpack(Bit),
    /// A register bit becomes the topmost lane.
    Pack(Bit),
    /// Multiplication by the twist of [`Algorithm::InverseTwisted`].
    Twist,
    /// The last stage of [`Algorithm::InverseTwisted`], on this bit, and the twist in one: with
    /// factors `t` and `u` of the twist, `t (a + w b)` and `u (a - w b)` are
    /// `t a + (t w) b` and `u/t (t a - (t w) b)`. As many instructions as a stage and a twist and
    /// two thirds of the factors, as `u/t` is a number, but a longer chain.
    TwistedStage(Bit),
}

impl Step {
    /// The index bit that it works on, which must number registers; the twist has none.
    pub fn bit(self) -> Option<Bit> {
        match self {
            Self::Stage(bit) | Self::Unpack(bit) | Self::Pack(bit) | Self::TwistedStage(bit) => Some(bit),
            Self::Twist => None,
        }
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

impl FromStr for Step {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "T" {
            return Ok(Self::Twist);
        }
        let explain = || {
            format!("`{text}` is no step; a step is S, U, P or T with an index bit, as in `S15`, or T alone")
        };
        let (head, bit) = text.split_at_checked(1).ok_or_else(explain)?;
        let bit = Bit(bit.parse().map_err(|_| explain())?);
        match head {
            "S" => Ok(Self::Stage(bit)),
            "U" => Ok(Self::Unpack(bit)),
            "P" => Ok(Self::Pack(bit)),
            "T" => Ok(Self::TwistedStage(bit)),
            _ => Err(explain()),
        }
    }
}

/// Steps as text, separated by spaces: `S15 U15 S14`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Steps(pub Vec<Step>);

impl TryFrom<String> for Steps {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.split_whitespace().map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Steps> for String {
    fn from(steps: Steps) -> Self {
        steps.to_string()
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            step.fmt(f)?;
        }
        Ok(())
    }
}

/// A pass over memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    /// The address bits that the lanes are loaded from, least significant first. They must be a
    /// window that an addressing mode reaches.
    pub load: Vec<u8>,
    /// The index bits that number the registers of a block, most significant first.
    pub registers: Vec<Bit>,
    /// What happens in registers.
    pub steps: Steps,
    /// Where the elements go: the index bit at each address bit, least significant first.
    pub store: Layout,
}

/// How a transform is computed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The plan's name.
    pub name: String,
    /// The chain of stages.
    pub algorithm: Algorithm,
    /// log2 of the ring's degree, 10 to 17.
    pub log_n: u32,
    /// The passes, in order.
    pub passes: Vec<Pass>,
}

/// Why a plan is not one.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlanError {
    /// A ring that the plans do not cover.
    #[error("a plan covers rings of 2^10 to 2^20 elements, not 2^{0}")]
    Size(u32),
    /// A list of bits that should name each bit once.
    #[error("pass {pass}: {what} must name {expected}")]
    Bits {
        /// The pass, from 0.
        pass: usize,
        /// Which list.
        what: &'static str,
        /// What it should hold.
        expected: String,
    },
    /// Lanes that no addressing mode reaches.
    #[error(
        "pass {pass}: no addressing mode {verb} lanes at the address bits {bits:?}: nine consecutive ones, \
         or the lowest ten with one left out"
    )]
    Window {
        /// The pass, from 0.
        pass: usize,
        /// `loads` or `stores`.
        verb: &'static str,
        /// The address bit of each lane, lowest lane first.
        bits: Vec<u8>,
    },
    /// A step on a bit that does not number registers at that point.
    #[error("pass {pass}: `{step}` needs index bit {} in the registers, which hold {registers:?}", bit.0)]
    NotInRegisters {
        /// The pass, from 0.
        pass: usize,
        /// The step.
        step: Step,
        /// Its bit.
        bit: Bit,
        /// The register bits at that point.
        registers: Vec<u8>,
    },
    /// A stage out of the algorithm's order, or missing.
    #[error("pass {pass}: the next stage must be {expected}, not {found}")]
    Order {
        /// The pass, from 0.
        pass: usize,
        /// The stage that is due.
        expected: String,
        /// What the plan has.
        found: String,
    },
    /// The result is not in natural address order.
    #[error("the last pass leaves index bit {} at address bit {address}; the result must be in order", bit.0)]
    NotNatural {
        /// The address bit.
        address: usize,
        /// The index bit found there.
        bit: Bit,
    },
}

/// The addressing mode that puts lane `i` at address bit `bits[i]`, where there is one.
pub fn window_mode(bits: &[u8]) -> Option<AddressMode> {
    let log2 = |value: u8| Log2::new(value).expect("address bits are below 21");
    let skipped = bits.iter().enumerate().position(|(lane, &bit)| usize::from(bit) != lane);
    match skipped {
        None => Some(AddressMode::Linear),
        Some(0) => {
            let first = bits[0];
            let consecutive = bits.iter().zip(first..).all(|(&bit, expected)| bit == expected);
            consecutive.then(|| AddressMode::Strided(log2(first)))
        }
        Some(at) => {
            let rest = bits[at..].iter().zip(at as u8 + 1..).all(|(&bit, expected)| bit == expected);
            rest.then(|| AddressMode::StridedSkip(log2(at as u8)))
        }
    }
}

/// Where the index bits are at one point of a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The index bit of each lane bit, lowest first.
    pub lanes: Vec<Bit>,
    /// The index bit of each register bit, most significant first.
    pub registers: Vec<Bit>,
}

impl Placement {
    /// Applies the movement of a step.
    pub fn apply(&mut self, step: Step) {
        let (bit, pack) = match step {
            Step::Stage(_) | Step::Twist | Step::TwistedStage(_) => return,
            Step::Unpack(bit) => (bit, false),
            Step::Pack(bit) => (bit, true),
        };
        let at = self.registers.iter().position(|&b| b == bit).expect("the plan has been traced");
        self.registers[at] = if pack {
            self.lanes.push(bit);
            self.lanes.remove(0)
        } else {
            self.lanes.insert(0, bit);
            self.lanes.pop().expect("there are nine lanes")
        };
    }
}

/// A pass with everything that follows from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TracedPass {
    /// The layout that is read.
    pub from: Layout,
    /// The layout that is written.
    pub to: Layout,
    /// Addressing mode of the loads.
    pub load_mode: AddressMode,
    /// Addressing mode of the stores.
    pub store_mode: AddressMode,
    /// Where the bits are after the loads.
    pub start: Placement,
    /// Where the bits are before the stores.
    pub end: Placement,
    /// The index bits that number the blocks, most significant first.
    pub blocks: Vec<Bit>,
    /// The steps.
    pub steps: Vec<Step>,
}

impl TracedPass {
    /// Whether every block is stored to the addresses that it was loaded from, so that the pass
    /// can work in place.
    pub fn in_place(&self) -> bool {
        let at = |layout: &Layout, bit: &Bit| layout.iter().position(|b| b == bit);
        self.blocks.iter().all(|bit| at(&self.from, bit) == at(&self.to, bit))
    }
}

impl Plan {
    /// The number of instructions that it takes in textbook order, loads of constants left out
    /// and every stage counted as butterflies.
    pub fn instructions(&self) -> u32 {
        let vectors = 1 << self.log_n.saturating_sub(LANE_BITS);
        let step = |step: &Step| match step {
            Step::Stage(_) => vectors / 2,
            Step::Unpack(_) | Step::Pack(_) | Step::Twist => vectors,
            Step::TwistedStage(_) => vectors / 2 * 3,
        };
        let pass = |pass: &Pass| 2 * vectors + pass.steps.0.iter().map(step).sum::<u32>();
        self.passes.iter().map(pass).sum()
    }

    /// Follows the index bits through the plan.
    ///
    /// # Errors
    /// Where the plan does not compute the transform, and why.
    pub fn trace(&self) -> Result<Vec<TracedPass>, PlanError> {
        if !(10..=20).contains(&self.log_n) {
            return Err(PlanError::Size(self.log_n));
        }
        let mut due = self.algorithm.stages(self.log_n).into_iter().map(Step::Stage).collect::<Vec<_>>();
        if self.algorithm == Algorithm::InverseTwisted {
            due.push(Step::Twist);
        }
        let mut due = due.into_iter();
        let mut layout = natural_layout(self.log_n);
        let mut traced = Vec::new();
        for (number, pass) in self.passes.iter().enumerate() {
            let pass = self.trace_pass(number, pass, layout, &mut due)?;
            layout = pass.to.clone();
            traced.push(pass);
        }
        if let Some(step) = due.next() {
            let (expected, found) = (step.to_string(), "the end".to_owned());
            return Err(PlanError::Order { pass: self.passes.len().saturating_sub(1), expected, found });
        }
        match layout.iter().enumerate().find(|&(address, bit)| usize::from(bit.0) != address) {
            Some((address, &bit)) => Err(PlanError::NotNatural { address, bit }),
            None => Ok(traced),
        }
    }

    fn trace_pass(
        &self,
        number: usize,
        pass: &Pass,
        from: Layout,
        due: &mut impl Iterator<Item = Step>,
    ) -> Result<TracedPass, PlanError> {
        let window =
            |verb, bits: Vec<u8>| {
                let mode = (bits.len() == LANES).then(|| window_mode(&bits)).flatten();
                mode.filter(|_| bits.iter().all(|&bit| u32::from(bit) < self.log_n))
                    .ok_or(PlanError::Window { pass: number, verb, bits })
            };
        let load_mode = window("loads", pass.load.clone())?;
        let lanes: Vec<Bit> = pass.load.iter().map(|&address| from[usize::from(address)]).collect();
        let outside: Vec<Bit> = from.iter().copied().filter(|bit| !lanes.contains(bit)).collect();
        let distinct = pass.registers.iter().enumerate().all(|(i, b)| !pass.registers[..i].contains(b));
        if !distinct || pass.registers.len() > 6 || !pass.registers.iter().all(|bit| outside.contains(bit)) {
            let expected = format!("at most six different index bits that are not lanes, of {outside:?}");
            return Err(PlanError::Bits { pass: number, what: "`registers`", expected });
        }
        let mut blocks: Vec<Bit> = outside.into_iter().filter(|bit| !pass.registers.contains(bit)).collect();
        blocks.sort_unstable_by(|a, b| b.cmp(a));

        let start = Placement { lanes, registers: pass.registers.clone() };
        let mut placement = start.clone();
        for &step in &pass.steps.0 {
            if let Some(bit) = step.bit()
                && !placement.registers.contains(&bit)
            {
                let registers = placement.registers.iter().map(|b| b.0).collect();
                return Err(PlanError::NotInRegisters { pass: number, step, bit, registers });
            }
            let does: &[Step] = match step {
                Step::Stage(_) | Step::Twist => &[step],
                Step::TwistedStage(bit) => &[Step::Stage(bit), Step::Twist],
                Step::Unpack(_) | Step::Pack(_) => &[],
            };
            for &part in does {
                let next = due.next();
                if next != Some(part) {
                    let expected = next.map_or("none".to_owned(), |step| step.to_string());
                    return Err(PlanError::Order { pass: number, expected, found: step.to_string() });
                }
            }
            placement.apply(step);
        }

        let mut sorted = pass.store.clone();
        sorted.sort_unstable();
        if sorted != natural_layout(self.log_n) {
            let expected = format!("each of the index bits 0 to {} once", self.log_n - 1);
            return Err(PlanError::Bits { pass: number, what: "`store`", expected });
        }
        let address = |bit: &Bit| pass.store.iter().position(|b| b == bit).expect("every bit is there") as u8;
        let store_mode = window("stores", placement.lanes.iter().map(address).collect())?;
        Ok(TracedPass {
            from,
            to: pass.store.clone(),
            load_mode,
            store_mode,
            start,
            end: placement,
            blocks,
            steps: pass.steps.0.clone(),
        })
    }

    /// The plan of the inverse transform that runs this forward plan backwards.
    ///
    /// # Errors
    /// Where this plan is none.
    pub fn reversed(&self, name: &str, algorithm: Algorithm) -> Result<Self, PlanError> {
        let traced = self.trace()?;
        let passes = traced.iter().rev().map(|pass| {
            let mut placement = pass.start.clone();
            let mut steps = Vec::new();
            for &step in &pass.steps {
                let before = placement.clone();
                placement.apply(step);
                let at = |bit| before.registers.iter().position(|&b| b == bit).expect("traced");
                steps.push(match step {
                    Step::Unpack(bit) => Step::Pack(placement.registers[at(bit)]),
                    Step::Pack(bit) => Step::Unpack(placement.registers[at(bit)]),
                    step => step,
                });
            }
            steps.reverse();
            let address = |bit: &Bit| pass.to.iter().position(|b| b == bit).expect("traced") as u8;
            Pass {
                load: pass.end.lanes.iter().map(address).collect(),
                registers: pass.end.registers.clone(),
                steps: Steps(steps),
                store: pass.from.clone(),
            }
        });
        let mut passes: Vec<Pass> = passes.collect();
        if algorithm == Algorithm::InverseTwisted
            && let Some(last) = passes.last_mut()
        {
            last.steps.0.push(Step::Twist);
        }
        Ok(Self { name: name.to_owned(), algorithm, log_n: self.log_n, passes })
    }

    /// The same plan with the last stage and the twist in one step, where one follows the other.
    pub fn with_twisted_stage(mut self) -> Self {
        if let Some(Pass { steps: Steps(steps), .. }) = self.passes.last_mut()
            && let [.., Step::Stage(bit), Step::Twist] = steps[..]
        {
            steps.truncate(steps.len() - 2);
            steps.push(Step::TwistedStage(bit));
        }
        self
    }

    /// Korn-Lambiotte: every stage works on the topmost address bit, which an unpack then makes
    /// the lowest one. Passes of `depth` stages over blocks of 2^depth registers, the paper's
    /// rectangles; where the whole transform fits 2^depth registers, one pass. The movement of
    /// the last stage is left to strided stores.
    pub fn korn_lambiotte(log_n: u32, depth: u32) -> Self {
        let vectors = log_n - LANE_BITS;
        let whole = vectors <= depth;
        let mut layout = natural_layout(log_n);
        let mut stages: Vec<Bit> = Algorithm::Forward.stages(log_n);
        let mut passes = Vec::new();
        while !stages.is_empty() {
            let take = if whole { stages.len() } else { stages.len().min(depth as usize) };
            let held = if whole { vectors as usize } else { take };
            let now: Vec<Bit> = stages.drain(..take).collect();
            let mut steps: Vec<Step> =
                now.iter().flat_map(|&bit| [Step::Stage(bit), Step::Unpack(bit)]).collect();
            if stages.is_empty() {
                steps.pop();
            }
            let registers = layout.iter().rev().take(held).copied().collect();
            layout.rotate_right(take);
            passes.push(Pass {
                load: (0..LANES as u8).collect(),
                registers,
                steps: Steps(steps),
                store: layout.clone(),
            });
        }
        Self { name: "kl".to_owned(), algorithm: Algorithm::Forward, log_n, passes }
    }

    /// One or two passes over contiguous vectors. The first one does the `first` topmost stages
    /// (none: there is one pass) and makes lanes of the bits in `early`; the second one does the
    /// rest and makes lanes of each bit from 8 down as soon as it has been dealt with, so that
    /// the result is stored contiguously. `held` bits that the first pass has dealt with number
    /// registers of the second one as well.
    ///
    /// With `strided`, bits 9 to 1 become lanes instead of 8 to 0, and the last movement is left
    /// to strided stores.
    pub fn windowed(log_n: u32, first: u32, early: &[Bit], held: u32, strided: bool) -> Self {
        let stages = Algorithm::Forward.stages(log_n);
        let (top, rest) = stages.split_at(first as usize);
        let linear: Vec<u8> = (0..LANES as u8).collect();
        let natural = natural_layout(log_n);
        let (lowest, highest) = if strided { (1, LANES as u8) } else { (0, LANES as u8 - 1) };
        let mut passes = Vec::new();
        let mut placement = Placement { lanes: natural[..LANES].to_vec(), registers: top.to_vec() };
        let steps = |stages: &[Bit], late: bool| {
            let becomes_lane = |bit: &Bit| early.contains(bit) || late && (lowest..=highest).contains(&bit.0);
            let steps = stages.iter().flat_map(|&bit| {
                std::iter::once(Step::Stage(bit)).chain(becomes_lane(&bit).then_some(Step::Unpack(bit)))
            });
            Steps(steps.collect())
        };
        if !top.is_empty() {
            let steps = steps(top, false);
            steps.0.iter().for_each(|&step| placement.apply(step));
            let others = natural.iter().filter(|bit| !placement.lanes.contains(bit));
            let store = placement.lanes.iter().chain(others).copied().collect();
            passes.push(Pass { load: linear.clone(), registers: top.to_vec(), steps, store });
        }
        let outside = |bit: &&Bit| !placement.lanes.contains(bit);
        let held = top.iter().filter(outside).take(held as usize);
        let registers = rest.iter().filter(outside).chain(held).copied().collect();
        passes.push(Pass { load: linear, registers, steps: steps(rest, true), store: natural });
        let name = format!("windowed-{first}-{}", early.len());
        Self { name, algorithm: Algorithm::Forward, log_n, passes }
    }

    /// One or two passes as in [`Self::windowed`], in which all lanes leave and enter through the
    /// place of one register bit of the last pass, the `door`: it becomes a lane after its own
    /// stage, and the topmost lane takes its place, is dealt with, becomes the lowest lane, and so
    /// on. So the unpack of a bit and the stage of the next one pair the same registers: there is
    /// a chain for each pair, independent of the others from the last register bit's stage on,
    /// and ten unpacks do it all.
    pub fn through(log_n: u32, first: u32, door: Bit) -> Self {
        let name = format!("through-{}-{first}", door.0);
        Self { name, ..Self::windowed(log_n, first, &[door], 0, false) }
    }

    /// Two passes over blocks of 32 registers, for memories in which no power-of-two stride meets
    /// bank conflicts: strided loads and stores do what shuffles would have to. The first pass
    /// does the five topmost stages and `unpacks` more, the second one the rest, with six
    /// unpacks less `unpacks` at 2^16 elements, so that both together shuffle as little as any
    /// plan and no pass has to do much more of it than of computing. There is one for rings of
    /// 2^14 to 2^17 elements with up to 19 - `log_n` unpacks, at most 3.
    pub fn folded(log_n: u32, unpacks: u32) -> Option<Self> {
        if !(14..=17).contains(&log_n) || unpacks > (19 - log_n).min(3) {
            return None;
        }
        let span = |from: u32, to: u32| (from as u8..to as u8).map(Bit);
        let stages = |from: u32, to: u32| span(to, from).rev().map(Step::Stage);
        // The bits from `high` on number registers of the first pass, those from `low` on its
        // lanes. Stores of the second pass take the lanes 5 to 13.
        let (high, low) = (log_n - 5, log_n - 14);
        let split = high - unpacks;
        let becomes_lane = |bit: &Bit, from: u32, to: u32| (from as u8..to as u8).contains(&bit.0);
        let steps = |stages: &mut dyn Iterator<Item = Step>, from, to| {
            let with_unpack = |step: Step| {
                let unpack = step.bit().filter(|bit| becomes_lane(bit, from, to)).map(Step::Unpack);
                std::iter::once(step).chain(unpack)
            };
            Steps(stages.flat_map(with_unpack).collect())
        };
        // In ascending order the lanes of the first pass's stores and of the second one's loads
        // are both consecutive in this.
        let between: Layout =
            span(split, 14).chain(span(low, split)).chain(span(0, low)).chain(span(14, log_n)).collect();
        let lanes = &between[..LANES];
        let registers = span(0, split).rev().filter(|bit| !lanes.contains(bit)).collect();
        let first = Pass {
            load: (low as u8..(low + LANE_BITS) as u8).collect(),
            registers: span(high, log_n).rev().collect(),
            steps: steps(&mut stages(log_n, split), 14 - unpacks, 14),
            store: between.clone(),
        };
        let second = Pass {
            load: (0..LANES as u8).collect(),
            registers,
            steps: steps(&mut stages(split, 0), 5, split),
            store: natural_layout(log_n),
        };
        let name = format!("folded-{unpacks}");
        Some(Self { name, algorithm: Algorithm::Forward, log_n, passes: vec![first, second] })
    }

    /// Three passes with (almost) no shuffles: strided loads and stores transpose the data
    /// between them. For memories in which no power-of-two stride meets bank conflicts. There is
    /// one for rings of 2^14 to 2^16 elements.
    pub fn transposing(log_n: u32) -> Option<Self> {
        let bits = |bits: &[u8]| bits.iter().copied().map(Bit).collect::<Vec<_>>();
        let span = |from: u32, to: u32| (from as u8..to as u8).map(Bit).collect::<Vec<_>>();
        let steps = |stages: &[Bit]| Steps(stages.iter().map(|&bit| Step::Stage(bit)).collect());
        let window = |from: u32| (from as u8..from as u8 + LANES as u8).collect::<Vec<u8>>();
        let down = |from: u32, to: u32| span(to, from).into_iter().rev().collect::<Vec<_>>();
        let passes = match log_n {
            14 | 15 => {
                // Passes of five, five and the rest; every layout is a rotation of the bits.
                let low = log_n - 10;
                let rotated = |by: u32| [span(by, log_n), span(0, by)].concat();
                let pass = |load: Vec<u8>, registers: Vec<Bit>, store: Layout| Pass {
                    load,
                    steps: steps(&registers),
                    registers,
                    store,
                };
                vec![
                    pass(window(0), down(log_n, low + 5), rotated(LANE_BITS)),
                    pass(window(low + 5 - LANE_BITS), down(low + 5, low), rotated(low)),
                    pass(window(0), down(low, 0), natural_layout(log_n)),
                ]
            }
            16 => {
                // The sixth stage of the first pass takes one unpack; the layouts are such that
                // the lanes of each pass are consecutive before and after it.
                let before = bits(&[10, 11, 12, 13, 0, 1, 14, 15, 2, 3, 4, 5, 6, 7, 8, 9]);
                let after = bits(&[5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1, 14, 15, 2, 3, 4]);
                let mut first = steps(&down(16, 10));
                first.0.insert(1, Step::Unpack(Bit(15)));
                let pass = |load, registers, steps, store| Pass { load, registers, steps, store };
                vec![
                    pass(window(2), down(16, 11), first, before),
                    pass(window(2), down(10, 5), steps(&down(10, 5)), after),
                    pass(window(0), down(5, 0), steps(&down(5, 0)), natural_layout(16)),
                ]
            }
            _ => return None,
        };
        Some(Self { name: "transposing".to_owned(), algorithm: Algorithm::Forward, log_n, passes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn korn_lambiotte_traces_at_every_size_and_depth() {
        for log_n in 10..=17 {
            for depth in 1..=5 {
                let plan = Plan::korn_lambiotte(log_n, depth);
                let traced = plan.trace().unwrap();
                assert_eq!(traced.last().unwrap().store_mode, AddressMode::Strided(Log2::new(1).unwrap()));
                let back = plan.reversed("pease", Algorithm::Inverse).unwrap();
                let packs =
                    back.passes.iter().flat_map(|p| &p.steps.0).filter(|s| matches!(s, Step::Pack(_)));
                assert_eq!(packs.count() as u32, log_n - 1);
                back.trace().unwrap();
                assert_eq!(back.passes[0].load, (1..10).collect::<Vec<u8>>());
            }
        }
    }

    #[test]
    fn windowed_and_transposing_plans_trace() {
        for log_n in 10..=17 {
            let top = Algorithm::Forward.stages(log_n);
            // One pass, or a first one that stays above the lanes.
            let mut firsts = vec![0];
            firsts.extend(2..=(log_n - LANE_BITS).min(5));
            for first in firsts {
                for early in 1..=2 {
                    let plan = Plan::windowed(log_n, first, &top[..early], 0, false);
                    // Up to 2^6 registers; larger blocks are refused.
                    if plan.passes.iter().all(|pass| pass.registers.len() <= 6) && log_n > LANE_BITS + 1 {
                        plan.trace().unwrap_or_else(|error| panic!("{log_n} {first} {early}: {error}"));
                    }
                }
            }
            if log_n <= 15 {
                Plan::windowed(log_n, 0, &top[..1], 0, true).trace().unwrap();
            }
            if let Some(plan) = Plan::transposing(log_n) {
                plan.trace().unwrap();
                plan.reversed("back", Algorithm::InverseTwisted).unwrap().trace().unwrap();
            }
        }
        let plan = Plan::windowed(16, 4, &[Bit(13), Bit(12)], 0, false);
        assert_eq!(plan.passes[0].steps.to_string(), "S15 S14 S13 U13 S12 U12");
        assert_eq!(
            plan.passes[1].steps.to_string(),
            "S11 S10 S9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0"
        );
    }

    #[test]
    fn ten_unpacks_suffice_through_any_door() {
        for log_n in 10..=17u32 {
            for first in [0, 2, 3, 4, 5] {
                for door in (LANE_BITS..log_n.saturating_sub(first)).map(|bit| Bit(bit as u8)) {
                    let plan = Plan::through(log_n, first, door);
                    if plan.passes.iter().any(|pass| pass.registers.len() > 6) {
                        continue;
                    }
                    plan.trace().unwrap_or_else(|error| panic!("{log_n} {first} {door:?}: {error}"));
                    let steps = plan.passes.iter().flat_map(|pass| &pass.steps.0);
                    assert_eq!(steps.filter(|step| matches!(step, Step::Unpack(_))).count(), 10);
                }
            }
        }
        assert_eq!(
            Plan::through(11, 0, Bit(9)).passes[0].steps.to_string(),
            "S10 S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0"
        );
    }

    #[test]
    fn the_papers_plan_has_its_passes() {
        let plan = Plan::korn_lambiotte(16, 4);
        assert_eq!(plan.passes.len(), 4);
        assert_eq!(plan.passes[0].steps.to_string(), "S15 U15 S14 U14 S13 U13 S12 U12");
        assert_eq!(plan.passes[3].steps.to_string(), "S3 U3 S2 U2 S1 U1 S0");
    }
}
