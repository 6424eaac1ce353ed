//! Prints the CUDA source of a strategy's transforms, or of its product with a fourth argument
//! `product`, for an offline compiler: `cargo run -p gpu-ref --example kernels -- best 32 16 > k.cu
//! && nvcc -arch=sm_90 -std=c++20 -cubin k.cu`.
//!
//! `kernels all FOLDER` writes every kernel of the crate to files in a folder, where transforms have
//! N = 2^13 and few points in a thread, the default kernels of `best` for every N from 2^12, every
//! arithmetic and every batch to files in `FOLDER/default`, those of them that could spill registers to
//! files in `FOLDER/tight`, and a sample of the first to files in `FOLDER/sample`. `kernels check` checks
//! the first and the tight ones with NVRTC, without a GPU.

use gpu_ref::base_conversion::Tile;
use gpu_ref::recipe::Pass;
use gpu_ref::residues::Access;
use gpu_ref::{Barrett, Product, Recipe, Strategy, Sync, source};
use rayon::prelude::*;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [all, folder] if all == "all" => write_all(Path::new(folder)),
        [check] if check == "check" => check_all(),
        [strategy, word_bits, log_n, kind @ ..] => {
            let known = Strategy::ALL.map(|strategy| strategy.to_string());
            let strategy =
                Strategy::ALL.into_iter().find(|s| s.to_string() == *strategy).ok_or_else(|| {
                    format!("unknown strategy {strategy}; expected one of {}", known.join(", "))
                })?;
            let recipe = Recipe::new(strategy, word_bits.parse()?, log_n.parse()?)?;
            match kind.first().map(String::as_str) {
                None => print!("{}", source::transforms(&recipe)),
                Some("product") => print!("{}", source::product(&recipe)),
                Some(other) => return Err(format!("unknown kernels {other}; expected product").into()),
            }
            Ok(())
        }
        _ => {
            Err("usage: kernels STRATEGY WORD_BITS LOG_N [product], kernels all FOLDER, or kernels check"
                .into())
        }
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
    let small = Recipe {
        passes: recipe.passes.iter().map(smaller).collect(),
        shared_roots: recipe.shared_roots.min(1),
        ..recipe.clone()
    };
    // Resident transforms have no other recipe.
    if small.check().is_ok() { small } else { recipe }
}

/// Each strategy in each word size, each recipe variant once, and all kernels other than
/// transforms.
fn all_kernels() -> Result<Vec<(String, String)>, Box<dyn Error>> {
    const LOG_N: u32 = 13;
    let mut recipes = Vec::new();
    for strategy in Strategy::ALL {
        // Separate launches are `best` with other passes, and the reductions differ in a few lines.
        let bits = match strategy {
            Strategy::HeBooster(Sync::Launches) => &[],
            Strategy::Shivdikar(Barrett::Proposed) => strategy.word_bits(),
            Strategy::Shivdikar(_) => &[32],
            _ => strategy.word_bits(),
        };
        for &bits in bits {
            recipes.push((format!("{strategy}-{bits}"), Recipe::new(strategy, bits, LOG_N)?));
        }
    }
    let shivdikar = Recipe::new(Strategy::Shivdikar(Barrett::Proposed), 64, LOG_N)?;
    let best = |word_bits, largest| Recipe::for_moduli(Strategy::Best, word_bits, LOG_N, largest);
    let truncated = |separate| Product { separate, truncated: true, ..Product::default() };
    recipes.extend([
        (
            "cheddar-on-the-fly".into(),
            Recipe { on_the_fly: true, ..Recipe::new(Strategy::Cheddar, 32, LOG_N)? },
        ),
        (
            "caramel-casts".into(),
            Recipe { casts: true, streaming: true, ..Recipe::new(Strategy::Caramel, 64, LOG_N)? },
        ),
        ("best-shared-roots".into(), Recipe::new(Strategy::Best, 32, 16)?),
        ("best-50".into(), best(64, longest(50))?),
        ("best-60".into(), best(64, longest(60))?),
        ("best-124".into(), best(128, longest(124))?),
        ("best-125".into(), best(128, longest(125))?),
        ("best-full-quotients".into(), Recipe { short_quotients: false, ..best(128, longest(126))? }),
        ("best-latency".into(), Recipe::low_latency(64, LOG_N)?),
        ("wide-streaming".into(), Recipe { streaming: true, ..Recipe::new(Strategy::Wide, 128, 10)? }),
        ("shivdikar-truncated".into(), Recipe { product: truncated(true), ..shivdikar.clone() }),
        ("shivdikar-fused".into(), Recipe { product: truncated(false), ..shivdikar }),
        ("tom".into(), Recipe::tom(Barrett::Proposed, 64, LOG_N, 5)?),
        ("los-global".into(), Recipe::los(Barrett::Proposed, 64, 11, 3)?.without_shared_memory()),
    ]);
    let compacted = |(name, recipe)| (name, source::everything(&compact(recipe)));
    let mut files: Vec<(String, String)> = recipes.into_iter().map(compacted).collect();
    for bits in [32, 64] {
        files.push((format!("key-switch-{bits}"), source::key_switch(bits)));
        files.push((format!("inner-product-{bits}"), source::inner_product(bits)));
        files.push((format!("residues-{bits}"), source::residues(bits, Access::Transposed)));
        files.push((format!("residues-strided-{bits}"), source::residues(bits, Access::Strided)));
    }
    files.extend([32, 64, 128].map(|bits| (format!("automorphism-{bits}"), source::automorphism(bits))));
    let shared = Tile { block_limbs: 2, block_columns: 128, ..Tile::default() };
    files.push(("rows".into(), source::rows()));
    files.push(("base-conversion".into(), source::base_conversion(Tile::default())));
    files.push(("base-conversion-shared".into(), source::base_conversion(shared)));
    Ok(files)
}

