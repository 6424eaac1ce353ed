//! Writes or checks CUDA files for an offline compiler; see `gpu-ref/nvcc.sh`.
//!
//! `kernels all FOLDER` writes every kernel of the crate to files in a folder, where transforms have
//! N = 2^13 and few points in a thread, the default kernels of `best` for every N from 2^12, every
//! arithmetic and every batch to files in `FOLDER/default`, those of them that could spill registers to
//! files in `FOLDER/tight`, and a sample of the first to files in `FOLDER/sample`. `kernels check FOLDER`
//! checks all files of a folder with NVRTC, without a GPU.

use gpu_ref::recipe::Pass;
use gpu_ref::{Barrett, Feature, Product, Recipe, Strategy, Sync, source};
use rayon::prelude::*;
use std::error::Error;
use std::path::Path;

type Outcome<T> = Result<T, Box<dyn Error + Send + std::marker::Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [all, folder] if all == "all" => write_all(Path::new(folder)),
        [check, folder] if check == "check" => check_all(Path::new(folder)),
        _ => Err("usage: kernels all FOLDER, or kernels check FOLDER".into()),
    }
}

/// The same kernels with fewer points in a thread, whose shorter loops compile several times as
/// fast.
fn compact(recipe: Recipe) -> Recipe {
    let smaller = |pass: &Pass| {
        let points_log = pass.points_log.min(2).max(pass.stages.saturating_sub(10));
        let lanes_log = pass.lanes_log.min(10 + points_log - pass.stages);
        Pass { points_log, lanes_log, ..*pass }
    };
    let passes = recipe.passes().iter().map(smaller).collect();
    let small = recipe.clone().with_passes(passes).and_then(|small| {
        small.with_product(recipe.product())?.with_shared_roots(recipe.shared_roots().min(1))
    });
    // Resident transforms have no other recipe.
    small.unwrap_or(recipe)
}

/// Each strategy in each word size, each feature once, and all kernels other than transforms.
fn all_kernels() -> Outcome<Vec<(String, String)>> {
    const LOG_N: u32 = 13;
    let mut recipes = Vec::new();
    for strategy in Strategy::ALL {
        // Separate launches are `best` with other passes, and the reductions differ in a few lines.
        let bits: &[u32] = match strategy {
            Strategy::HeBooster(Sync::Launches) => &[],
            Strategy::Shivdikar(Barrett::Remainder | Barrett::Classical | Barrett::DhemQuisquater) => &[32],
            Strategy::Shivdikar(Barrett::Proposed)
            | Strategy::Wide
            | Strategy::Cheddar
            | Strategy::Caramel
            | Strategy::HeBooster(Sync::Local | Sync::Barrier)
            | Strategy::Best => strategy.word_bits(),
        };
        for &bits in bits {
            recipes.push((format!("{strategy}-{bits}"), Recipe::new(strategy, bits, LOG_N)?));
        }
    }
    let shivdikar = |log_n| Recipe::new(Strategy::Shivdikar(Barrett::Proposed), 64, log_n);
    let best = |word_bits, largest| Recipe::for_moduli(Strategy::Best, word_bits, LOG_N, largest);
    let separate = Product { separate: true, ..Product::default() };
    let more = [
        ("best-shared-roots", Recipe::new(Strategy::Best, 32, 16)?),
        ("best-50", best(64, longest(50))?),
        ("best-60", best(64, longest(60))?),
        ("best-124", best(128, longest(124))?),
        ("best-125", best(128, longest(125))?),
        ("best-full-quotients", best(128, longest(126))?.without(Feature::ShortQuotients)),
        ("best-latency", Recipe::for_batches(64, LOG_N, longest(50), 1)?),
        ("shivdikar-separate", shivdikar(LOG_N)?.with_product(separate)?),
    ];
    recipes.extend(more.map(|(name, recipe)| (name.to_owned(), recipe)));
    let compacted = |(name, recipe)| (name, source::everything(&compact(recipe)));
    Ok(recipes.into_iter().map(compacted).chain(source::operations()).collect())
}

/// Kernels for another architecture. Architectures differ in a few definitions of `common.cuh` only, the
/// resident threads and the waits between kernels: passes use both, and resident kernels a barrier
/// across the grid.
const SAMPLE: [&str; 4] = ["best-32", "best-latency", "caramel-64", "he-booster-barrier-64"];

/// The largest number of a length in bits.
fn longest(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

/// The kernels that `best` uses by default, as `text` selects those of a recipe, and no text twice.
fn default_kernels(folder: &str, text: impl Fn(&Recipe) -> Option<String>) -> Outcome<Vec<(String, String)>> {
    let mut files: Vec<(String, String)> = Vec::new();
    for (word_bits, bits) in [(32, 30), (64, 50), (64, 60), (64, 62), (128, 124), (128, 125), (128, 126)] {
        for log_n in 12..=17 {
            for transforms in [1, 64, 512] {
                let recipe = Recipe::for_batches(word_bits, log_n, longest(bits), transforms)?;
                for recipe in [&recipe].into_iter().chain(recipe.of_products()) {
                    let Some(text) = text(recipe) else { continue };
                    if files.iter().all(|(_, known)| *known != text) {
                        let number = files.len();
                        let kind = match () {
                            () if recipe.has(Feature::Once) => "-once",
                            () if recipe.has(Feature::Chained) => "-chained",
                            () => "",
                        };
                        let name = format!("{folder}/{number}-{word_bits}-{log_n}-{transforms}{kind}");
                        files.push((name, text));
                    }
                }
            }
        }
    }
    Ok(files)
}

fn write_all(folder: &Path) -> Outcome<()> {
    let write = |name: &str, text: &str| std::fs::write(folder.join(format!("{name}.cu")), text);
    for part in ["default", "tight", "sample"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    let all = all_kernels()?;
    let default = default_kernels("default", |recipe| Some(source::everything(recipe)))?;
    for (name, text) in all.iter().chain(&default).chain(&default_kernels("tight", source::tight)?) {
        write(name, text)?;
    }
    for (name, text) in all.iter().filter(|(name, _)| SAMPLE.contains(&&name[..])) {
        write(&format!("sample/{name}"), text)?;
    }
    Ok(())
}

/// Checks every file with the front end of NVRTC, which accepts less than nvcc does.
fn check_all(folder: &Path) -> Outcome<()> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let files: Vec<_> = entries
        .iter()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "cu"))
        .collect();
    files.par_iter().try_for_each(|path| -> Outcome<()> {
        Ok(source::check(&path.display().to_string(), &std::fs::read_to_string(path)?)?)
    })?;
    println!("{} files accepted by NVRTC", files.len());
    Ok(())
}
