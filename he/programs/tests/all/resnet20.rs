//! ResNet-20: its counts beside those that follow from the layers of Lee et al.

use programs::{Generated, Ledger, Options, ParameterSet, find_program, generate_defined};
use std::collections::BTreeMap;

fn generated(options: &Options) -> Generated {
    let set = ParameterSet::built_in("resnet20", None).unwrap().unwrap_or_else(|errors| panic!("{errors}"));
    let program = find_program("resnet20").unwrap();
    generate_defined(&program, &set, options).unwrap()
}

/// The calls of each function.
fn calls(Generated { program, .. }: &Generated) -> BTreeMap<&str, usize> {
    let mut calls = BTreeMap::new();
    for call in program.calls() {
        *calls.entry(program.function(call.function).name()).or_default() += 1;
    }
    calls
}

fn counts(ledger: &Ledger, stage: &str) -> (usize, usize) {
    let stage = ledger.stage(stage);
    (stage.automorphisms, stage.plaintext_products)
}

/// A kind of convolution of Lee et al.
struct Convolution {
    /// How often it occurs, and its level.
    times: usize,
    level: usize,
    /// Of the operand: k, t, p.
    operand: (usize, usize, usize),
    /// The channels and p of the result.
    result: (usize, usize),
    /// Their counts of rotations, and of products with plaintexts.
    printed: (usize, usize),
}

const CONVOLUTIONS: [Convolution; 6] = [
    Convolution { times: 1, level: 19, operand: (1, 3, 8), result: (16, 2), printed: (28, 34) },
    Convolution { times: 6, level: 3, operand: (1, 16, 2), result: (16, 2), printed: (56, 88) },
    Convolution { times: 1, level: 3, operand: (1, 16, 2), result: (32, 4), printed: (106, 176) },
    Convolution { times: 5, level: 3, operand: (2, 8, 4), result: (32, 4), printed: (82, 104) },
    Convolution { times: 1, level: 3, operand: (2, 8, 4), result: (64, 8), printed: (158, 208) },
    Convolution { times: 5, level: 3, operand: (4, 4, 8), result: (64, 8), printed: (126, 136) },
];

impl Convolution {
    /// The key switches of the sums over channels, for each of the groups of channels.
    fn sums(&self) -> (usize, usize) {
        let (k, t, p) = self.operand;
        let of_grids = if t.is_power_of_two() { t.ilog2() as usize } else { t - 1 };
        (2 * k.ilog2() as usize + of_grids, self.result.0.div_ceil(p))
    }

    fn rotations(&self) -> usize {
        let (sums, groups) = self.sums();
        // The first channel is in its place, and so is each that has the place of its copy.
        8 + groups * sums + self.result.0 - 1 + self.result.1 - 1
    }

    /// The transforms, for digits of five moduli and five special moduli. Rotations of one ciphertext share their digits.
    fn transforms(&self) -> usize {
        let limbs = |level: usize| level + 5;
        let raised = |level: usize| level.div_ceil(5) * limbs(level);
        let hoisted = |level: usize, rotations: usize| raised(level) + 2 * limbs(level) * rotations;
        let (sums, groups) = self.sums();
        let [first, second, third] = [0, 1, 2].map(|used| self.level - used);
        let windows = hoisted(first, 8) + groups * 2 * first;
        // The rotations by grids that are no power of two are of one ciphertext.
        let of_sum = match self.operand.1.is_power_of_two() {
            true => sums * hoisted(second, 1),
            false => hoisted(second, sums),
        };
        let placed = groups * raised(second) + 2 * limbs(second) * (self.result.0 - 1) + 2 * second;
        windows + groups * of_sum + placed + hoisted(third, self.result.1 - 1)
    }
}

/// Their counts of rotations, and of products with plaintexts.
const DOWNSAMPLINGS: [(usize, usize); 2] = [(19, 16), (23, 16)];

#[test]
fn layers_have_the_counts_of_lee_et_al() {
    let generated = generated(&Options::default());
    let ledger = &generated.ledger;
    let sum = |counts: &mut dyn Iterator<Item = (usize, usize)>| {
        counts.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
    };
    let convolutions =
        sum(&mut CONVOLUTIONS.iter().map(|of| (of.times * of.printed.0, of.times * of.printed.1)));
    let downsamplings = sum(&mut DOWNSAMPLINGS.into_iter());
    assert_eq!(counts(ledger, "convolution"), convolutions);
    assert_eq!(counts(ledger, "downsampling"), downsamplings);
    assert_eq!(sum(&mut [convolutions, downsamplings].into_iter()), (1_710, 2_178));
    for convolution in &CONVOLUTIONS {
        assert_eq!(convolution.rotations(), convolution.printed.0);
    }
    let predicted: usize = CONVOLUTIONS.iter().map(|of| of.times * of.transforms()).sum();
    assert_eq!(ledger.stage("convolution").transforms, predicted);
    let calls = calls(&generated);
    let of = |prefix: &str| -> usize {
        calls.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, count)| count).sum()
    };
    assert_eq!((of("bootstrap-"), of("relu"), of("convolution"), of("downsampling")), (18, 19, 19, 2));
    let slots = [1 << 14, 1 << 13, 1 << 12].map(|slots| calls[&*format!("bootstrap-{slots}")]);
    assert_eq!(slots, [6, 6, 6]);
    assert_eq!(calls["relu"], 19, "one function for all");
}

/// A projection is a convolution with windows of one pixel: no rotation for the windows, and one product for
/// each group of channels.
#[test]
fn projections_have_the_counts_of_convolutions_of_single_pixels() {
    let generated = generated(&Options::of([("shortcut", "projection")]));
    let shrinking = CONVOLUTIONS.iter().filter(|of| matches!(of.operand.0 * 100 + of.result.0, 132 | 264));
    let (rotations, products) = shrinking.fold((0, 0), |sum, of| {
        assert_eq!(of.times, 1);
        let (_, groups) = of.sums();
        (sum.0 + of.rotations() - 8, sum.1 + of.printed.1 - 8 * groups)
    });
    assert_eq!(counts(&generated.ledger, "projection"), (rotations, products));
    assert_eq!(counts(&generated.ledger, "downsampling"), (0, 0));
    // The factors of seven of nine blocks.
    assert_eq!(counts(&generated.ledger, "sum"), (0, 7));
    let convolutions = CONVOLUTIONS.iter().map(|of| of.times * of.printed.1).sum::<usize>();
    assert_eq!(counts(&generated.ledger, "convolution").1, convolutions);
    let calls = calls(&generated);
    assert_eq!((calls["add-scaled"], calls["add-projection"]), (7, 2));
}
