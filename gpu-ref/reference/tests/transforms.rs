//! Every strategy's kernels compared with the host model: on the CPU through the emulation, and on
//! a GPU if there is one.

use gpu_ref::device::{Argument, Launch};
use gpu_ref::recipe::Pass;
use gpu_ref::testing::{ON_EMULATED, ON_GPU, Test, check_recipe, named, on, on_each, rng, run, same};
use gpu_ref::{
    Barrett, Batch, Device, Direction, Error, Feature, Layout, Modulus, Plan, Product, Recipe, Strategy,
    Sync, Word, host, number,
};
use rand::RngExt;
use std::process::ExitCode;

/// Word sizes and log2 of the dimensions to emulate. Every division of a transform is covered once
/// per kind of arithmetic, because each has to be compiled. A resident transform needs a fiber for
/// every second coefficient.
const fn emulated_cases(strategy: Strategy) -> &'static [(u32, u32)] {
    match strategy {
        Strategy::Wide => &[(128, 10), (128, 13)],
        Strategy::Cheddar => &[(32, 10), (32, 16)],
        Strategy::Shivdikar(Barrett::Remainder | Barrett::Classical) => &[(32, 10)],
        Strategy::Shivdikar(Barrett::DhemQuisquater) => &[(64, 10)],
        Strategy::Shivdikar(Barrett::Proposed) => &[(32, 10), (32, 16), (64, 13)],
        Strategy::Caramel => &[(64, 10), (64, 13)],
        Strategy::HeBooster(Sync::Local) => &[(32, 10), (64, 12)],
        Strategy::HeBooster(Sync::Barrier) => &[(64, 10)],
        Strategy::HeBooster(Sync::Launches) => &[(32, 10)],
        Strategy::Best => &[(32, 10), (32, 16), (64, 10), (64, 16), (128, 10), (128, 13)],
    }
}

/// The lengths of moduli for which `best` has its own arithmetic.
const LENGTHS: [(u32, u32); 4] = [(64, 50), (64, 60), (64, 61), (128, 124)];

/// `best` for moduli of these lengths, which choose its arithmetic.
fn check_lengths(device: &Device, lengths: impl IntoIterator<Item = (u32, u32)>, sizes: &[u32]) {
    for (bits, longest) in lengths {
        for &log_n in sizes {
            let largest = u128::MAX >> (128 - longest);
            let recipe = Recipe::for_moduli(Strategy::Best, bits, log_n, largest).unwrap();
            assert_eq!(recipe.largest_modulus(), largest);
            check_recipe(device, &recipe, 2, 2);
        }
    }
}

/// Tests a strategy: small and medium sizes with several polynomials and limbs, large sizes with
/// one.
fn check_strategy(device: &Device, strategy: Strategy, cases: impl IntoIterator<Item = (u32, u32)>) {
    for (bits, log_n) in cases {
        let recipe = Recipe::new(strategy, bits, log_n).unwrap();
        let (limbs, polynomials) = if log_n <= 13 { (2, 3) } else { (1, 1) };
        check_recipe(device, &recipe, limbs, polynomials);
    }
}

/// Word sizes of a strategy, each with some sizes.
fn all_words(strategy: Strategy, sizes: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    strategy.word_bits().iter().flat_map(move |&bits| sizes.iter().map(move |&log_n| (bits, log_n)))
}

