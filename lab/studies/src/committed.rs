//! Numbers of committed pages: what a summary says of a study is what its page says.

use crate::page::{Fault, repository};
use std::fs::read_to_string;

/// The rows of the tables in a section of a page that have the same columns.
pub(crate) struct Table {
    place: String,
    columns: Vec<String>,
    /// The cells of these columns.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// The tables below a heading of a page of `reports` that have these columns.
    ///
    /// # Errors
    /// Returns an error if the page has no such heading or table.
    pub(crate) fn read(page: &str, heading: &str, columns: &[&str]) -> Result<Self, Fault> {
        let text = read_to_string(repository("reports").join(page))?;
        let place = format!("`reports/{page}`, {heading}");
        let below = text.lines().skip_while(|line| line.trim_start_matches('#').trim() != heading);
        let section: Vec<&str> = below.skip(1).take_while(|line| !line.starts_with('#')).collect();
        let mut all =
            Self { place, columns: columns.iter().map(|own| (*own).to_owned()).collect(), rows: Vec::new() };
        for table in section.split(|line| !line.starts_with('|')) {
            let [head, _, rows @ ..] = table else { continue };
            let head = cells(head);
            let places = columns.iter().map(|column| head.iter().position(|own| own == column));
            let Some(places) = places.collect::<Option<Vec<usize>>>() else { continue };
            all.rows.extend(rows.iter().map(|row| {
                let cells = cells(row);
                places.iter().map(|&place| cells.get(place).cloned().unwrap_or_default()).collect()
            }));
        }
        if all.rows.is_empty() {
            return Err(format!("{}: no table with the columns {}", all.place, columns.join(", ")).into());
        }
        Ok(all)
    }

    /// The table with the rows only whose cell of a column passes.
    pub(crate) fn rows(mut self, column: &str, passes: impl Fn(&str) -> bool) -> Result<Self, Fault> {
        let place = self.place_of(column)?;
        self.rows.retain(|row| passes(&row[place]));
        Ok(self)
    }

    /// The least and the largest number of a column. Units behind numbers are left out.
    ///
    /// # Errors
    /// Returns an error if a cell has no number, or no row is left.
    pub(crate) fn range(&self, column: &str) -> Result<[f64; 2], Fault> {
        let place = self.place_of(column)?;
        let number = |row: &Vec<String>| {
            let text = row[place].trim_end_matches(|end: char| !end.is_ascii_digit());
            text.parse::<f64>().map_err(|_| format!("{}: `{}` is no number", self.place, row[place]))
        };
        let numbers: Vec<f64> = self.rows.iter().map(number).collect::<Result<_, _>>()?;
        if numbers.is_empty() {
            return Err(format!("{}: no row for `{column}`", self.place).into());
        }
        let fold = |of: fn(f64, f64) -> f64| numbers.iter().copied().reduce(of).unwrap_or(f64::NAN);
        Ok([fold(f64::min), fold(f64::max)])
    }

    /// The only text of a column.
    pub(crate) fn only(&self, column: &str) -> Result<&str, Fault> {
        let place = self.place_of(column)?;
        match &self.rows[..] {
            [row] => Ok(&row[place]),
            rows => Err(format!("{}: {} rows for `{column}`, not one", self.place, rows.len()).into()),
        }
    }

    fn place_of(&self, column: &str) -> Result<usize, Fault> {
        let place = self.columns.iter().position(|own| own == column);
        place.ok_or_else(|| format!("{}: no column `{column}`", self.place).into())
    }
}

/// The cells of a row of a table; none of another line.
fn cells(line: &str) -> Vec<String> {
    let inner = line.strip_prefix('|').and_then(|line| line.trim_end().strip_suffix('|'));
    inner.map_or_else(Vec::new, |line| line.split('|').map(|cell| cell.trim().to_owned()).collect())
}
