//! Niobium's manifest, `fhetch_replay.json`, and the files that it names.

use super::{Manifest, NamedIds, read_text};
use crate::{LimbId, SENTINEL};
use diagnostic::document::{Format, Schema};
use diagnostic::input::{self, Content};
use diagnostic::{Code, Diagnostic, Diagnostics};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The schemas of a recording's files.
const REPLAY: &str = include_str!("../../schema/replay.json");
const INPUTS: &str = include_str!("../../schema/replay-inputs.json");
const OUTPUTS: &str = include_str!("../../schema/replay-outputs.json");

#[derive(Deserialize)]
struct Replay {
    crypto_context: CryptoContext,
    #[serde(default)]
    files: Files,
}

#[derive(Deserialize)]
struct CryptoContext {
    ring_dimension: u64,
    #[serde(default)]
    modulus_chain: Vec<u64>,
}

#[derive(Default, Deserialize)]
struct Files {
    inputs: Option<PathBuf>,
    outputs: Option<PathBuf>,
    evalmult_ids: Option<PathBuf>,
    evalautomorphism_ids: Option<PathBuf>,
    bootstrap_precomp_ids: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Inputs {
    input_count: Option<u64>,
    inputs: Vec<Input>,
}

#[derive(Deserialize)]
struct Input {
    name: String,
    ids_file: PathBuf,
}

#[derive(Deserialize)]
struct Outputs {
    outputs: Vec<Output>,
}

#[derive(Deserialize)]
struct Output {
    name: String,
    ciphertext_data: Vec<Polynomial>,
}

#[derive(Deserialize)]
struct Polynomial {
    poly_index: Option<u64>,
    elements: Vec<u64>,
}

/// Reads a file of a recording.
fn read<T: DeserializeOwned>(schema: &str, file: &str, text: &str) -> Result<T, Diagnostics> {
    Schema::new(Format::Manifest, schema).read_json(file, text)
}

/// Refuses names of several lines: reports have a line for each.
fn check_names<'n>(file: &str, names: impl Iterator<Item = &'n String>) -> Result<(), Diagnostic> {
    let mut names = names.filter(|name| !diagnostic::is_line(name));
    names.next().map_or(Ok(()), |name| {
        let message = format!("the name `{}` is not one line of text", diagnostic::one_line(name));
        Err(Diagnostic::new(message).with_code(Code::Value.name()).in_file(file))
    })
}

/// Reads a manifest and its files.
pub(super) fn parse(file: &str, text: &str, folder: &Path) -> Result<Manifest, Diagnostics> {
    let replay: Replay = read(REPLAY, file, text)?;
    let mut missing = Missing { folder, warnings: Vec::new() };
    let (inputs, inputs_are_complete) = inputs(&replay.files, &mut missing)?;
    let outputs = outputs(&replay.files, &mut missing)?;
    check_names(file, inputs.iter().chain(outputs.iter().flatten()).map(|group| &group.name))?;
    // The chain is the table of the trace, with its sentinel.
    let moduli = match replay.crypto_context.modulus_chain.split_first() {
        Some((&sentinel, moduli)) if u128::from(sentinel) == SENTINEL => {
            Some(moduli.iter().map(|&modulus| modulus.into()).collect())
        }
        _ => None,
    };
    Ok(Manifest {
        degree: replay.crypto_context.ring_dimension,
        inputs,
        inputs_are_complete,
        outputs,
        seeded: None,
        parameters: None,
        moduli,
        annotations: super::Annotations::default(),
        title: None,
        warnings: missing.warnings,
        file: file.into(),
        text: text.into(),
    })
}

/// The files of a recording. The recording API writes no lists of ids, and manifests are copied without their
/// files, so a missing file is no error.
struct Missing<'f> {
    folder: &'f Path,
    warnings: Vec<String>,
}

impl Missing<'_> {
    /// The path of a file that the manifest names, if it is there; else a warning.
    fn find(&mut self, name: &Option<PathBuf>, what: &str, instead: &str) -> Option<PathBuf> {
        let path = self.folder.join(name.as_ref()?);
        if path.is_file() {
            return Some(path);
        }
        self.warnings.push(format!("no {what}: `{}` is missing; {instead}", diagnostic::path(&path)));
        None
    }
}

