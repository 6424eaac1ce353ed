//! `rpu fit`

use crate::failure::Failure;
use crate::files;
use diagnostic::input::Content;
use indicatif::{ProgressBar, ProgressStyle};
use reproduction::fit::{self, Claims, FitError};
use reproduction::setting::Space;
use reproduction::trials::{Log, LogError, Trials};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Claims file; without one, the paper's: configs/tech/gf12.claims.toml
    #[arg(value_name = "CLAIMS.toml")]
    claims: Option<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Simulate the candidate settings of the paper's program instead, and write their effect on
    /// the claims: lab/reproduction/data/paper-setting.csv. Slow
    #[arg(long, conflicts_with = "claims")]
    setting: bool,
    /// With --setting, the file in which results are collected. A run that was killed goes on with it. By
    /// default, it is beside the output, and is deleted at the end
    #[arg(long, value_name = "FILE", requires = "setting")]
    log: Option<PathBuf>,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if args.setting {
        let space = Space::built_in()?;
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} candidates, {eta} left");
        let bar = ProgressBar::new(0).with_style(style.expect("the template is right"));
        let beside = || if files::is_dash(&args.output) { None } else { Log::beside(&args.output) };
        let log = args.log.clone().or_else(beside).map(|path| Log::open(&path, &space)).transpose()?;
        let trials = Trials::run(&space, log.as_ref(), &|done, total| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        })?;
        bar.finish_and_clear();
        note!("{} of {} candidates agree with C1", trials.all.len(), space.size());
        files::write(&args.output, &trials.csv(&space)?)?;
        return match log {
            Some(log) if args.log.is_none() => Ok(log.remove()?),
            Some(_) | None => Ok(()),
        };
    }
    let claims = match &args.claims {
        None => Claims::parse("built-in gf12.claims", fit::GF12_CLAIMS)?,
        Some(path) => {
            let (name, text) = files::read_text(path, Content::Document)?;
            Claims::parse(&name, &text)?
        }
    };
    let fitted = fit::paper_events().and_then(|events| fit::fit(&claims, &events))?;
    files::write(&args.output, fitted.file().as_bytes())
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Self {
        match error {
            FitError::Config(error) => error.into(),
            error => Self::wrong(error, None),
        }
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        let help = match &error {
            LogError::Other { .. } | LogError::OtherModel { .. } => {
                Some("name another file with --log, or delete this one")
            }
            LogError::Io { .. } => None,
        };
        Failure::wrong(error, help)
    }
}
