//! `rpu explore slurm`

use super::SearchArgs;
use crate::failure::Failure;
use crate::job_array::{ArrayArgs, arguments};
use lab_sweep::explore::Space;
use lab_sweep::{Journal, Shard};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    array: ArrayArgs,
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    let SearchArgs { file, overrides, out, evaluations, seed } = &args.search;
    let manifest = Space::new(&args.search.definition()?)?.manifest();
    // The folder is that of this space, or an error says so now.
    drop(Journal::open(out, Shard::WHOLE, &manifest)?);
    let mut command = vec!["explore".to_owned()];
    command.extend(arguments(file.as_deref(), overrides, out)?);
    command.extend(["--evaluations".to_owned(), evaluations.to_string()]);
    command.extend(["--seed".to_owned(), seed.to_string()]);
    args.array.write(&manifest.name, args.array.tasks.get(), command, out)
}
