//! Reading journals, block by block.

use super::{CHECKSUM, JournalError, checksum, io_error};
use crate::key::PointKey;
use crate::measure::{Busy, Costs, Measure};
use crate::record::{Outcome, Status};
use diagnostic::input;
use rayon::prelude::*;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// The bytes that are read at a time.
const BLOCK: u64 = 8 << 20;
/// The longest line, in bytes.
const MAX_LINE: usize = 64 << 20;

/// A complete record in a journal.
pub(crate) struct Entry<'l> {
    pub(crate) key: PointKey,
    pub(crate) outcome: Outcome,
    /// Whether the results were compared with the golden model; `None` without a run.
    pub(crate) checked: Option<bool>,
    /// The version of the models that gave its result.
    pub(crate) model: Option<u32>,
    /// Its text, without the end of the line.
    pub(crate) line: &'l str,
    /// The index of its journal.
    pub(crate) journal: usize,
    /// The number of its line, from 1.
    pub(crate) number: usize,
    /// The position of its text in the journal, in bytes.
    pub(crate) offset: u64,
}

/// The part of a record that later decisions need.
struct Head {
    key: PointKey,
    status: Status,
    checked: Option<bool>,
    model: Option<u32>,
    costs: Costs,
}

impl Head {
    fn outcome(&self) -> Outcome {
        let has_costs = self.status == Status::Ok && self.costs.is_timed();
        Outcome { status: self.status, costs: has_costs.then_some(self.costs) }
    }
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(record: D) -> Result<Self, D::Error> {
        let mut keys = Keys { key: None, status: None, checked: None, model: None, costs: Costs::UNKNOWN };
        record.deserialize_map(&mut keys)?;
        let Keys { key, status, checked, model, costs } = keys;
        let key = key.ok_or_else(|| D::Error::missing_field("key"))?;
        let status = status.ok_or_else(|| D::Error::missing_field("status"))?;
        Ok(Self { key, status, checked, model, costs })
    }
}

/// The keys of a record so far.
struct Keys {
    key: Option<PointKey>,
    status: Option<Status>,
    checked: Option<bool>,
    model: Option<u32>,
    costs: Costs,
}

impl<'de> Visitor<'de> for &mut Keys {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut record: M) -> Result<(), M::Error> {
        while let Some(key) = record.next_key::<Cow<'_, str>>()? {
            match &*key {
                "key" => self.key = Some(record.next_value()?),
                "status" => self.status = Some(record.next_value()?),
                "checked" => self.checked = Some(record.next_value()?),
                "simulator" => {
                    let simulator: Simulator = record.next_value()?;
                    self.model = Some(simulator.model_version);
                }
                "hbm" => {
                    let Some(hbm): Option<OffChip> = record.next_value()? else { continue };
                    if let Some(time) = hbm.total_us {
                        let measure = Measure::StreamUs;
                        self.costs.set(measure, measure.check(time).map_err(M::Error::custom)?);
                    }
                    hbm.busy.into_iter().for_each(|share| self.costs.set_busy(Busy::Channel, share));
                }
                "compute" => {
                    let kernels: Option<Kernels> = record.next_value()?;
                    kernels.into_iter().for_each(|kernels| self.costs.set_busy(Busy::Kernels, kernels.busy));
                }
                key => match Measure::find(key) {
                    Some(measure) => {
                        let value: Option<f64> = record.next_value()?;
                        if let Some(value) = value {
                            self.costs.set(measure, measure.check(value).map_err(M::Error::custom)?);
                        }
                    }
                    None => drop(record.next_value::<IgnoredAny>()?),
                },
            }
        }
        Ok(())
    }
}

/// The off-chip memory in a run: of a stream of runs, the time; of a ring program, the busy share.
#[derive(Deserialize)]
struct OffChip {
    total_us: Option<f64>,
    busy: Option<f64>,
}

/// The kernels of a ring program.
#[derive(Deserialize)]
struct Kernels {
    busy: f64,
}

/// The version of the models in a record.
#[derive(Deserialize)]
struct Simulator {
    model_version: u32,
}

