//! Prints the CUDA source of a strategy's kernels, for an offline compiler:
//! `cargo run -p gpu-ref --example kernels -- best 32 16 > k.cu && nvcc -arch=sm_90 -std=c++20 -cubin k.cu`.

use std::error::Error;

use gpu_ref::{Recipe, Strategy, source};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [strategy, word_bits, log_n] = &arguments[..] else {
        return Err("usage: kernels STRATEGY WORD_BITS LOG_N".into());
    };
    let strategy = Strategy::ALL.into_iter().find(|s| s.to_string() == *strategy).ok_or_else(|| {
        format!("no strategy {strategy}; there are {}", Strategy::ALL.map(|s| s.to_string()).join(", "))
    })?;
    let recipe = Recipe::new(strategy, word_bits.parse()?, log_n.parse()?)?;
    print!("{}", source::kernels(&recipe));
    Ok(())
}