/// The inputs: ciphertexts, then keys and constants; and whether no list of ids is missing.
fn inputs(files: &Files, missing: &mut Missing<'_>) -> Result<(Vec<NamedIds>, bool), Diagnostics> {
    const INSTEAD: &str = "other limbs that are read before they are written are inputs without a name";
    let path = missing.find(&files.inputs, "list of inputs", INSTEAD);
    let mut are_complete = path.is_some();
    let index = match path {
        Some(path) => {
            let text = read_text(&path, "list of inputs")?;
            let list: Inputs = read(INPUTS, &diagnostic::path(&path), &text)?;
            check_inputs(&list).map_err(|error| error.in_file(diagnostic::path(&path)))?;
            list.inputs
        }
        None => Vec::new(),
    };
    let lists = index.into_iter().map(|input| (input.name, Some(input.ids_file)));
    let keys = [
        ("evalmult_key", &files.evalmult_ids),
        ("automorphism_key", &files.evalautomorphism_ids),
        ("bootstrap_precompute", &files.bootstrap_precomp_ids),
    ];
    let keys = keys.into_iter().filter(|(_, file)| file.is_some());
    let mut groups = Vec::new();
    for (name, file) in lists.chain(keys.map(|(name, file)| (name.to_owned(), file.clone()))) {
        let what = format!("list of the ids of `{name}`");
        match missing.find(&file, &what, INSTEAD) {
            Some(path) => groups.push(NamedIds { name, ids: read_ids(&path)? }),
            None => are_complete = false,
        }
    }
    Ok((groups, are_complete))
}

/// Refuses a list that is not whole, and a name twice.
fn check_inputs(list: &Inputs) -> Result<(), Diagnostic> {
    let wrong = |message: String| Err(Diagnostic::new(message).with_code(Code::Contradiction.name()));
    let found = list.inputs.len();
    if let Some(count) = list.input_count.filter(|&count| count != found as u64) {
        return wrong(format!("`input_count` is {count}, but the list has {found}"));
    }
    let mut names = HashSet::new();
    match list.inputs.iter().find(|input| !names.insert(&input.name)) {
        Some(input) => wrong(format!("a second input `{}`", diagnostic::one_line(&input.name))),
        None => Ok(()),
    }
}

/// The ids in a file: their number, then the ids, as little-endian words of 64 bits.
fn read_ids(path: &Path) -> Result<Vec<LimbId>, Diagnostic> {
    let name = diagnostic::path(path);
    let bytes = input::read(path, Content::Program).map_err(|error| {
        let error = Diagnostic::new(format!("cannot read the list of ids: {error}"));
        error.with_code(Code::Unreadable.name()).in_file(&name)
    })?;
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect();
    match words.split_first() {
        Some((&count, ids)) if bytes.len() % 8 == 0 && ids.len() as u64 == count => {
            Ok(ids.iter().copied().map(LimbId).collect())
        }
        _ => {
            let message =
                format!("invalid list of ids: {} bytes are not a number and as many ids", bytes.len());
            let error = Diagnostic::new(message).with_code(Code::Value.name()).in_file(&name);
            Err(error.with_help("the file has little-endian words of 64 bits: a number, then that many ids"))
        }
    }
}

/// The outputs; entries of one name follow each other in the data. `None` if the list is missing.
fn outputs(files: &Files, missing: &mut Missing<'_>) -> Result<Option<Vec<NamedIds>>, Diagnostics> {
    const INSTEAD: &str = "outputs are the limbs that are never read after their last write";
    let Some(path) = missing.find(&files.outputs, "list of outputs", INSTEAD) else { return Ok(None) };
    let index: Outputs = read(OUTPUTS, &diagnostic::path(&path), &read_text(&path, "list of outputs")?)?;
    let mut groups: Vec<NamedIds> = Vec::new();
    for output in index.outputs {
        let indices: Vec<u64> = output.ciphertext_data.iter().filter_map(|part| part.poly_index).collect();
        if !indices.is_sorted_by(|a, b| a < b) {
            let name = diagnostic::one_line(&output.name);
            let message =
                format!("the polynomials of `{name}` have the indices {indices:?}, not in their order");
            let error = Diagnostic::new(message).with_code(Code::Contradiction.name());
            return Err(error.in_file(diagnostic::path(&path)).into());
        }
        let elements = output.ciphertext_data.into_iter().flat_map(|polynomial| polynomial.elements);
        let ids = elements.map(LimbId);
        match groups.iter_mut().find(|group| group.name == output.name) {
            Some(group) => group.ids.extend(ids),
            None => groups.push(NamedIds { name: output.name, ids: ids.collect() }),
        }
    }
    Ok(Some(groups))
}