/// 994674970 x 994705408 mod 994705409: the classical quotient estimate is off by two, every other one by
/// one. The transform of a constant polynomial is constant, so a product of two of them feeds exactly these
/// factors to the reduction.
fn check_hard_product(device: &Device) {
    let (q, n, a, b) = (994_705_409_u32, 1 << 10, 994_674_970_u32, 994_705_408_u32);
    let root = (2..)
        .map(|x| number::pow_mod(x, u128::from(q - 1) / (2 * n as u128), q.into()))
        .find(|&root| number::pow_mod(root, n as u128, q.into()) == u128::from(q - 1))
        .unwrap();
    let modulus = Modulus::new(q, u32::narrow(root), n).unwrap();
    let constant = |value| std::iter::once(value).chain(std::iter::repeat_n(0, n - 1)).collect::<Vec<_>>();
    let product = (u64::from(a) * u64::from(b) % u64::from(q)) as u32;
    for variant in [Barrett::Classical, Barrett::Proposed] {
        let plan = Plan::new(device, Strategy::Shivdikar(variant), &[modulus]).unwrap();
        let (mut left, mut right) = (plan.upload(&constant(a)).unwrap(), plan.upload(&constant(b)).unwrap());
        plan.multiply(&mut left, &mut right).unwrap();
        assert_eq!(plan.download(&left).unwrap(), constant(product), "{variant:?} on {:?}", device.name());
    }
    // Algorithm 3 supports moduli two bits shorter.
    let refused = Plan::new(device, Strategy::Shivdikar(Barrett::DhemQuisquater), &[modulus]);
    assert!(matches!(refused.map(|_| ()), Err(Error::Modulus { q: 994_705_409, .. })));
}

/// Invalid input returns an error that names a valid alternative.
fn bad_input_is_refused(device: &Device) {
    let modulus = Modulus::<u32>::find(30, 1 << 10, 0).unwrap();
    let plan = Plan::new(device, Strategy::Best, &[modulus]).unwrap();
    let q = modulus.q();
    assert_eq!(plan.upload(&[0; 100]).map(|_| ()), Err(Error::Length { unit: 1024, got: 100 }));
    assert_eq!(plan.upload(&[]).map(|_| ()), Err(Error::Length { unit: 1024, got: 0 }));
    let mut words = vec![0; 1024];
    words[7] = q;
    let range = Error::Range { index: 7, value: q.into(), q: q.into() };
    assert_eq!(plan.upload(&words).map(|_| ()), Err(range));
    assert!(matches!(Plan::<u32>::new(device, Strategy::Best, &[]), Err(Error::Dimension { .. })));
    let small = Modulus::<u32>::find(20, 1 << 9, 0).unwrap();
    assert!(matches!(Plan::new(device, Strategy::Best, &[small]), Err(Error::Dimension { n: 512, .. })));
    let wide = Modulus::<u32>::find(31, 1 << 10, 0).unwrap();
    assert!(matches!(Plan::new(device, Strategy::Best, &[wide]), Err(Error::Modulus { .. })));
    let mut batch = [plan.upload(&[0; 1024]).unwrap()];
    let elsewhere = Plan::new(&Device::emulated().unwrap(), Strategy::Best, &[modulus]).unwrap();
    let foreign = elsewhere.transform(Direction::Forward, &mut batch[0]);
    assert!(matches!(foreign, Err(Error::Unsupported { .. })));
    // SAFETY: no kernel uses these.
    let lend = |address| unsafe { Batch::<u32>::from_raw(device, address, 1024) }.map(|_| ());
    assert!(matches!(lend(0), Err(Error::Address { address: 0, .. })));
    assert!(matches!(lend(batch[0].address() + 2), Err(Error::Address { .. })));
    for (first, stride, count) in
        [(0, 1024, 0), (0, 512, 1), (0, 1025, 1), (1, 1024, 1), (0, usize::MAX - 1023, 3)]
    {
        let refused = plan.transform_at(Direction::Forward, &mut batch[0], Layout { first, stride, count });
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{first} {stride} {count}");
    }
    assert!(matches!(device.stream(), Err(Error::Unsupported { .. })));
    assert!(matches!(device.elapsed(|| Ok(())), Err(Error::Unsupported { .. })));
}

fn emulated_lengths(device: &Device) {
    check_lengths(device, LENGTHS.into_iter().chain([(128, 125)]), &[10]);
    check_lengths(device, [(64, 60)], &[16]);
}

/// Recipes for few transforms, and two passes of several polynomials and limbs.
fn recipes_for_batches(device: &Device) {
    for (bits, log_n, largest, transforms) in [(128, 10, (1 << 126) - 1, 1), (64, 12, (1 << 62) - 1, 64)] {
        let recipe = Recipe::for_batches(bits, log_n, largest, transforms).unwrap();
        check_recipe(device, &recipe, 2, 2);
    }
    let few = Recipe::for_batches(64, 13, (1 << 62) - 1, 64).unwrap();
    assert_eq!(few.passes().len(), 2);
    check_recipe(device, &few.clone().without(Feature::Alternating), 2, 3);
    check_recipe(device, &few.with(Feature::Alternating).unwrap(), 2, 3);
}

