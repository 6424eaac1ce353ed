//! Prints the CUDA source of a strategy's transforms, or of its product with a fourth argument
//! `product`, for an offline compiler: `cargo run -p gpu-ref --example kernels -- best 32 16 > k.cu
//! && nvcc -arch=sm_90 -std=c++20 -cubin k.cu`.
//!
//! `kernels all FOLDER` writes every kernel of the crate to files in a folder, where transforms have
//! the recipes for N = 2^13, and the default kernels of `best` for every N from 2^12 to files in
//! `FOLDER/default`.

use gpu_ref::base_conversion::Tile;
use gpu_ref::residues::Access;
use gpu_ref::{Barrett, Product, Recipe, Strategy, Sync, source};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [all, folder] if all == "all" => write_all(Path::new(folder)),
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
        _ => Err("usage: kernels STRATEGY WORD_BITS LOG_N [product], or kernels all FOLDER".into()),
    }
}

/// Each strategy in each word size, each recipe variant once, and all kernels other than
/// transforms.
fn write_all(folder: &Path) -> Result<(), Box<dyn Error>> {
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
    let bits = |length: u32| u128::MAX >> (128 - length);
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
        ("best-50".into(), Recipe::for_moduli(Strategy::Best, 64, LOG_N, bits(50))?),
        ("best-60".into(), Recipe::for_moduli(Strategy::Best, 64, LOG_N, bits(60))?),
        ("best-124".into(), Recipe::for_moduli(Strategy::Best, 128, LOG_N, bits(124))?),
        ("best-125".into(), Recipe::for_moduli(Strategy::Best, 128, LOG_N, bits(125))?),
        ("best-latency".into(), Recipe::low_latency(64, LOG_N)?),
        ("wide-streaming".into(), Recipe { streaming: true, ..Recipe::new(Strategy::Wide, 128, 10)? }),
        ("shivdikar-truncated".into(), Recipe { product: truncated(true), ..shivdikar.clone() }),
        ("shivdikar-fused".into(), Recipe { product: truncated(false), ..shivdikar }),
        ("tom".into(), Recipe::tom(Barrett::Proposed, 64, LOG_N, 5)?),
        ("los-global".into(), Recipe::los(Barrett::Proposed, 64, 11, 3)?.without_shared_memory()),
    ]);
    let mut files = Vec::new();
    for (name, recipe) in recipes {
        files.push((name, source::everything(&recipe)));
    }
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
    for (word_bits, longest) in [(32, 30), (64, 60), (128, 124)] {
        for log_n in 12..=17 {
            let recipe = Recipe::for_moduli(Strategy::Best, word_bits, log_n, bits(longest))?;
            files.push((format!("default/best-{word_bits}-{log_n}"), source::everything(&recipe)));
        }
    }
    std::fs::create_dir_all(folder.join("default"))?;
    for (name, text) in files {
        std::fs::write(folder.join(format!("{name}.cu")), text)?;
    }
    Ok(())
}
