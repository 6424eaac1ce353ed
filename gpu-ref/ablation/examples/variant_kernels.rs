//! Writes the kernels of this crate to files in a folder, for `gpu-ref/nvcc.sh`: `variant_kernels FOLDER`.
//! Those of `gpu_ref`'s recipes are in its own example.

use gpu_ablation::residues::{Access, kernels};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: variant_kernels FOLDER")?;
    for bits in [32, 64] {
        for (name, access) in [("residues", Access::Transposed), ("residues-strided", Access::Strided)] {
            std::fs::write(format!("{folder}/{name}-{bits}.cu"), kernels(bits, access))?;
        }
    }
    Ok(())
}
