//! The embedded text of the kernels, and its assembly for a plan.

use crate::Error;
use crate::device::runtime_compiler;
use crate::field::Field;
use crate::recipe::{Barrett, Feature, Pass, Recipe, Strategy, Sync};
use std::fmt::Write;

const FILES: [(&str, &str); 20] = [
    ("common.cuh", include_str!("../cuda/common.cuh")),
    ("wide_integer.cuh", include_str!("../cuda/wide_integer.cuh")),
    ("butterflies.cuh", include_str!("../cuda/butterflies.cuh")),
    ("montgomery.cuh", include_str!("../cuda/montgomery.cuh")),
    ("barrett.cuh", include_str!("../cuda/barrett.cuh")),
    ("shoup.cuh", include_str!("../cuda/shoup.cuh")),
    ("pass.cuh", include_str!("../cuda/pass.cuh")),
    ("chained.cuh", include_str!("../cuda/chained.cuh")),
    ("cluster.cuh", include_str!("../cuda/cluster.cuh")),
    ("once.cuh", include_str!("../cuda/once.cuh")),
    ("wide.cu", include_str!("../cuda/wide.cu")),
    ("cheddar.cu", include_str!("../cuda/cheddar.cu")),
    ("shivdikar.cu", include_str!("../cuda/shivdikar.cu")),
    ("caramel.cu", include_str!("../cuda/caramel.cu")),
    ("he_booster.cu", include_str!("../cuda/he_booster.cu")),
    ("best.cu", include_str!("../cuda/best.cu")),
    ("inner_product.cu", include_str!("../cuda/inner_product.cu")),
    ("base_conversion.cu", include_str!("../cuda/base_conversion.cu")),
    ("automorphism.cu", include_str!("../cuda/automorphism.cu")),
    ("key_switch.cu", include_str!("../cuda/key_switch.cu")),
];

fn file(name: &str) -> &'static str {
    FILES.iter().find(|(known, _)| *known == name).expect("every included file is in FILES").1
}

