//! The Ring Processing Unit in software: functional execution, cycle model, area and energy.
//!
//! A [`Machine`] holds all parameters. An [`Executor`](functional::Executor) computes a program's
//! results on data. [`simulate`](timing::simulate) computes the cycles of every instruction. The two
//! are independent: timing touches no data.
//!
//! ```
//! use sim::functional::Executor;
//! use sim::timing::simulate;
//! use sim::{Machine, MachineBase, Override};
//!
//! let program = b512_asm::assemble(
//!     ".input x, 512
//!      .output y, 512
//!      .modulus m1, 97
//!      vload v0, a0, x
//!      vadd v1, v0, v0, m1
//!      vstore v1, a0, y
//!      halt",
//! )?;
//!
//! // The paper's machine, then one with fewer HPLEs.
//! let machine = Machine::rpu_128x128();
//! let timing = simulate(&machine, &program);
//! assert_eq!(timing.cycles.0, 23);
//! let small = MachineBase::built_in("rpu-128x128")?.machine(&[Override::parse("hple.count=32")?])?;
//! assert!(simulate(&small, &program).cycles > timing.cycles);
//!
//! let mut executor = Executor::for_machine(&machine);
//! executor.load(&program)?;
//! executor.write("x", &[50; 512])?;
//! executor.run()?;
//! assert_eq!(executor.read("y")?, [3; 512]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`clock`], [`area`] and [`energy`] follow from the machine's [`tech`]nology and the size of its logic
//! ([`gates`]). [`hbm`] schedules the off-chip transfers of many consecutive runs. [`lint`] finds faults of a
//! program. [`trace`] exports a run to pipeline viewers. The crate does no terminal input or output.

// A new instruction or pipe must not compile before every match over them treats it.
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod area;
pub mod clock;
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod energy;
pub mod floorplan;
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod functional;
pub mod gates;
pub mod hbm;
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod lint;
pub mod machine;
pub mod power;
pub mod tech;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod timing;
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod trace;

pub use area::{Area, Usage};
pub use clock::Clock;
pub use energy::{Energy, Events};
pub use floorplan::Floorplan;
pub use machine::{Change, FitError, Machine, MachineBase, MachineFile, Override};
pub use power::{RunEnergy, Work};
pub use tech::Technology;
pub use trace::Trace;
