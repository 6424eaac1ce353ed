//! Plans: the passes, stages and data movements of a transform, as data.
//!
//! A plan describes data movement by the `log_n` bits of an element's index. At any time, some of the bits,
//! the *lane bits*, number the elements of a vector register (nine in B512). Some number the *registers* of
//! the current block. The remaining bits number the *blocks*. In memory, a [`Layout`] assigns each index bit
//! to a bit of the word address.
//!
//! A transform is a chain of butterfly stages, one for each index bit. A stage only works on a bit
//! that numbers registers. Every data movement of B512 permutes index bits:
//!
//! * A load or store maps the lane bits to a window of address bits. The addressing mode selects
//!   the window.
//! * An unpack of two registers that differ in bit `p` makes `p` the lowest lane bit. The other lane
//!   bits move up by one, and the topmost one replaces `p` as the register bit.
//! * A pack is the inverse: `p` becomes the topmost lane bit, and the lowest one becomes the
//!   register bit.
//!
//! If the whole polynomial is one vector, all index bits are lane bits, and a stage would find none in
//! the registers. The elements then have a *copy bit* above the index bits: every element is there
//! twice, and the two copies take part in the same stages. Memory holds one copy.
//!
//! A pass loads each block, works on it in registers and stores it. [`Plan::trace`] follows the
//! bits through a plan. It proves that every stage occurs once, in an order that the algorithm
//! allows, and that the result is in natural address order.

mod classical;
mod costs;
pub mod derive;
pub mod text;

pub use self::costs::Costs;

pub use self::text::PlanTextError;
use b512_asm::{AddressMode, Log2};
use ring::Degree;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// A bit of an element's index; 0 is the least significant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bit(pub u8);

/// The index bit at each bit of a word address, least significant first.
pub type Layout = Vec<Bit>;

/// The layout in which the address of each element is its index.
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

    /// log2 of the number of vectors: the number of index bits beyond one vector.
    pub const fn vectors(self) -> u32 {
        self.log_n - self.lanes
    }

    /// The number of index bits, with the copy bit of a polynomial of one vector.
    pub const fn bits(self) -> u32 {
        if self.log_n > self.lanes { self.log_n } else { self.lanes + 1 }
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
    /// Inverse transform: Cooley-Tukey butterflies from the lowest bit to the highest, with factors that
    /// depend on the bits below; then element i is multiplied by psi^-i / n. On a machine without a
    /// Gentleman-Sande butterfly, it needs fewer instructions than `Inverse`.
    InverseTwisted,
}

/// The direction of a transform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From coefficients to values.
    Forward,
    /// From values to coefficients.
    Inverse,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "forward",
            Self::Inverse => "inverse",
        })
    }
}

impl Algorithm {
    /// The transform that it computes.
    pub const fn direction(self) -> Direction {
        match self {
            Self::Forward => Direction::Forward,
            Self::Inverse | Self::InverseTwisted => Direction::Inverse,
        }
    }

    /// The index bits in stage order.
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
    /// Shuffles that make a register bit the lowest lane bit.
    Unpack(Bit),
    /// Shuffles that make a register bit the topmost lane bit.
    Pack(Bit),
    /// Multiplication by the twist of [`Algorithm::InverseTwisted`].
    Twist,
    /// The last stage of [`Algorithm::InverseTwisted`], on this bit, combined with the twist. With twist
    /// factors `t` and `u`, the results `t (a + w b)` and `u (a - w b)` are computed as `t a + (t w) b` and
    /// `u/t (t a - (t w) b)`. The instruction count equals a stage plus a twist. The number of factors is two
    /// thirds, because `u/t` is the same for all elements, but the dependence chain is longer.
    TwistedStage(Bit),
}

impl Step {
    /// The index bit that the step works on, which must number registers; `None` for the twist.
    pub fn bit(self) -> Option<Bit> {
        match self {
            Self::Stage(bit) | Self::Unpack(bit) | Self::Pack(bit) | Self::TwistedStage(bit) => Some(bit),
            Self::Twist => None,
        }
    }
}

/// A pass over memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pass {
    /// The index bits that the loads bring to the lanes, lowest lane bit first. Their addresses must form
    /// a window of an addressing mode.
    pub lanes: Vec<Bit>,
    /// The index bits that number the registers of a block, most significant first.
    pub registers: Vec<Bit>,
    /// The steps in registers, in order.
    pub steps: Vec<Step>,
    /// The layout after the pass: the index bit at each address bit, least significant first.
    pub store: Layout,
}