/// Clusters with several polynomials, and products beside them.
fn crosses_memory_once(device: &Device) {
    for log_n in [15, 16] {
        let recipe = Recipe::new(Strategy::Best, 32, log_n).unwrap().with(Feature::Once).unwrap();
        check_recipe(device, &recipe, 2, if device.is_emulated() { 2 } else { 80 });
    }
    assert!(Recipe::new(Strategy::Best, 32, 14).unwrap().with(Feature::Once).is_err());
}

/// Both passes, and products, in one kernel: a small transform with several tiles, fewer of columns than of
/// rows.
fn crosses_memory_in_a_chain(device: &Device) {
    let pass = |points_log, lanes_log| Pass { stages: 5, points_log, lanes_log, blocks: 1 };
    for (bits, most) in [(32, 30), (64, 50), (64, 60)] {
        let recipe = Recipe::for_moduli(Strategy::Best, bits, 10, u128::MAX >> (128 - most)).unwrap();
        let recipe = recipe.with_passes(vec![pass(3, 3), pass(2, 2)]).unwrap();
        assert!(
            recipe
                .clone()
                .with_product(Product { separate: true, ..Product::default() })
                .unwrap()
                .with(Feature::Chained)
                .is_err()
        );
        let chained = recipe.with(Feature::Chained).unwrap();
        assert!(!chained.clone().with_passes(vec![pass(3, 3), pass(3, 2)]).unwrap().has(Feature::Chained));
        check_recipe(device, &chained, 2, 3);
    }
}

/// Launches of one plan on different batches, without an order between them: what they count belongs to the
/// batches.
fn launches_share_nothing(device: &Device) {
    let recipe = Recipe::for_batches(64, 16, (1 << 60) - 1, 512).unwrap();
    let modulus = Modulus::<u64>::find(60, 1 << 16, 0).unwrap();
    let plan = Plan::with_recipe(device, recipe, &[modulus]).unwrap();
    let words: Vec<u64> = (0..8 << 16).map(|i| i * i).collect();
    let want = plan.run(Direction::Forward, &words).unwrap();
    for _ in 0..50 {
        let batches = [(); 2].map(|()| plan.upload(&words).unwrap());
        let launches = batches.each_ref().map(|x| plan.transform_launches(Direction::Forward, x).unwrap());
        let launches: Vec<_> = launches.into_iter().flatten().collect();
        let graph = device.build(&launches, &[vec![], vec![]]).unwrap();
        // SAFETY: plan and batches outlive the downloads, which wait; each batch belongs to one launch.
        unsafe { graph.launch() }.unwrap();
        for batch in &batches {
            same("one of two launches", &plan.download(batch).unwrap(), &want);
        }
    }
}

/// A plan of `best` uses other kernels for other batches.
fn plans_choose(device: &Device) {
    let moduli = [1, 0].map(|skip| Modulus::<u64>::find(60, 1 << 13, skip).unwrap());
    let plan = Plan::new(device, Strategy::Best, &moduli).unwrap();
    for polynomials in [1, 70] {
        plan.prepare(polynomials).unwrap();
        let words = gpu_ref::testing::random(&moduli, polynomials);
        let want = gpu_ref::testing::model(&moduli, &words, host::forward);
        let what = format!("{polynomials} polynomials on {:?}", device.name());
        same(&what, &plan.run(Direction::Forward, &words).unwrap(), &want);
        same(&what, &plan.run(Direction::Inverse, &want).unwrap(), &words);
    }
}

