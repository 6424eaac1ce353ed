//! One program on one machine: execution, comparison with the golden model, timing, report.
//!
//! [`execute`](run) gives a [`RunReport`], the document of a run. Documents are compared ([`Comparison`]) and
//! shown as tables and pages. Witnesses that share no arithmetic are compared by [`crosscheck`].
//!
//! ```
//! use lab_run::{Options, run};
//!
//! let program = b512_asm::assemble(
//!     ".input x, 512\n.output y, 512\n.modulus m0, 0x3001\n.computes y = add(x, x), n=512, modulus=0x3001\n\
//!      vload v0, a0, x\nvadd v1, v0, v0, m0\nvstore v1, a0, y\nhalt\n",
//! )?;
//! let options = Options { check: true, ..Options::default() };
//! let outcome = run(&program, &sim::Machine::rpu_128x128(), &options)?;
//! assert!(outcome.report.checked);
//! println!("{}", lab_run::table(&outcome.report));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate does no terminal input or output.

// A new instruction or pipe must not compile before every match over them treats it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod crosscheck;
mod diff;
mod execute;
pub mod files;
mod form;
pub mod inputs;
pub mod json;
pub mod kernel;
mod mapping;
pub mod model;
mod npy;
mod page;
pub mod page_parts;
mod pipes;
pub mod program;
mod report;
mod ring;
mod ring_file;
mod ring_page;
mod speedscope;
mod stages;
mod stream;
mod table;

pub use diff::{Compared, Comparison, Delta};
pub use execute::{
    Execution, Mode, Options, Outcome, RunError, admit, check_coverage, check_defects, check_on_random_data,
    inputs_of, is_claimed, is_compared, random_seeds, run,
};
pub use form::Form;
pub use inputs::{InputError, draw};
pub use mapping::{mapping_schema, parse_mapping};
pub use page::page;
pub use pipes::{Instructions, Utilisation, Waits};
pub use report::{Bounds, Claim, ProgramFacts, RunReport, SCHEMA, Simulator, program_blake3, ring_blake3};
pub use ring::{RingData, RingRun, idle_outputs};
pub use ring_file::RingFile;
pub use ring_page::ring_page;
pub use speedscope::speedscope;
pub use stages::StageCost;
pub use stream::{Bottleneck, OffChip, StreamReport};
pub use table::{ghz, size_and_clock, table};
