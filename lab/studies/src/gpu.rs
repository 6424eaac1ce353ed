//! The tables of CUDA transforms, from the measurements beside the page.

use crate::page::{Files, text};

pub(crate) fn files() -> Files {
    let named = |(path, page): (std::path::PathBuf, String)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        text(&format!("reports/gpu/{name}"), page)
    };
    Ok(gpu_ablation::pages::pages()?.into_iter().map(named).collect())
}