/// Kernels for another architecture. Architectures differ in two definitions of `common.cuh` only, the
/// resident threads and the wait for the kernel before: passes use both, and resident kernels a barrier
/// across the grid.
const SAMPLE: [&str; 4] = ["best-32", "caramel-64", "he-booster-barrier-64", "rows"];

/// The largest number of a length in bits.
fn longest(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

/// The kernels that `best` uses by default, as `text` selects those of a recipe, and no text twice.
fn default_kernels(
    folder: &str,
    text: impl Fn(&Recipe) -> Option<String>,
) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let arithmetics = [
        (32, longest(30)),
        (64, longest(50)),
        (64, longest(60)),
        (64, longest(62)),
        (128, longest(124)),
        (128, longest(125)),
        (128, longest(126)),
    ];
    let mut files: Vec<(String, String)> = Vec::new();
    for (word_bits, largest) in arithmetics {
        for log_n in 12..=17 {
            for transforms in [1, 64, 512] {
                let recipe = Recipe::for_batches(word_bits, log_n, largest, transforms)?;
                let Some(text) = text(&recipe) else { continue };
                if files.iter().all(|(_, known)| *known != text) {
                    let number = files.len();
                    files.push((format!("{folder}/{number}-{word_bits}-{log_n}-{transforms}"), text));
                }
            }
        }
    }
    Ok(files)
}

fn write_all(folder: &Path) -> Result<(), Box<dyn Error>> {
    let write = |name: &str, text: &str| std::fs::write(folder.join(format!("{name}.cu")), text);
    for part in ["default", "tight", "sample"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    let all = all_kernels()?;
    let default = default_kernels("default", |recipe| Some(source::everything(recipe)))?;
    for (name, text) in all.iter().chain(&default).chain(&default_kernels("tight", source::tight)?) {
        write(name, text)?;
    }
    for name in SAMPLE {
        let found = all.iter().find(|(known, _)| known == name);
        let (_, text) = found.ok_or_else(|| format!("no kernels {name} for the sample"))?;
        write(&format!("sample/{name}"), text)?;
    }
    Ok(())
}

/// Checks every kernel with the front end of NVRTC, which accepts less than nvcc does.
fn check_all() -> Result<(), Box<dyn Error>> {
    let files = [all_kernels()?, default_kernels("tight", source::tight)?].concat();
    files.par_iter().try_for_each(|(name, text)| source::check(name, text))?;
    println!("{} files accepted by NVRTC", files.len());
    Ok(())
}
