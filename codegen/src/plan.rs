//! Plans: what is computed where, as a value.
//!
//! The `log_n` bits of an element's index are the coordinates. At any time some of them, the
//! *lanes*, number the elements of a vector register (nine in B512); some number the *registers* of
//! the block in work; the rest number the *blocks*. In memory, each index bit has a place in the
//! word address: that is the [`Layout`].
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

mod families;

use b512_asm::{AddressMode, Log2};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

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

/// The size of a transform and of the vectors that hold it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// log2 of the ring's degree.
    pub log_n: u32,
    /// log2 of the vector length.
    pub lanes: u32,
}

impl Shape {
    /// A transform of 2^`log_n` points in the 512 lanes of B512.
    pub const fn b512(log_n: u32) -> Self {
        Self { log_n, lanes: 9 }
    }

    /// Index bits that number vectors.
    pub const fn vectors(self) -> u32 {
        self.log_n - self.lanes
    }
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
    /// log2 of the ring's degree, at most [`Plan::MAX_LOG_N`] and above that of the vector length.
    pub log_n: u32,
    /// The passes, in order.
    pub passes: Vec<Pass>,
}

/// Why a plan is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlanError {
    /// A degree outside of the range.
    #[error("invalid ring degree 2^{log_n}: a plan for vectors of 2^{lanes} elements covers 2^{} to 2^{}", lanes + 1, Plan::MAX_LOG_N)]
    Size {
        /// log2 of the degree.
        log_n: u32,
        /// log2 of the vector length.
        lanes: u32,
    },
    /// A plan without passes.
    #[error("the plan has no passes")]
    Empty,
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
        "pass {pass}: no addressing mode {verb} {lanes} lane bits at the address bits {bits:?}: they must be \
         consecutive, or the lowest ones with one left out"
    )]
    Window {
        /// The pass, from 0.
        pass: usize,
        /// `loads` or `stores`.
        verb: &'static str,
        /// log2 of the vector length.
        lanes: u32,
        /// The address bit of each lane bit, lowest lane bit first.
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
            self.lanes.pop().expect("a vector has lanes")
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
    /// log2 of the largest degree.
    pub const MAX_LOG_N: u32 = 20;

    /// log2 of the degree, and of the vector length that the plan is for: the lane bits of its first
    /// load.
    pub fn shape(&self) -> Shape {
        let lanes = self.passes.first().map_or(0, |pass| pass.load.len() as u32);
        Shape { log_n: self.log_n, lanes }
    }

    /// The number of instructions that it takes in textbook order, loads of constants left out
    /// and every stage counted as butterflies.
    pub fn instructions(&self) -> u32 {
        let vectors = 1 << self.log_n.saturating_sub(self.shape().lanes);
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
        let Shape { log_n, lanes } = self.shape();
        if self.passes.is_empty() {
            return Err(PlanError::Empty);
        }
        if !(lanes + 1..=Self::MAX_LOG_N).contains(&log_n) {
            return Err(PlanError::Size { log_n, lanes });
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
        let Shape { lanes, .. } = self.shape();
        let window =
            |verb, bits: Vec<u8>| {
                let mode = (bits.len() == lanes as usize).then(|| window_mode(&bits)).flatten();
                mode.filter(|_| bits.iter().all(|&bit| u32::from(bit) < self.log_n))
                    .ok_or(PlanError::Window { pass: number, verb, lanes, bits })
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
}
