//! A reproduction as files.

use crate::claims::{Assessment, Tally};
use crate::cpu::Measurements;
use crate::others::Row;
use crate::{Error, Reproduction, document, inconsistencies, leave_out, page};
use diagnostic::input::{self, Content};
use rayon::prelude::*;
use serde::Serialize;
use std::path::Path;

/// A file: name and content.
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

/// The files of a reproduction, measurements included if there are any.
///
/// # Errors
/// Returns an error if a figure cannot be drawn.
pub fn files(reproduction: &Reproduction, measured: Option<&Measurements>) -> Result<Vec<File>, Error> {
    // Name, drawing and data.
    let mut drawings: Vec<_> = reproduction
        .figures
        .iter()
        .map(|figure| (figure.name(), figure.drawing.clone(), &figure.table))
        .collect();
    let measured_table = measured.map(|measured| measured.table(&reproduction.evaluation));
    if let (Some(measured), Some(table)) = (measured, &measured_table) {
        drawings.push(("cpu".into(), measured.drawing(&reproduction.evaluation), table));
    }
    let drawn: Vec<([File; 3], Vec<String>)> = drawings
        .par_iter()
        .map(|(name, drawing, table)| {
            let error = |error| Error::Plot { figure: name.clone(), error };
            let files = [
                (format!("{name}.svg"), drawing.svg().map_err(error)?.into_bytes()),
                (format!("{name}.png"), drawing.png().map_err(error)?),
                (format!("{name}.csv"), table.csv()?),
            ];
            let panels = drawing.apart(page::PANEL).map(|panel| panel.svg().map_err(error));
            Ok((files, panels.collect::<Result<_, _>>()?))
        })
        .collect::<Result<_, Error>>()?;
    let (drawn, svgs): (Vec<_>, Vec<_>) = drawn.into_iter().unzip();

    let document = ClaimsDocument {
        schema: 1,
        tally: reproduction.tally,
        claims: &reproduction.claims,
        other_machines: &reproduction.others,
        inconsistencies: inconsistencies::list(),
    };
    let mut json = serde_json::to_string_pretty(&document)?;
    json.push('\n');
    let page = page::page(reproduction, &svgs, measured.zip(measured_table.as_ref()));
    let mut files: Vec<File> = vec![
        ("index.html".into(), page.into_bytes()),
        ("claims.md".into(), document::markdown(reproduction).into_bytes()),
        ("claims.json".into(), json.into_bytes()),
        ("leave-out.csv".into(), leave_out::table(&reproduction.space, &reproduction.trials).csv()?),
    ];
    files.extend(drawn.into_iter().flatten());
    Ok(files)
}

/// The verdicts as text for a terminal.
pub fn summary(reproduction: &Reproduction) -> String {
    document::summary(reproduction)
}

/// Compares files with the files of the same name in a folder. PNG files are not compared by their bytes, nor
/// is the page's section of measurements. Returns the name of the first file that differs.
pub fn difference(files: &[File], folder: &Path) -> Option<String> {
    let differs = |(name, content): &&File| match input::read(&folder.join(name), Content::Document) {
        Err(_) => true,
        Ok(_) if name.ends_with(".png") => false,
        Ok(found) if name.ends_with(".html") => page::unmeasured(&found) != page::unmeasured(content),
        Ok(found) => found != *content,
    };
    files.iter().find(differs).map(|(name, _)| name.clone())
}

/// The files with the measurements of the page in a folder, if it has one.
pub fn with_measurements_of(files: Vec<File>, folder: &Path) -> Vec<File> {
    let with = |(name, content): File| match input::read(&folder.join(&name), Content::Document) {
        Ok(old) if name.ends_with(".html") => {
            let page = page::with_measurements(&content, &old);
            (name, page)
        }
        _ => (name, content),
    };
    files.into_iter().map(with).collect()
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