/// A launch with other arguments than its kernel takes does not start.
fn arguments_are_checked(device: &Device) {
    let text =
        "extern \"C\" __global__ void store(unsigned* to, unsigned x) { *to = x; }\nEXPORT_KERNEL(store)\n";
    let kernel = device.compile("store", text).unwrap().kernel("store", 0).unwrap();
    let word = Batch::<u32>::zeroed(device, 1).unwrap();
    // SAFETY: what starts has an address of a word.
    let start = |arguments| unsafe { device.launch(&Launch::ordered(&kernel, [1; 3], 1, 0, arguments)) };
    let (to, x) = (word.pointer(), Argument::from(7));
    for wrong in [vec![], vec![to], vec![to, to], vec![x, to], vec![to, x, x]] {
        assert!(matches!(start(wrong), Err(Error::Arguments { .. })));
    }
    start(vec![to, x]).unwrap();
    assert_eq!(word.download().unwrap(), [7]);
}

/// The default recipes of whole batches.
fn best_chains(device: &Device) {
    for most in [50, 60] {
        let recipe = Recipe::for_batches(64, 16, u128::MAX >> (128 - most), 512).unwrap();
        assert!(recipe.has(Feature::Chained));
        check_recipe(device, &recipe, 3, 20);
    }
}

/// The kernels of a plan whose roots do not allow short quotients.
fn full_quotients(device: &Device) {
    let recipe = Recipe::for_moduli(Strategy::Best, 128, 10, (1 << 126) - 1).unwrap();
    assert!(recipe.has(Feature::ShortQuotients));
    check_recipe(device, &recipe.without(Feature::ShortQuotients), 2, 2);
}

fn all_lengths(device: &Device) {
    check_lengths(device, LENGTHS, &[10, 12, 13, 14, 15, 16, 17]);
    check_lengths(device, [(128, 125)], &[10, 13]);
}

/// More polynomials than can be resident together, in both directions.
fn more_than_fit_at_once(device: &Device) {
    for bits in [32, 64] {
        let recipe = Recipe::new(Strategy::HeBooster(Sync::Local), bits, 12).unwrap();
        check_recipe(device, &recipe, 1, 150);
    }
}

/// The sizes of tests that are short enough for `sanitize.sh`: one pass and two.
const SMALL: [u32; 2] = [10, 13];

fn small_lengths(device: &Device) {
    check_lengths(device, LENGTHS, &SMALL);
}

/// Polynomials with gaps between them, in memory of someone else: three of two limbs, four rows apart from
/// the second row on.
fn check_layout<W: Word>(device: &Device, recipe: &Recipe) {
    let (n, bits) = (1 << recipe.log_n(), recipe.modulus_bits());
    let moduli = [1, 0].map(|skip| Modulus::<W>::find(bits, n, skip).unwrap());
    let plan = Plan::with_recipe(device, recipe.clone(), &moduli).unwrap();
    let layout = Layout { first: n, stride: 4 * n, count: 3 };
    let mut rng = rng();
    // Below both moduli.
    let mut rows =
        || -> Vec<W> { (0..11 * n).map(|_| W::narrow(rng.random_range(0..moduli[0].q().widen()))).collect() };
    let (x, y) = (rows(), rows());
    let [left, right] = [&x, &y].map(|words| Batch::upload(device, words).unwrap());
    // SAFETY: the owners outlive what they lend, and all work is in order on one device.
    let [mut left, mut right] =
        [&left, &right].map(|batch| unsafe { Batch::from_raw(device, batch.address(), 11 * n) }.unwrap());
    // The rows in a gap stay as they are.
    let mapped = |f: &dyn Fn(&Modulus<W>, usize) -> Vec<W>| -> Vec<W> {
        let modulus = |row: usize| moduli.get(row.checked_sub(1)? % 4);
        let row = |row| modulus(row).map_or_else(|| x[row * n..(row + 1) * n].to_vec(), |m| f(m, row));
        (0..11).flat_map(row).collect()
    };
    let at = |row: usize| row * n..(row + 1) * n;
    let check = |what: &str, got: &Batch<W>, want: Vec<W>| {
        same(format_args!("{what} of {recipe:?}"), &got.download().unwrap(), &want);
    };
    plan.transform_at(Direction::Forward, &mut left, layout).unwrap();
    check("forward", &left, mapped(&|m, row| host::forward(m, &x[at(row)])));
    plan.transform_at(Direction::Inverse, &mut left, layout).unwrap();
    check("inverse", &left, x.clone());
    plan.multiply_at(&mut left, &mut right, layout).unwrap();
    check("product", &left, mapped(&|m, row| host::product(m, &x[at(row)], &y[at(row)])));
}

