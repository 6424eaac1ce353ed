//! Prints the CUDA source of a strategy's transforms, or with a fourth argument `product` of its product, for an offline
//! compiler: `cargo run -p gpu-ref --example kernels -- best 32 16 > k.cu && nvcc -arch=sm_90 -std=c++20 -cubin k.cu`.

use std::error::Error;

use gpu_ref::{Recipe, Strategy, source};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [strategy, word_bits, log_n, kind @ ..] = &arguments[..] else {
        return Err("usage: kernels STRATEGY WORD_BITS LOG_N [product]".into());
    };
    let strategy = Strategy::ALL.into_iter().find(|s| s.to_string() == *strategy).ok_or_else(|| {
        format!("no strategy {strategy}; there are {}", Strategy::ALL.map(|s| s.to_string()).join(", "))
    })?;
    let recipe = Recipe::new(strategy, word_bits.parse()?, log_n.parse()?)?;
    match kind.first().map(String::as_str) {
        None => print!("{}", source::transforms(&recipe)),
        Some("product") => print!("{}", source::product(&recipe)),
        Some(other) => return Err(format!("no kernels called {other}").into()),
    }
    Ok(())
}
