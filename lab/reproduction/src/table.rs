//! Tables of results, and number formats.

/// A table, for CSV.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Table {
    /// Names of the columns, each with its unit.
    pub header: Vec<&'static str>,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The table as CSV.
    ///
    /// # Errors
    /// Returns an error if a row and the header differ in length.
    pub(super) fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.header)?;
        for row in &self.rows {
            writer.write_record(row)?;
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    }
}

/// A number with `digits` significant digits, without trailing zeros after the point.
pub(super) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.abs().to_string();
    }
    // Rounding may add a digit, as from 9.99 to 10.0.
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number in a CSV file: six significant digits, so that it does not depend on the last bit of a
/// logarithm.
pub(super) fn cell(value: f64) -> String {
    significant(value, 6)
}

/// The display form of a ring size: `64K`.
pub(super) fn size(n: u32) -> String {
    format!("{}K", n / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_digits() {
        let all = [0.0, 6.7299, 0.041, 49.18, 9.996, 1484.0, 123_456.7, -2.5];
        let texts: Vec<String> = all.iter().map(|&value| significant(value, 3)).collect();
        assert_eq!(texts, ["0", "6.73", "0.041", "49.2", "10", "1484", "123457", "-2.5"]);
        assert_eq!(size(65536), "64K");
    }

    #[test]
    fn a_table_is_csv() {
        let table = Table { header: vec!["a", "b (us)"], rows: vec![vec!["1".into(), "2, 3".into()]] };
        assert_eq!(String::from_utf8(table.csv().unwrap()).unwrap(), "a,b (us)\n1,\"2, 3\"\n");
    }
}