fn layouts(device: &Device) {
    let own = |strategy, bits| Recipe::new(strategy, bits, 10).unwrap();
    check_layout::<u64>(device, &own(Strategy::Best, 64));
    let separate = Product { separate: true, ..Product::default() };
    check_layout::<u32>(device, &own(Strategy::Best, 32).with_product(separate).unwrap());
    check_layout::<u128>(device, &own(Strategy::Wide, 128));
    // Resident kernels have launches of their own.
    check_layout::<u32>(device, &own(Strategy::HeBooster(Sync::Local), 32));
}

/// Work on the caller's stream, and memory that is too short for the driver.
fn foreign_streams(device: &Device) {
    let stream = device.stream().unwrap();
    // SAFETY: the stream outlives the new value.
    let other = unsafe { device.on_stream(stream.cu_stream().cast()) }.unwrap();
    check_recipe(&other, &Recipe::new(Strategy::Best, 32, 13).unwrap(), 2, 2);
    let words = Batch::<u64>::zeroed(device, 1 << 20).unwrap();
    // SAFETY: no kernel uses these.
    let lend = |words, address| unsafe { Batch::<u64>::from_raw(&other, address, words) }.map(|_| ());
    assert_eq!(lend(1 << 20, words.address()), Ok(()));
    assert_eq!(lend(1 << 19, words.address() + (4 << 20)), Ok(()));
    assert!(matches!(lend(1 << 40, words.address()), Err(Error::Address { .. })));
    let on_host = [0_u64; 4];
    assert!(matches!(lend(4, on_host.as_ptr() as u64), Err(Error::Address { .. })));
}

/// The recipes for single transforms.
fn low_latency(device: &Device) {
    for (bits, log_n) in [(32, 10), (64, 13), (128, 10)] {
        check_recipe(device, &single(bits, log_n), 1, 1);
    }
}

fn single(bits: u32, log_n: u32) -> Recipe {
    Recipe::for_batches(bits, log_n, u128::MAX >> (130 - bits), 1).unwrap()
}

fn low_latency_at_all_sizes(device: &Device) {
    for bits in [32, 64, 128] {
        for log_n in 10..=17 {
            check_recipe(device, &single(bits, log_n), 1, 1);
        }
    }
}

fn main() -> ExitCode {
    let each = named![
        check_hard_product,
        recipes_for_batches,
        crosses_memory_once,
        crosses_memory_in_a_chain,
        full_quotients,
        layouts,
        plans_choose
    ];
    let emulated: [Test; 4] =
        named![bad_input_is_refused, emulated_lengths, low_latency, arguments_are_checked];
    let gpu: [Test; 7] = named![
        launches_share_nothing,
        all_lengths,
        more_than_fit_at_once,
        small_lengths,
        foreign_streams,
        low_latency_at_all_sizes,
        best_chains
    ];
    let mut trials: Vec<_> = on_each(&each).collect();
    trials.extend(emulated.map(|(name, test)| on(ON_EMULATED, name, test)));
    trials.extend(gpu.map(|(name, test)| on(ON_GPU, name, test)));
    for strategy in Strategy::ALL {
        let name = strategy.to_string().replace('-', "_");
        trials.push(on(ON_EMULATED, &name, move |device| {
            check_strategy(device, strategy, emulated_cases(strategy).iter().copied());
        }));
        trials.push(on(ON_GPU, &name, move |device| {
            check_strategy(device, strategy, all_words(strategy, &[10, 11, 12, 13, 14, 15, 16, 17]));
        }));
        trials.push(on(ON_GPU, &format!("small_{name}"), move |device| {
            check_strategy(device, strategy, all_words(strategy, &SMALL));
        }));
    }
    run(trials)
}
