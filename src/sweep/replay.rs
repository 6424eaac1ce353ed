//! `rpu sweep replay`

use crate::failure::Failure;
use crate::files;
use lab_sweep::{AGAIN, Difference, PointKey, Replay, ReplayError, Replayed, Verdict, generate};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Folder of the sweep
    #[arg(value_name = "DIR", value_parser = files::folder())]
    folder: PathBuf,
    /// Key of the point in results.jsonl, or a prefix
    #[arg(value_name = "KEY")]
    key: String,
}

/// The maximum number of differences that are listed.
const TOLD: usize = 8;

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    let Replayed { key, line, verdict } = Replay::find(&args.folder, &args.key)?.run(&generate)?;
    files::print(format!("{line}\n").as_bytes())?;
    match verdict {
        Verdict::Same => {
            note!("point {key} agrees with its record");
            Ok(())
        }
        Verdict::NoRecord => Err(Failure::Work(format!("the journal has no record of point {key}"))),
        Verdict::Differs(differences) => Err(Failure::Work(differs(&key, &differences))),
    }
}

/// The differences of a point from its record, as text.
pub(super) fn differs(key: &PointKey, differences: &[Difference]) -> String {
    let version = differences.iter().find(|difference| difference.name == "simulator.model_version");
    let versions = version.map_or_else(String::new, |Difference { recorded, now, .. }| {
        format!(", which version {recorded} of the models gave; this rpu has version {now}")
    });
    let told: String = differences.iter().take(TOLD).map(|difference| format!("\n{difference}")).collect();
    let more = match differences.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!("\nand {more} more"),
    };
    format!("point {key} differs from its record{versions}{told}{more}")
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        let help = match &error {
            ReplayError::Unknown { .. } => "`results.jsonl` has the key of each point",
            ReplayError::Ambiguous { .. } => "give more of the key",
            ReplayError::Changed { .. } => "run the sweep again in a new folder",
            ReplayError::OtherFiles { .. } => AGAIN,
            ReplayError::Journal(_) | ReplayError::Config(_) | ReplayError::Output(_) => {
                return match error {
                    ReplayError::Journal(error) => error.into(),
                    ReplayError::Config(error) => error.into(),
                    ReplayError::Output(error) => error.into(),
                    error => Failure::wrong(error, None),
                };
            }
        };
        Failure::wrong(error, help)
    }
}
