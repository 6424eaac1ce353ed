//! The paper's evaluation, regenerated: Figs. 4 to 11 and the claims C1 to C20.
//!
//! [`Reproduction::new`] simulates everything and computes every verdict; [`Reproduction::files`] turns
//! it into files. Everything in them follows from the code and the built-in machines, whatever the
//! number of threads, except for what [`cpu`] measures on the machine at hand: that goes to files
//! of its own and to one marked section of the page, which [`difference`] leaves out of the
//! comparison.
//!
//! | file | content |
//! |---|---|
//! | `claims.md`, `claims.json` | the claims with their verdicts |
//! | `leave-out.csv` | how the predictions of other training claims fare: see [`setting`] |
//! | `figN.svg`, `figN.png`, `figN.csv` | the figures and their data |
//! | `cpu.svg`, `cpu.png`, `cpu.csv` | what was measured on the machine at hand |
//! | `index.html` | all of it on one page |

mod baseline;
mod breakdown;
pub mod claims;
pub mod cpu;
mod document;
mod evaluation;
mod figure;
pub mod fit;
mod inconsistencies;
mod leave_out;
mod order;
mod others;
mod page;
mod scaling;
mod sensitivity;
pub mod setting;
mod table;
mod tradeoff;

use claims::{Assessment, CLAIMS, Tally};
use cpu::Measurements;
use evaluation::Evaluation;
use figure::Figure;
use leave_out::Account;
use others::Row;
use plot::PlotError;
use rayon::prelude::*;
use serde::Serialize;
use setting::{Space, Trials};
use sim::ConfigError;
use std::path::Path;
use thiserror::Error;

/// Why there is no reproduction.
#[derive(Debug, Error)]
pub enum Error {
    /// A built-in sweep is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A simulation failed.
    #[error("{sweep}: {reason}")]
    Failed {
        /// The sweep or program.
        sweep: String,
        /// What went wrong.
        reason: String,
    },
    /// A CPU transform cannot be set up.
    #[error("a CPU transform of {n} points modulo a prime of {bits} bits: {reason}")]
    Cpu {
        /// Bits of the modulus.
        bits: u32,
        /// Points.
        n: u32,
        /// What went wrong.
        reason: String,
    },
    /// A table that is built in lacks a row.
    #[error("there is no row {what}")]
    Missing {
        /// The row.
        what: String,
    },
    /// A figure cannot be drawn.
    #[error("{figure}: {error}")]
    Plot {
        /// Its name.
        figure: String,
        /// What went wrong.
        error: PlotError,
    },
    /// A table cannot be written as CSV.
    #[error(transparent)]
    Table(#[from] csv::Error),
    /// A document cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The paper's evaluation by our models.
#[derive(Clone, PartialEq, Debug)]
pub struct Reproduction {
    evaluation: Evaluation,
    /// The claims with their verdicts, C1 first.
    pub claims: Vec<Assessment>,
    /// How they end.
    pub tally: Tally,
    figures: Vec<Figure>,
    others: Vec<Row>,
    space: Space,
    trials: Trials,
    /// How the setting was chosen; none where there are no trials.
    account: Option<Account>,
}

/// A file by its name and content.
pub type File = (String, Vec<u8>);

/// `claims.json`.
#[derive(Serialize)]
struct ClaimsDocument<'a> {
    schema: u32,
    tally: Tally,
    claims: &'a [Assessment],
    other_machines: &'a [Row],
    inconsistencies: Vec<String>,
}

impl Reproduction {
    /// Simulates, in the current rayon pool; measures nothing.
    ///
    /// # Errors
    /// Where a transform cannot be generated or computes something else than the golden model.
    pub fn new() -> Result<Self, Error> {
        let evaluation = Evaluation::new()?;
        let space = Space::built_in()?;
        let trials = Trials::built_in(&space)?;
        let training = space.training_claims();
        let claims: Vec<Assessment> =
            CLAIMS.iter().map(|claim| claim.assess(&evaluation, &training)).collect();
        let figures = vec![
            tradeoff::area_against_latency(&evaluation),
            tradeoff::performance_per_area(&evaluation),
            breakdown::area_and_energy(&evaluation),
            order::optimised_against_unoptimised(&evaluation),
            sensitivity::multiplier(&evaluation),
            sensitivity::crossbars(&evaluation),
            scaling::runtime_by_size(&evaluation),
            baseline::over_cpu(&evaluation),
        ];
        let others = others::rows(&evaluation)?;
        let account = Account::new(&space, &trials);
        Ok(Self { tally: Tally::of(&claims), evaluation, claims, figures, others, account, space, trials })
    }