/// A plan of a transform. [Its text](text) has one line for each pass.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Plan {
    /// The plan's name.
    pub name: String,
    /// The chain of stages.
    pub algorithm: Algorithm,
    /// log2 of the ring's degree: from log2 of the vector length to [`Plan::MAX_LOG_N`].
    pub log_n: u32,
    /// The passes, in order.
    pub passes: Vec<Pass>,
}

/// The reason why a plan is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlanError {
    /// The degree is out of range.
    #[error(
        "invalid ring degree 2^{log_n}: a plan for vectors of 2^{lanes} elements covers 2^{lanes} to 2^{}",
        Plan::MAX_LOG_N
    )]
    Size {
        /// log2 of the degree.
        log_n: u32,
        /// log2 of the vector length.
        lanes: u32,
    },
    /// The plan has no passes.
    #[error("the plan has no passes")]
    Empty,
    /// A list of bits in a pass is invalid.
    #[error("pass {pass}: {what} must name {expected}")]
    Bits {
        /// The pass, from 0.
        pass: usize,
        /// The name of the list.
        what: &'static str,
        /// The expected contents.
        expected: String,
    },
    /// No addressing mode reaches the lane bits.
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
    /// A step works on a bit that does not number registers at that point.
    #[error("pass {pass}: `{step}` needs index bit {} in the registers, which hold {registers:?}", bit.0)]
    NotInRegisters {
        /// The pass, from 0.
        pass: usize,
        /// The step.
        step: Step,
        /// The bit of the step.
        bit: Bit,
        /// The register bits at that point.
        registers: Vec<u8>,
    },
    /// A stage is missing or out of order.
    #[error("pass {pass}: the next stage must be {expected}, not {found}")]
    Order {
        /// The pass, from 0.
        pass: usize,
        /// The stage that the algorithm requires next.
        expected: String,
        /// The step in the plan.
        found: String,
    },
    /// The result is not in natural address order.
    #[error("the last pass leaves index bit {} at address bit {address}; the result must be in natural order", bit.0)]
    NotNatural {
        /// The address bit.
        address: usize,
        /// The index bit found there.
        bit: Bit,
    },
}

/// The addressing mode that maps lane bit `i` to address bit `bits[i]`, if any.
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

/// The placement of the index bits at one point of a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The index bit of each lane bit, lowest first.
    pub lanes: Vec<Bit>,
    /// The index bit of each register bit, most significant first.
    pub registers: Vec<Bit>,
}

impl Placement {
    /// Applies the data movement of a step.
    ///
    /// # Panics
    /// Panics if the bit of an unpack or pack does not number registers.
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

/// A pass and the placements derived from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TracedPass {
    /// The layout before the pass.
    pub from: Layout,
    /// The layout after the pass.
    pub to: Layout,
    /// The addressing mode of the loads.
    pub load_mode: AddressMode,
    /// The addressing mode of the stores.
    pub store_mode: AddressMode,
    /// The placement after the loads.
    pub start: Placement,
    /// The placement before the stores.
    pub end: Placement,
    /// The index bits that number the blocks, most significant first.
    pub blocks: Vec<Bit>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

impl TracedPass {
    /// True if the pass can work in place: it stores every block to the addresses from which it
    /// loaded the block.
    pub fn in_place(&self) -> bool {
        let at = |layout: &Layout, bit: &Bit| layout.iter().position(|b| b == bit);
        self.blocks.iter().all(|bit| at(&self.from, bit) == at(&self.to, bit))
    }
}

impl Plan {
    /// log2 of the largest degree.
    pub const MAX_LOG_N: u32 = Degree::MAX.log2();

    /// The shape of the plan. The lane bits of the first load determine the vector length.
    pub fn shape(&self) -> Shape {
        let lanes = self.passes.first().map_or(0, |pass| pass.lanes.len() as u32);
        Shape { log_n: self.log_n, lanes }
    }

