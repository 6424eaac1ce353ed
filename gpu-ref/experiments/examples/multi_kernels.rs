//! Writes the kernels of this package to a file in a folder, for `gpu-ref/nvcc.sh`: `multi_kernels FOLDER`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: multi_kernels FOLDER")?;
    Ok(std::fs::write(format!("{folder}/rows.cu"), gpu_experiments::multi::kernels())?)
}
