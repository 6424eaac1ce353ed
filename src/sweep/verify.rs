//! `rpu sweep verify`

use super::pool;
use super::progress::{Progress, ProgressKind};
use super::replay::differs;
use crate::failure::Failure;
use crate::files;
use crate::numbers::{positive, threads, whole};
use lab_sweep::{Record, Verification, generate, verify};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Folder of the sweep
    #[arg(value_name = "DIR", value_parser = files::folder())]
    folder: PathBuf,
    /// Number of points; by default all that have a record
    #[arg(long, value_name = "N", value_parser = positive)]
    sample: Option<u32>,
    /// Seed that selects the sample
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "sample", value_parser = whole::<u64>)]
    seed: u64,
    /// Number of threads; by default one for each core
    #[arg(short = 'j', long, value_name = "THREADS", value_parser = threads)]
    threads: Option<usize>,
    /// Format of progress on standard error
    #[arg(long, value_enum, default_value = "auto", value_name = "HOW")]
    progress: ProgressKind,
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    let shown = Progress::new(args.progress);
    let progress = |points: usize, record: &Record| shown.done(points, record, &[]);
    let sample = args.sample.map(|sample| sample as usize);
    let found = pool(args.threads)?.install(|| verify(&args.folder, sample, args.seed, &generate, &progress));
    shown.finish();
    let Verification { verified, recorded, points, files: of_folder, differing } = found?;
    let agreeing = verified - differing.len();
    let summary = format!(
        "{agreeing} of {verified} points agree with their records; {recorded} of {points} are recorded\n"
    );
    files::print(summary.as_bytes())?;
    for file in &of_folder.drawn_otherwise {
        note!("`{file}` was drawn by another version of rpu from the same results, and is not compared");
    }
    let message = match (differing.first_key_value(), of_folder.altered.first()) {
        (Some((key, differences)), _) => {
            let first = differs(key, differences);
            let others: String =
                differing.keys().skip(1).map(|key| format!("\npoint {key} differs, too")).collect();
            format!("{first}{others}")
        }
        (None, _) if verified == 0 => {
            format!("`{}` has no record to verify", diagnostic::path(&args.folder))
        }
        (None, Some(file)) => {
            format!("`{file}` is not what the definition and the journals of the folder give")
        }
        (None, None) if recorded < points => {
            format!("{} of {points} points have no record", points - recorded)
        }
        (None, None) => return Ok(()),
    };
    Err(Failure::Work(message))
}