/// The version of the models that gave the result in the line of a journal.
pub(crate) fn model_of_line(line: &str) -> Option<u32> {
    #[derive(Deserialize)]
    struct Record {
        simulator: Simulator,
    }
    let record: Record = serde_json::from_str(line).ok()?;
    Some(record.simulator.model_version)
}

/// Calls `visit` with every complete record of some journals. One block of a journal is in memory at a time.
pub(crate) fn for_each_record(
    journals: &[PathBuf],
    visit: &mut dyn FnMut(Entry<'_>) -> Result<(), JournalError>,
) -> Result<(), JournalError> {
    for (journal, path) in journals.iter().enumerate() {
        let mut file = input::open_stored(path).map_err(io_error(path))?;
        let (mut block, mut begin, mut first) = (Vec::new(), 0, 1);
        let wrong =
            |number: usize, reason: String| JournalError::Line { path: path.clone(), line: number, reason };
        loop {
            let part = block.len();
            let read = (&mut file).take(BLOCK).read_to_end(&mut block).map_err(io_error(path))?;
            // What follows the last end of a line is a part of a record.
            let newline = block[part..].iter().rposition(|&byte| byte == b'\n');
            let whole = newline.map_or(0, |newline| part + newline + 1);
            if block.len() - whole > MAX_LINE {
                return Err(wrong(first, format!("it has more than {MAX_LINE} bytes")));
            }
            let lines: Vec<&[u8]> = block[..whole].split_inclusive(|&byte| byte == b'\n').collect();
            let entries: Vec<Entry<'_>> = lines
                .par_iter()
                .enumerate()
                .filter_map(|(index, line)| {
                    let number = first + index;
                    let entry = read_line(&line[..line.len() - 1])?.map(|(head, line)| Entry {
                        key: head.key,
                        outcome: head.outcome(),
                        checked: head.checked,
                        model: head.model,
                        line,
                        journal,
                        number,
                        offset: begin + (line.as_ptr() as usize - block.as_ptr() as usize) as u64,
                    });
                    Some(entry.map_err(|reason| wrong(number, reason)))
                })
                .collect::<Result<_, JournalError>>()?;
            entries.into_iter().try_for_each(&mut *visit)?;
            first += lines.len();
            block.drain(..whole);
            begin += whole as u64;
            if read == 0 {
                break;
            }
        }
    }
    Ok(())
}

/// The length of a journal up to its last end of a line, in bytes.
pub(super) fn whole_length(file: &mut File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut block = Vec::new();
    while end > 0 {
        let begin = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(begin))?;
        block.clear();
        file.take(end - begin).read_to_end(&mut block)?;
        if let Some(newline) = block.iter().rposition(|&byte| byte == b'\n') {
            return Ok(begin + newline as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

/// Head and text of the record in a line; `None` if it has none. After a full disk, a record may follow a
/// part of another on one line.
fn read_line(line: &[u8]) -> Option<Result<(Head, &str), String>> {
    const BEGIN: &[u8] = b"{\"key\":";
    let whole = read_record(line);
    if whole.is_ok() {
        return Some(whole);
    }
    let begins = line.starts_with(BEGIN) || BEGIN.starts_with(line);
    if begins && (!line.ends_with(b"}") || is_part(line)) {
        return None;
    }
    if !line.ends_with(b"}") {
        return Some(whole);
    }
    let starts = line.windows(BEGIN.len()).enumerate().skip(1).filter(|(_, bytes)| *bytes == BEGIN);
    let torn = starts.filter_map(|(at, _)| read_record(&line[at..]).ok()).next();
    Some(torn.map_or(whole, Ok))
}

/// Whether a line that ends with a brace ends within a record: it has neither a checksum nor all closing
/// braces.
fn is_part(line: &[u8]) -> bool {
    let has_checksum = line.windows(CHECKSUM.len()).any(|bytes| bytes == CHECKSUM.as_bytes());
    !has_checksum && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err()
}

/// Head and text of a record.
fn read_record(line: &[u8]) -> Result<(Head, &str), String> {
    let line = str::from_utf8(line).map_err(|error| error.to_string())?;
    let (content, sum) = line.rsplit_once(CHECKSUM).ok_or("it has no checksum")?;
    if sum.strip_suffix("\"}") != Some(&checksum(content)) {
        return Err("its checksum does not match its text".to_owned());
    }
    let head = serde_json::from_str(line).map_err(|error| diagnostic::reason(&error.to_string()))?;
    Ok((head, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with costs and its end of line.
    fn line(status: &str, cycles: u64) -> String {
        let key = "0".repeat(32);
        let costs = format!("\"cycles\":{cycles},\"time_us\":1.5,\"area_mm2\":2.5,\"energy_uj\":3.5");
        let content = format!("{{\"key\":\"{key}\",\"status\":\"{status}\",{costs}");
        format!("{content}{CHECKSUM}{}\"}}\n", checksum(&content))
    }

    fn journal(text: &str) -> (tempfile::TempDir, [PathBuf; 1]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, text).unwrap();
        (folder, [path])
    }

    /// Else it would lie on a front.
    #[test]
    fn a_failed_record_has_no_costs() {
        let (_folder, paths) = journal(&(line("failed", 7) + &line("ok", 8)));
        let mut cycles = Vec::new();
        for_each_record(&paths, &mut |entry| {
            cycles.push((entry.outcome.status, entry.outcome.costs.map(|costs| Measure::Cycles.of(&costs))));
            Ok(())
        })
        .unwrap();
        assert_eq!(cycles, [(Status::Failed, None), (Status::Ok, Some(8.0))]);
    }

    #[test]
    fn a_record_is_an_object() {
        let content = "[1";
        let (_folder, paths) = journal(&format!("{content}{CHECKSUM}{}\"}}\n", checksum(content)));
        let error = for_each_record(&paths, &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("expected a record"), "{error}");
    }

    #[test]
    fn costs_have_a_range() {
        for (wrong, reason) in [("-1", "`time_us` is -1, not between"), ("1e300", "`time_us` is 1000")] {
            let content = format!("{{\"key\":\"{}\",\"status\":\"ok\",\"time_us\":{wrong}", "0".repeat(32));
            let (_folder, paths) = journal(&format!("{content}{CHECKSUM}{}\"}}\n", checksum(&content)));
            let error = for_each_record(&paths, &mut |_| Ok(())).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn lines_and_places_are_those_of_the_file_in_every_block() {
        let record = line("ok", 8);
        let count = 2 * BLOCK as usize / record.len() + 3;
        let damaged = record.replacen("1.5", "1.6", 1);
        let (_folder, paths) = journal(&(record.repeat(count) + &damaged + &record));
        let mut seen = 0;
        let error = for_each_record(&paths, &mut |entry| {
            assert_eq!((entry.number, entry.offset), (seen + 1, (seen * record.len()) as u64));
            assert_eq!(entry.line, record.trim_end());
            seen += 1;
            Ok(())
        })
        .unwrap_err();
        // The lines before it in its block are not visited.
        assert!(seen > count / 2 && seen <= count, "{seen} of {count}");
        let expected = format!(":{}: invalid record: its checksum does not match its text", count + 1);
        assert!(error.to_string().ends_with(&expected), "{error}");
    }
    #[test]
    fn a_line_has_at_most_64_mib() {
        // A part of a record, as far as anyone knows.
        let zeros = |length: usize| {
            let (_folder, paths) = journal("");
            File::create(&paths[0]).unwrap().set_len(length as u64).unwrap();
            for_each_record(&paths, &mut |_| unreachable!("there is no record"))
        };
        assert!(zeros(MAX_LINE).is_ok());
        let error = zeros(MAX_LINE + 1).unwrap_err().to_string();
        assert!(error.ends_with(":1: invalid record: it has more than 67108864 bytes"), "{error}");

        // Complete lines do not count.
        let torn = format!("{{\"key\":{}\n", " ".repeat(MAX_LINE / 8 * 5));
        let (_folder, paths) = journal(&(torn + &line("ok", 8)));
        let mut numbers = Vec::new();
        for_each_record(&paths, &mut |entry| {
            numbers.push(entry.number);
            Ok(())
        })
        .unwrap();
        assert_eq!(numbers, [2]);
    }
}
