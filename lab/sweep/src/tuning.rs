//! Searches for a plan, and their measurements, kept in files.
//!
//! [`tune`] searches, and compares what it finds with plan `best`. A file holds the results for one kernel on
//! one machine. Its name is a hash of their inputs: kernel, degree, number of rings, settings, resolved
//! machine, and [`MODEL_VERSION`]. Each line is the hash of a recipe and the cycles of its program, or `-` if
//! it has no program. Truncated lines are skipped.

use super::parameter;
use super::task::KernelTask;
use b512_asm::Setting;
use codegen::search::{Effort, Memory, Progress, known, search};
use codegen::{Choice, PlanChoice, Recipe, RecipeOrigin, Request, choose, compile};
use diagnostic::input::{self, Content};
use diagnostic::{Diagnostic, Diagnostics};
use golden::Operation;
use lab_run::model::MODEL_VERSION;
use serde::Serialize;
use sim::Machine;
use sim::timing::{Cycle, simulate};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// What a search plans: an operation with these parameters, by their names and as texts. Without moduli, they
/// are primes of a usual word, since they do not affect the cycles.
///
/// # Errors
/// Returns an error for a parameter that says how to compute, not what; and those of [`KernelTask::parse`].
pub fn request(operation: Operation, mut parameters: Vec<(String, String)>) -> Result<Request, Diagnostics> {
    let is_choice = |name: &str| parameter::find(name).is_some_and(|parameter| !parameter.identifies);
    if let Some((name, _)) = parameters.iter().find(|(name, _)| is_choice(name)) {
        let error = Diagnostic::new(format!("a search has no `{name}`"));
        return Err(error.with_help("leave it out: the result is the plan with the fewest cycles").into());
    }
    if parameters.iter().all(|(name, _)| !name.starts_with("modulus")) {
        parameters.push(("modulus_bits".into(), "60".into()));
    }
    KernelTask::parse(operation, &parameters).map(|task| task.request)
}

/// The result of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuned {
    /// The recipe: that of plan `best` if the search found nothing faster.
    pub recipe: Recipe,
    /// The cycles of its program.
    pub cycles: Cycle,
    /// The fewest cycles that the search found.
    pub found: Cycle,
    /// The recipes that it tried.
    pub tried: usize,
    /// The cycles of plan `best`.
    pub before: Cycle,
    /// The origin of its recipe.
    pub origin: RecipeOrigin,
}

/// A search without a result.
#[derive(Debug, Error)]
pub enum TuneError {
    /// No candidate has a program.
    #[error(transparent)]
    Kernel(#[from] codegen::Error),
    /// A memory knows other cycles than the cycle model.
    #[error("the cache of measurements has wrong cycles for the best plan")]
    WrongMemory,
}

/// Searches for a recipe that is faster than that of plan `best`. `progress` is called after each recipe that
/// is tried.
///
/// # Errors
/// Returns an error if no candidate fits the machine, or if `memory` is wrong.
pub fn tune(
    request: &Request,
    machine: &Machine,
    effort: Effort,
    memory: &dyn Memory,
    progress: &Progress<'_>,
) -> Result<Tuned, TuneError> {
    let cycles = |recipe: &Recipe| -> Result<Cycle, codegen::Error> {
        Ok(simulate(machine, &compile(request, recipe, machine)?.program).cycles)
    };
    let Choice { recipe, origin } = choose(request, machine, &PlanChoice::Best)?;
    let before = cycles(&recipe)?;
    let found = search(request, machine, effort, known(request, machine), memory, progress)?;
    if cycles(&found.recipe)? != found.cycles {
        return Err(TuneError::WrongMemory);
    }
    let tried = found.tried;
    let (recipe, cycles) =
        if found.cycles < before { (found.recipe, found.cycles) } else { (recipe, before) };
    Ok(Tuned { recipe, cycles, found: found.cycles, tried, before, origin })
}

/// A cache file that cannot be used.
#[derive(Debug, Error)]
#[error("{}: {cause}", diagnostic::path(path))]
pub struct CacheError {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    pub cause: io::Error,
}

/// The known results for one kernel on one machine.
pub struct Cache(Mutex<Results>);

struct Results {
    /// By the hash of the recipe.
    known: HashMap<String, Option<Cycle>>,
    file: File,
}

impl Cache {
    /// Opens the file in `folder`; creates both if they are missing.
    ///
    /// # Errors
    /// Returns an error if the folder or the file cannot be created or read.
    pub fn open(folder: &Path, request: &Request, machine: &Machine) -> Result<Self, CacheError> {
        #[derive(Serialize)]
        struct Identity<'a> {
            model: u32,
            function: &'static str,
            n: u32,
            towers: usize,
            settings: Vec<(String, String)>,
            machine: &'a Machine,
        }
        let (function, n, towers) = (request.operation.name(), request.n(), request.towers());
        let settings = (0..towers).flat_map(|ring| request.claim(ring).settings);
        let settings =
            settings.filter(|(name, _)| request.operation.parameters().any(|spec| spec.name == name));
        let text = |value| match value {
            Setting::Number(number) => number.to_string(),
            Setting::Word(word) => word,
        };
        let settings = settings.map(|(name, value)| (name, text(value))).collect();
        let identity = Identity { model: MODEL_VERSION, function, n, towers, settings, machine };
        let path = folder.join(format!("{}.txt", hash(&identity)));
        let open = || {
            fs::create_dir_all(folder)?;
            let text = match path.symlink_metadata() {
                // What is there but cannot be reached cannot be opened below either.
                Err(_) => String::new(),
                Ok(metadata) if metadata.is_file() => input::read_text(&path, Content::Document)?,
                // A link may lead to anything, and a pipe has no end.
                Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")),
            };
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            if !text.is_empty() && !text.ends_with('\n') {
                writeln!(file)?;
            }
            let known = text.lines().filter_map(parse).collect();
            Ok(Self(Mutex::new(Results { known, file })))
        };
        open().map_err(|cause| CacheError { path: path.clone(), cause })
    }
}

fn hash(value: &impl Serialize) -> String {
    let json = serde_json::to_vec(value).expect("plain data becomes JSON");
    blake3::hash(&json).to_hex()[..32].to_owned()
}

fn parse(line: &str) -> Option<(String, Option<Cycle>)> {
    // The final dot marks a complete line.
    let (recipe, cycles) = line.strip_suffix('.')?.split_once(' ')?;
    let cycles = if cycles == "-" { None } else { Some(Cycle(cycles.parse().ok()?)) };
    Some((recipe.to_owned(), cycles))
}

impl Memory for Cache {
    fn get(&self, recipe: &Recipe) -> Option<Option<Cycle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).known.get(&hash(recipe)).copied()
    }

    fn put(&self, recipe: &Recipe, cycles: Option<Cycle>) {
        let recipe = hash(recipe);
        let text = cycles.map_or("-".to_owned(), |cycles| cycles.to_string());
        let mut results = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // If a line cannot be written, its recipe is measured again later.
        let _ = results.file.write_all(format!("{recipe} {text}.\n").as_bytes());
        results.known.insert(recipe, cycles);
    }
}
