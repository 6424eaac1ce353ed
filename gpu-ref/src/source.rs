//! The kernels' text, carried inside the library, and put together for one plan.

use std::fmt::Write;

use crate::field::Field;
use crate::recipe::Recipe;

const FILES: [(&str, &str); 7] = [
    ("common.cuh", include_str!("../cuda/common.cuh")),
    ("pass.cuh", include_str!("../cuda/pass.cuh")),
    ("wide.cu", include_str!("../cuda/wide.cu")),
    ("cheddar.cu", include_str!("../cuda/cheddar.cu")),
    ("shivdikar.cu", include_str!("../cuda/shivdikar.cu")),
    ("caramel.cu", include_str!("../cuda/caramel.cu")),
    ("best.cu", include_str!("../cuda/best.cu")),
];

/// A kernel file with its `#include "..."` lines replaced by what they name: NVRTC has no directory to look in.
fn expand(name: &str, out: &mut String) {
    let (_, text) = FILES.iter().find(|(file, _)| *file == name).expect("every included file is in FILES");
    for (number, line) in text.lines().enumerate() {
        match line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
            Some(included) => {
                expand(included, out);
                // Writing to a string cannot fail.
                let _ = writeln!(out, "#line {} \"{name}\"", number + 2);
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
}

/// The source of all kernels of a recipe, as one self-contained CUDA file: `forward_P` and `inverse_P` for each pass P, and
/// `product`, which stands for the last forward pass, the products and the first inverse pass.
pub fn kernels(recipe: &Recipe) -> String {
    let (file, mut text) = Field::new(recipe).source();
    expand(file, &mut text);
    for (number, pass) in recipe.passes.iter().enumerate() {
        let shape = format!(
            "{}, {}, {}, {}, {}",
            recipe.log_n, pass.first, pass.stages, pass.points_log, pass.lanes_log
        );
        let mut kernel = |kind: &str, name: &str| {
            let _ = writeln!(text, "{kind}({name}, {}, {shape})", pass.blocks);
        };
        kernel("FORWARD_KERNEL", &format!("forward_{number}"));
        kernel("INVERSE_KERNEL", &format!("inverse_{number}"));
        if number + 1 == recipe.passes.len() {
            kernel("PRODUCT_KERNEL", "product");
        } else if number == 0 {
            kernel("INVERSE_PRODUCT_KERNEL", "inverse_product_0");
        }
    }
    text
}
