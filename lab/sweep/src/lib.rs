//! Sweeps: one or more kernels on many machines.
//!
//! A [`Definition`] is the content of a sweep file or of the built-in [`FIG4`]. [`Plan::new`]
//! resolves it into points, each with its machine and a key that depends on everything that
//! determines its result. [`run`] simulates the points that a folder lacks, with [`execute`] and a
//! [`Journal`]. [`Results::merge`] collects journals, and [`outputs::Outputs`] turns the results into files.
//! [`Replay`] runs one point again, [`verify`] many; [`slurm`] divides a sweep into the tasks of a cluster.
//!
//! ```
//! use lab_sweep::{Definition, Plan, generate, records};
//!
//! let text = "kernel = 'ntt'\nn = 1024\nplan = 'kl'\n[grid]\nhple.count = [64, 128]\n";
//! let plan = Plan::new(&Definition::parse("two.toml", text)?)?;
//! for record in records(&plan, &generate) {
//!     println!("{}", record.to_json()?);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files of a sweep's folder
//!
//! | file | content |
//! |---|---|
//! | `sweep.json` | the [`Manifest`]: the title and every point with its key, in order |
//! | `journal.jsonl`, `journal-K-of-N.jsonl` | one [`Record`] a line, in the order of completion, appended |
//! | `results.jsonl` | the records in the order of the points |
//! | `results.csv` | the same as a table |
//! | `pareto.svg`, `pareto.png` | area against latency, or the objectives of an exploration |
//! | `report.html` | interactive chart, causes of the cycles and table in one page |
//! | `array.sbatch`, `merge.sbatch`, `submit.sh` | the [`slurm::Job`] of a sweep on a cluster |
//!
//! # Size
//!
//! Points, machines and records are made when they are needed and not kept. A [`Plan`] has a key and a number
//! for each axis of a point, [`Results`] the place of its record in a journal, and its time and area. Charts
//! and the page keep the records that they show: all of a sweep of up to 20,000 points, or the front and a
//! sample.
//!
//! # Determinism
//!
//! Everything except the journals and the job is a function of the results: it is byte-identical
//! for any number of shards and any order of completion.

// A new instruction or pipe must not compile before every match over them treats it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod basis;
mod chart;
mod check;
mod checksums;
mod columns;
pub mod compose;
mod condition;
mod data;
#[allow(clippy::wildcard_enum_match_arm, reason = "its enums are values of TOML")]
mod definition;
mod exact;
mod execute;
pub mod explore;
mod front;
mod hashed;
mod journal;
mod key;
mod manifest;
mod measure;
mod meter;
mod names;
pub mod outputs;
mod page;
pub mod parameter;
mod parse;
mod plan;
mod point;
mod points;
mod progress;
mod quantity;
mod record;
mod replay;
mod resolver;
mod results;
mod run;
mod scatter;
pub mod schema;
mod shard;
pub mod slurm;
mod task;
pub mod tuning;
mod value;
mod verify;
mod view;
mod workload;

pub use basis::basis;
pub use condition::Condition;
pub use configs::FIG4;
pub use data::Data;
pub use definition::{Definition, ScheduleFor};
pub use execute::{Generate, Generated, execute, generate, records};
pub use front::{Constraint, Exploration, Goals};
pub use journal::{Journal, JournalError, is_sweep, line};
pub use key::{PointKey, PointKeyError};
pub use manifest::{Manifest, Reference, Source};
pub use measure::Measure;
pub use meter::Spent;
pub use parameter::Settings;
pub use plan::Plan;
pub use point::PlannedPoint;
pub use points::Points;
pub use progress::Counts;
pub use record::{Record, Status};
pub use replay::{AGAIN, Difference, Replay, ReplayError, Replayed, Verdict, check_presentation};
pub use results::Results;
pub use run::{Selection, run};
pub use shard::{Shard, ShardError};
pub use task::{GivenProgram, KernelTask, RingTask, Task};
pub use verify::{Verification, verify};
pub use workload::Workload;
