//! The paper's evaluation, without the measurements of a processor, and what each reading of the paper does
//! to its claims.

use crate::page::{Files, repository, text};
use reproduction::setting::Space;
use reproduction::trials::Trials;
use reproduction::{Reproduction, reading};

pub(crate) fn evaluation() -> Files {
    let files = reproduction::files(&Reproduction::new()?, None)?;
    // The page has a section of measurements, which only `rpu reproduce` makes.
    let files = reproduction::with_measurements_of(files, &repository("reports/paper"));
    Ok(files.into_iter().map(|(name, content)| (format!("reports/paper/{name}"), content)).collect())
}

pub(crate) fn setting() -> Files {
    let space = Space::built_in()?;
    let page = reading::page(&space, &Trials::built_in(&space)?).ok_or("no detailed reading")?;
    Ok(vec![text("reports/paper-setting.md", page)])
}
