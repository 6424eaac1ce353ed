//! Tables of the form of `results.csv`.

use super::ComposeError;
use crate::definition::MAX_POINTS;
use crate::measure::Measure;
use crate::parameter::Settings;
use crate::value::whole;
use csv::StringRecord;
use ring_program::compression;
use serde_json::Value;
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;

/// The columns of a table before those of the settings.
pub(super) const LEADING: [&str; 3] = [KEY, "status", "pareto"];
/// The column of the key of a point.
pub(super) const KEY: &str = "key";
/// The longest row in bytes.
const LONGEST_ROW: usize = 1 << 20;

/// The rows of designs that ran.
pub(super) struct Table {
    pub(super) header: Vec<String>,
    rows: Vec<StringRecord>,
}

impl Table {
    /// Reads a file, which may be compressed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is no such table, or has more rows than a sweep has
    /// points.
    pub(super) fn read(path: &Path) -> Result<Self, ComposeError> {
        let wrong = |reason| ComposeError::Table { path: path.into(), reason };
        let failed = |error: csv::Error| wrong(error.to_string());
        let text = compression::open(path).map_err(|error| failed(error.into()))?;
        let mut reader = csv::Reader::from_reader(ShortRows { inner: text, left: LONGEST_ROW });
        let header: Vec<String> = reader.headers().map_err(failed)?.iter().map(str::to_owned).collect();
        let needed = LEADING[..2].iter().chain(&["time_us"]);
        if let Some(missing) = needed.into_iter().find(|needed| !header.iter().any(|name| name == *needed)) {
            return Err(wrong(format!("no column `{missing}`: expected the columns of results.csv")));
        }
        let mut names = HashSet::new();
        if let Some(twice) = header.iter().find(|name| !names.insert(*name)) {
            return Err(wrong(format!("two columns `{twice}`")));
        }
        let at = |name| header.iter().position(|column| column == name);
        let status = at(LEADING[1]);
        let measures: Vec<(usize, Measure)> =
            (0..header.len()).filter_map(|column| Some((column, Measure::find(&header[column])?))).collect();
        let mut rows = Vec::new();
        for (number, row) in reader.records().enumerate() {
            if number == MAX_POINTS {
                return Err(wrong(format!("more than {MAX_POINTS} rows: no sweep has as many points")));
            }
            let row = row.map_err(failed)?;
            if status.and_then(|status| row.get(status)) != Some("ok") {
                continue;
            }
            for (column, measure) in &measures {
                let cell = row.get(*column).unwrap_or_default();
                if cell.is_empty() {
                    continue;
                }
                let line = row.position().map_or(0, csv::Position::line);
                let in_line = |reason| wrong(format!("line {line}: {reason}"));
                let name = &header[*column];
                let not_finite = || in_line(format!("`{name}` is `{cell}`, not a finite number"));
                let value = parsed(cell).as_f64().ok_or_else(not_finite)?;
                measure.check(value).map_err(in_line)?;
            }
            rows.push(row);
        }
        Ok(Self { header, rows })
    }

    /// Whether rows differ in a column.
    pub(super) fn varies(&self, name: &str) -> bool {
        let Some(column) = self.header.iter().position(|known| known == name) else { return false };
        let cell = |row: &StringRecord| row.get(column).unwrap_or_default().to_owned();
        let Some(first) = self.rows.first().map(cell) else { return false };
        let of_first = parsed(&first);
        self.rows.iter().map(cell).any(|cell| cell != first && parsed(&cell) != of_first)
    }

    /// Removes the rows: the cells of each, by column, without those that are empty.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Settings> {
        let header = &self.header;
        let value = |name: &str, cell: &str| if name == KEY { cell.into() } else { parsed(cell) };
        std::mem::take(&mut self.rows).into_iter().map(move |row| {
            let cells = header.iter().zip(row.iter()).filter(|(_, cell)| !cell.is_empty());
            cells.map(|(name, cell)| (name.clone(), value(name, cell))).collect()
        })
    }
}