    /// The files; those of measurements only where there are any.
    ///
    /// # Errors
    /// Where a figure cannot be drawn.
    pub fn files(&self, measured: Option<&Measurements>) -> Result<Vec<File>, Error> {
        // A name, a drawing and its data.
        let mut drawings: Vec<_> = self
            .figures
            .iter()
            .map(|figure| (figure.name(), figure.drawing.clone(), &figure.table))
            .collect();
        let measured_table = measured.map(|measured| measured.table(&self.evaluation));
        if let (Some(measured), Some(table)) = (measured, &measured_table) {
            drawings.push(("cpu".into(), measured.drawing(&self.evaluation), table));
        }
        let drawn: Vec<[File; 3]> = drawings
            .par_iter()
            .map(|(name, drawing, table)| {
                let error = |error| Error::Plot { figure: name.clone(), error };
                Ok([
                    (format!("{name}.svg"), drawing.svg().map_err(error)?.into_bytes()),
                    (format!("{name}.png"), drawing.png().map_err(error)?),
                    (format!("{name}.csv"), table.csv()?),
                ])
            })
            .collect::<Result<_, Error>>()?;
        let svg = |number: usize| String::from_utf8_lossy(&drawn[number][0].1).into_owned();
        let svgs: Vec<String> = (0..drawn.len()).map(svg).collect();

        let document = ClaimsDocument {
            schema: 1,
            tally: self.tally,
            claims: &self.claims,
            other_machines: &self.others,
            inconsistencies: inconsistencies::list(),
        };
        let mut json = serde_json::to_string_pretty(&document)?;
        json.push('\n');
        let page = page::page(self, &svgs, measured.zip(measured_table.as_ref()));
        let mut files: Vec<File> = vec![
            ("index.html".into(), page.into_bytes()),
            ("claims.md".into(), document::markdown(self).into_bytes()),
            ("claims.json".into(), json.into_bytes()),
            ("leave-out.csv".into(), leave_out::table(&self.space, &self.trials).csv()?),
        ];
        files.extend(drawn.into_iter().flatten());
        Ok(files)
    }

    /// The verdicts as a text for people.
    pub fn summary(&self) -> String {
        document::summary(self)
    }
}

/// Compares files with those of the same name in a folder. PNG files must be there, but their
/// bytes may differ, as may the page's section of measurements. Returns the first that differs.
pub fn difference(files: &[File], folder: &Path) -> Option<String> {
    let differs = |(name, content): &&File| match std::fs::read(folder.join(name)) {
        Err(_) => true,
        Ok(_) if name.ends_with(".png") => false,
        Ok(found) if name.ends_with(".html") => page::unmeasured(&found) != page::unmeasured(content),
        Ok(found) => found != *content,
    };
    files.iter().find(differs).map(|(name, _)| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_file_that_differs_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| (name.to_owned(), content.as_bytes().to_vec());
        let files = [file("a.png", "1"), file("b.csv", "2"), file("c.csv", "3")];
        assert_eq!(difference(&files, folder.path()).as_deref(), Some("a.png"));
        for (name, content) in [("a.png", "other pixels"), ("b.csv", "2"), ("c.csv", "4")] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        assert_eq!(difference(&files, folder.path()).as_deref(), Some("c.csv"));
        std::fs::write(folder.path().join("c.csv"), "3").unwrap();
        assert_eq!(difference(&files, folder.path()), None);
    }
}
