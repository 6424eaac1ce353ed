//! The kernels' text, carried inside the library, and put together for one plan.

use std::fmt::Write;

use crate::field::Field;
use crate::recipe::{Barrett, Exchange, Pass, Product, Recipe, Strategy, Sync};

const FILES: [(&str, &str); 11] = [
    ("common.cuh", include_str!("../cuda/common.cuh")),
    ("wide_integer.cuh", include_str!("../cuda/wide_integer.cuh")),
    ("shoup.cuh", include_str!("../cuda/shoup.cuh")),
    ("pass.cuh", include_str!("../cuda/pass.cuh")),
    ("wide.cu", include_str!("../cuda/wide.cu")),
    ("cheddar.cu", include_str!("../cuda/cheddar.cu")),
    ("shivdikar.cu", include_str!("../cuda/shivdikar.cu")),
    ("caramel.cu", include_str!("../cuda/caramel.cu")),
    ("he_booster.cu", include_str!("../cuda/he_booster.cu")),
    ("best.cu", include_str!("../cuda/best.cu")),
    ("key_switch.cu", include_str!("../cuda/key_switch.cu")),
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

/// The kernels of a key switching besides transforms, for words of 32 or 64 bits: `mod_up`, `mod_down`, `inner_product` and
/// `settle`. They take the constants of [`Strategy::Shivdikar`] with [`Barrett::Proposed`].
pub fn key_switch(word_bits: u32) -> String {
    let mut text = format!("#define WORD_BITS {word_bits}\n#define BARRETT {}\n", Barrett::Proposed as u32);
    expand("key_switch.cu", &mut text);
    text
}

/// A strategy's file.
fn file(recipe: &Recipe) -> String {
    let (name, mut text) = Field::new(recipe).source();
    let variants = [
        (recipe.exchange == Exchange::Global, "EXCHANGE_IN_GLOBAL"),
        (recipe.streaming, "STREAMING"),
        (recipe.casts, "CASTS"),
    ];
    for (_, name) in variants.iter().filter(|(wanted, _)| *wanted) {
        let _ = writeln!(text, "#define {name}");
    }
    if recipe.interleave_log > 0 {
        let _ = writeln!(text, "#define INTERLEAVED {}", recipe.interleave_log);
    }
    expand(name, &mut text);
    text
}

/// Appends lines that each instantiate a kernel, `MACRO(name, ..)`, to a strategy's file; `truncated` for transforms without
/// their innermost stage.
fn with_kernels(
    recipe: &Recipe,
    truncated: bool,
    kernels: impl IntoIterator<Item = (&'static str, String, usize)>,
) -> String {
    let mut text = file(recipe);
    for (kind, name, number) in kernels {
        let Pass { first, stages, points_log, lanes_log, blocks } = recipe.passes[number];
        let _ = writeln!(
            text,
            "{kind}({name}, {blocks}, {}, {first}, {stages}, {points_log}, {lanes_log}, {truncated})",
            recipe.log_n
        );
    }
    text
}

/// Whether a resident kernel synchronises locally; `None` if the recipe has passes.
fn resident_sync(recipe: &Recipe) -> Option<bool> {
    recipe.resident().then_some(recipe.strategy == Strategy::HeBooster(Sync::Local))
}

/// The kernels of a recipe's transforms as one self-contained CUDA file: `forward_P` and `inverse_P` for each pass P.
pub fn transforms(recipe: &Recipe) -> String {
    if let Some(local) = resident_sync(recipe) {
        let kernel =
            |name, forward| format!("RESIDENT_KERNEL({name}, {}, {local}, {forward}, false)\n", recipe.log_n);
        return file(recipe) + &kernel("forward_0", true) + &kernel("inverse_0", false);
    }
    let kernels = (0..recipe.passes.len()).flat_map(|number| {
        [
            ("FORWARD_KERNEL", format!("forward_{number}"), number),
            ("INVERSE_KERNEL", format!("inverse_{number}"), number),
        ]
    });
    with_kernels(recipe, false, kernels)
}

/// The kernels that only a product needs. Fused, `product` stands for the last forward pass, the products and the first inverse
/// pass; separate and resident, for the products alone. `inverse_product_0` is the last inverse pass, unless `product` is
/// that already. Separate truncated products come with `forward_truncated` and `inverse_truncated` for the last pass, where
/// that is not the first.
pub fn product(recipe: &Recipe) -> String {
    if let Some(local) = resident_sync(recipe) {
        return format!(
            "{}POINTWISE_KERNEL(product, {log_n})\nRESIDENT_KERNEL(inverse_product_0, {log_n}, {local}, false, true)\n",
            file(recipe),
            log_n = recipe.log_n
        );
    }
    let last = recipe.passes.len() - 1;
    let Product { separate, truncated } = recipe.product;
    let mut kernels = Vec::new();
    let mut kernel = |kind, name: &str, pass| kernels.push((kind, name.to_owned(), pass));
    kernel(if separate { "SEPARATE_PRODUCT_KERNEL" } else { "PRODUCT_KERNEL" }, "product", last);
    if separate || last > 0 {
        kernel("INVERSE_PRODUCT_KERNEL", "inverse_product_0", 0);
    }
    if separate && truncated {
        kernel("FORWARD_KERNEL", "forward_truncated", last);
        if last > 0 {
            kernel("INVERSE_KERNEL", "inverse_truncated", last);
        }
    }
    with_kernels(recipe, truncated, kernels)
}