/// The value of a cell: a number or a switch where it is one. Equal numbers have the same value.
fn parsed(cell: &str) -> Value {
    let number = || {
        let number = cell.parse::<f64>().ok().filter(|number| number.is_finite())?;
        Some(whole(number).map_or_else(|| Value::from(number), Value::from))
    };
    match (cell.parse::<u64>(), cell.parse::<bool>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(switch)) => switch.into(),
        _ => number().unwrap_or_else(|| cell.into()),
    }
}

/// A text whose rows have a limit: a compressed file of a few bytes holds a long one.
struct ShortRows<R> {
    inner: R,
    /// The bytes that may still follow in this row.
    left: usize,
}

impl<R: Read> Read for ShortRows<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let mut parts = buffer[..read].split(|&byte| byte == b'\n').map(<[u8]>::len);
        let first = parts.next().unwrap_or(0);
        if first > self.left {
            let message = format!("a row has more than {LONGEST_ROW} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        // Rows within a buffer are short.
        self.left = parts.next_back().map_or(self.left - first, |last| LONGEST_ROW.saturating_sub(last));
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_the_same_value() {
        for (cell, value) in [
            ("17", 17.into()),
            ("17.0", 17.into()),
            ("1.7e1", 17.into()),
            ("1.5", 1.5.into()),
            // No `f64` has this value.
            ("9007199254740993", 9_007_199_254_740_993_u64.into()),
            ("true", true.into()),
            ("nan", Value::from("nan")),
            ("0x11", Value::from("0x11")),
        ] {
            assert_eq!(parsed(cell), value, "{cell}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        std::fs::write(&path, "key,status,time_us,a,b,c\n1,ok,1,8,8,x\n2,ok,1,8.0,9,y\n3,failed,,7,8,x\n")
            .unwrap();
        let table = Table::read(&path).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|name| table.varies(name)), [false, true, true, false]);
        std::fs::write(&path, "key,status,time_us,a\n1,failed,,8\n").unwrap();
        assert!(!Table::read(&path).unwrap().varies("a"));
    }

    #[test]
    fn rows_and_their_number_have_limits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        let refused = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Table::read(&path).err().map(|error| error.to_string()).unwrap_or_default()
        };
        let header = "key,status,time_us\n";
        assert_eq!(refused(&format!("{header}a,ok,1\n")), "");
        assert_eq!(refused(&format!("{header}{},ok,1\n", "x".repeat(LONGEST_ROW - ",ok,1".len()))), "");
        let long = "x".repeat(LONGEST_ROW);
        assert!(refused(&format!("{header}{long},ok,1\n")).ends_with("a row has more than 1048576 bytes"));
        assert!(refused(&",".repeat(LONGEST_ROW + 1)).ends_with("a row has more than 1048576 bytes"));
        let reason = |text: &str| refused(text).split_once(": ").map(|(_, reason)| reason.to_owned());
        let reasons = [
            ("key,status,time_us,n,n\na,ok,1,2,3\n", "two columns `n`"),
            ("key,status\na,ok\n", "no column `time_us`: expected the columns of results.csv"),
            ("key,status,time_us\na,ok,1\nb,ok,nan\n", "line 3: `time_us` is `nan`, not a finite number"),
            ("key,status,time_us\na,ok,1e400\n", "line 2: `time_us` is `1e400`, not a finite number"),
            ("key,status,time_us\na,ok,-1\n", "line 2: `time_us` is -1, not between 0 and 1e30"),
        ];
        for (text, expected) in reasons {
            assert_eq!(reason(text).as_deref(), Some(expected), "{text}");
        }
        let many = format!("{header}{}", "a,ok,1\n".repeat(MAX_POINTS + 1));
        assert!(refused(&many).ends_with("more than 1000000 rows: no sweep has as many points"));
    }
}