    /// Follows the index bits through the plan.
    ///
    /// # Errors
    /// Returns an error if the plan does not compute the transform.
    pub fn trace(&self) -> Result<Vec<TracedPass>, PlanError> {
        let Shape { log_n, lanes } = self.shape();
        if self.passes.is_empty() {
            return Err(PlanError::Empty);
        }
        if !(lanes..=Self::MAX_LOG_N).contains(&log_n) {
            return Err(PlanError::Size { log_n, lanes });
        }
        let mut due = self.algorithm.stages(self.log_n).into_iter().map(Step::Stage).collect::<Vec<_>>();
        if self.algorithm == Algorithm::InverseTwisted {
            due.push(Step::Twist);
        }
        let mut due = due.into_iter();
        let mut layout = natural_layout(self.shape().bits());
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
        let (Shape { lanes, .. }, bits) = (self.shape(), self.shape().bits());
        let window =
            |verb, bits: Vec<u8>| {
                let mode = (bits.len() == lanes as usize).then(|| window_mode(&bits)).flatten();
                mode.filter(|_| bits.iter().all(|&bit| u32::from(bit) < self.log_n))
                    .ok_or(PlanError::Window { pass: number, verb, lanes, bits })
            };
        let lanes = pass.lanes.clone();
        if let Some(bit) = lanes.iter().find(|bit| !from.contains(bit)) {
            let expected = format!("index bits below {bits}, not {}", bit.0);
            return Err(PlanError::Bits { pass: number, what: "its lanes", expected });
        }
        let address = |layout: &Layout, bit: &Bit| {
            layout.iter().position(|b| b == bit).expect("a layout holds every bit") as u8
        };
        let load_mode = window("loads", lanes.iter().map(|bit| address(&from, bit)).collect())?;
        let outside: Vec<Bit> = from.iter().copied().filter(|bit| !lanes.contains(bit)).collect();
        let distinct = pass.registers.iter().enumerate().all(|(i, b)| !pass.registers[..i].contains(b));
        if !distinct || pass.registers.len() > 6 || !pass.registers.iter().all(|bit| outside.contains(bit)) {
            let expected = format!("at most six different index bits that are not lanes, of {outside:?}");
            return Err(PlanError::Bits { pass: number, what: "its registers", expected });
        }
        let mut blocks: Vec<Bit> = outside.into_iter().filter(|bit| !pass.registers.contains(bit)).collect();
        blocks.sort_unstable_by(|a, b| b.cmp(a));

        let start = Placement { lanes, registers: pass.registers.clone() };
        let mut placement = start.clone();
        for &step in &pass.steps {
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
        if sorted != natural_layout(bits) {
            let expected = format!("each of the index bits 0 to {} once", bits - 1);
            return Err(PlanError::Bits { pass: number, what: "its stores", expected });
        }
        if pass.store.iter().skip(self.log_n as usize).any(|bit| u32::from(bit.0) < self.log_n) {
            let expected = format!("the copy bit {} topmost: memory holds one copy", self.log_n);
            return Err(PlanError::Bits { pass: number, what: "its stores", expected });
        }
        let stored = placement.lanes.iter().map(|bit| address(&pass.store, bit)).collect();
        let store_mode = window("stores", stored)?;
        Ok(TracedPass {
            from,
            to: pass.store.clone(),
            load_mode,
            store_mode,
            start,
            end: placement,
            blocks,
            steps: pass.steps.clone(),
        })
    }

    /// The plan of the inverse transform that reverses this forward plan.
    ///
    /// # Errors
    /// Returns an error if this plan is invalid.
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
                    step @ (Step::Stage(_) | Step::Twist | Step::TwistedStage(_)) => step,
                });
            }
            steps.reverse();
            Pass {
                lanes: pass.end.lanes.clone(),
                registers: pass.end.registers.clone(),
                steps,
                store: pass.from.clone(),
            }
        });
        let mut passes: Vec<Pass> = passes.collect();
        if algorithm == Algorithm::InverseTwisted
            && let Some(last) = passes.last_mut()
        {
            last.steps.push(Step::Twist);
        }
        Ok(Self { name: name.to_owned(), algorithm, log_n: self.log_n, passes })
    }

    /// The same plan, with the last stage and the twist combined into one step if they are adjacent.
    pub fn with_twisted_stage(mut self) -> Self {
        if let Some(Pass { steps, .. }) = self.passes.last_mut()
            && let [.., Step::Stage(bit), Step::Twist] = steps[..]
        {
            steps.truncate(steps.len() - 2);
            steps.push(Step::TwistedStage(bit));
        }
        self
    }
}