/// Appends a kernel file and replaces each `#include "..."` line by the text of that file, because NVRTC
/// has no directory to search.
fn expand(name: &str, text: &str, out: &mut String) {
    for (number, line) in text.lines().enumerate() {
        match line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
            Some(included) => {
                expand(included, file(included), out);
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

/// A kernel file for words of `word_bits` bits, with the files of `cuda` that it includes. Barrett
/// reduction, if used, is [`Barrett::Proposed`]. `name` appears in messages of the compiler.
///
/// # Panics
/// Panics if the text includes another file.
pub fn assemble(name: &str, text: &str, word_bits: u32) -> String {
    let mut out = format!("#define WORD_BITS {word_bits}\n#define BARRETT {}\n", Barrett::Proposed as u32);
    expand(name, text, &mut out);
    out
}

/// A file of `cuda` for words of `word_bits` bits.
pub(crate) fn for_words(name: &str, word_bits: u32) -> String {
    assemble(name, file(name), word_bits)
}

/// All kernels other than transforms: names and texts.
pub fn operations() -> Vec<(String, String)> {
    let words = |name: &str, bits| (format!("{name}-{bits}"), for_words(&format!("{name}.cu"), bits));
    let mut files = vec![words("base_conversion", 32)];
    files.extend([32, 64].map(|bits| words("key_switch", bits)));
    files.extend([32, 64].map(|bits| words("inner_product", bits)));
    files.extend([32, 64, 128].map(|bits| words("automorphism", bits)));
    files
}

/// A strategy's file.
fn strategy(recipe: &Recipe) -> String {
    let (name, mut text) = Field::new(recipe).source();
    for name in recipe.features().filter_map(Feature::definition) {
        let _ = writeln!(text, "#define {name}");
    }
    expand(name, file(name), &mut text);
    text
}

/// A line `KIND(name, ..)`, which instantiates the kernel of a pass.
struct Instance {
    kind: &'static str,
    name: String,
    pass: usize,
}

impl Instance {
    fn new(kind: &'static str, name: impl Into<String>, pass: usize) -> Self {
        Self { kind, name: name.into(), pass }
    }

    /// Minimum number of resident blocks.
    fn blocks(&self, recipe: &Recipe) -> u32 {
        if self.kind == "PRODUCT_KERNEL" {
            recipe.product().blocks
        } else {
            recipe.passes()[self.pass].blocks
        }
    }

    /// Returns true if a thread has fewer than three registers for each register of data.
    fn is_tight(&self, recipe: &Recipe) -> bool {
        if self.kind == "SEPARATE_PRODUCT_KERNEL" {
            return false;
        }
        let pass = &recipe.passes()[self.pass];
        let factors = if self.kind == "PRODUCT_KERNEL" { 2 } else { 1 };
        let data = (factors * recipe.word_bits() / 32) << pass.points_log;
        pass.registers(self.blocks(recipe)) < 3 * data
    }

    fn line(&self, recipe: &Recipe) -> String {
        let Self { kind, name, pass } = self;
        // A fused product reads its tables while it computes, so it gains nothing from shared roots.
        let shared_roots = if name.contains("product") { 0 } else { recipe.shared_roots() };
        let arguments = pass_arguments(recipe, *pass, shared_roots);
        format!("{kind}({name}, {}, {arguments})\n", self.blocks(recipe))
    }
}

/// The arguments of `Pass` in `cuda/pass.cuh` behind the field.
fn pass_arguments(recipe: &Recipe, pass: usize, shared_roots: u32) -> String {
    let (log_n, first) = (recipe.log_n(), recipe.first_stage(pass));
    let Pass { stages, points_log, lanes_log, .. } = recipe.passes()[pass];
    format!("{log_n}, {first}, {stages}, {points_log}, {lanes_log}, {shared_roots}")
}

/// Returns true if a resident kernel synchronises locally, and `None` if the recipe has passes.
fn resident_sync(recipe: &Recipe) -> Option<bool> {
    recipe.resident().then_some(recipe.strategy() == Strategy::HeBooster(Sync::Local))
}

/// The kernels of the passes of a transform.
fn transform_kernels(recipe: &Recipe) -> Vec<Instance> {
    let kernels = |pass| {
        [
            Instance::new("FORWARD_KERNEL", format!("forward_{pass}"), pass),
            Instance::new("INVERSE_KERNEL", format!("inverse_{pass}"), pass),
        ]
    };
    (0..recipe.passes().len()).flat_map(kernels).collect()
}

/// The kernels that only a product needs.
fn product_kernels(recipe: &Recipe) -> Vec<Instance> {
    let last = recipe.passes().len() - 1;
    let separate = recipe.product().separate;
    let heart = if separate { "SEPARATE_PRODUCT_KERNEL" } else { "PRODUCT_KERNEL" };
    let mut kernels = vec![Instance::new(heart, "product", last)];
    if separate || last > 0 {
        kernels.push(Instance::new("INVERSE_PRODUCT_KERNEL", "inverse_product_0", 0));
    }
    kernels
}

fn transform_instances(recipe: &Recipe) -> String {
    if recipe.has(Feature::Once) {
        let kernel = |name| format!("ONCE_KERNEL({name}_0, {name}, {})\n", recipe.log_n());
        return kernel("forward") + &kernel("inverse");
    }
    if recipe.has(Feature::Chained) {
        let kernel = |name| {
            let passes = [0, 1].map(|pass| pass_arguments(recipe, pass, recipe.shared_roots()));
            let [columns, rows] = passes;
            format!(
                "CHAINED_KERNEL({name}_0, {name}, {}, ({columns}), ({rows}))\n",
                recipe.passes()[0].blocks
            )
        };
        return kernel("forward") + &kernel("inverse");
    }
    if let Some(local) = resident_sync(recipe) {
        let kernel = |name, forward| {
            format!("RESIDENT_KERNEL({name}, {}, {local}, {forward}, false)\n", recipe.log_n())
        };
        return kernel("forward_0", true) + &kernel("inverse_0", false);
    }
    transform_kernels(recipe).iter().map(|kernel| kernel.line(recipe)).collect()
}

fn product_instances(recipe: &Recipe) -> String {
    if let Some(local) = resident_sync(recipe) {
        return format!(
            "POINTWISE_KERNEL(product, {log_n})\nRESIDENT_KERNEL(inverse_product_0, {log_n}, {local}, false, true)\n",
            log_n = recipe.log_n()
        );
    }
    if recipe.has(Feature::Chained) {
        let [columns, rows] = [0, 1].map(|pass| pass_arguments(recipe, pass, 0));
        return format!(
            "CHAINED_PRODUCT_KERNEL(product, {}, ({columns}), ({rows}))\n",
            recipe.product().blocks
        );
    }
    product_kernels(recipe).iter().map(|kernel| kernel.line(recipe)).collect()
}

/// The kernels of a recipe's transforms as one self-contained CUDA file: `forward_P` and
/// `inverse_P` for each pass P, or for P = 0 alone if they are in one kernel.
pub fn transforms(recipe: &Recipe) -> String {
    strategy(recipe) + &transform_instances(recipe)
}

/// The kernels that only a product needs, of a recipe whose products have no other. `product` is the heart:
/// fused, it covers the last forward pass, the products and the first inverse pass; separate or resident,
/// only the products. `inverse_product_0` is the last inverse pass, unless `product` contains it. Chained,
/// `product` is all of a product.
pub fn product(recipe: &Recipe) -> String {
    strategy(recipe) + &product_instances(recipe)
}

/// The kernels of [`transforms`] in one file, and the kernels of [`product`] unless products have another
/// recipe.
pub fn everything(recipe: &Recipe) -> String {
    transforms(recipe)
        + &if recipe.of_products().is_some() { String::new() } else { product_instances(recipe) }
}

/// Those kernels of [`everything`] that could spill registers: the limits on resident threads leave a
/// thread fewer than three registers for each register of data. `None` if there are none. Resident
/// kernels are not among them.
pub fn tight(recipe: &Recipe) -> Option<String> {
    if recipe.resident() {
        return None;
    }
    if recipe.has(Feature::Once) || recipe.has(Feature::Chained) {
        return Some(everything(recipe));
    }
    let of = |kernels: Vec<Instance>| -> String {
        let tight = kernels.iter().filter(|kernel| kernel.is_tight(recipe));
        tight.map(|kernel| kernel.line(recipe)).collect()
    };
    let lines = of(transform_kernels(recipe)) + &of(product_kernels(recipe));
    (!lines.is_empty()).then(|| strategy(recipe) + &lines)
}

/// Checks the syntax and the types of a file with the front end of NVRTC. This needs no GPU.
///
/// # Errors
/// Returns [`Error::NoDevice`] if NVRTC is not installed, and [`Error::Compile`] with its log if it rejects
/// the file.
pub fn check(name: &str, text: &str) -> Result<(), Error> {
    runtime_compiler::check(name, text)
}
