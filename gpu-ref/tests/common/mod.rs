//! Shared by all tests of this crate: the devices, the seed of random inputs, and a harness that
//! ignores the tests of a missing device and says why.

#![allow(dead_code, reason = "not every test file uses all items")]

use gpu_ref::{Device, Error};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::sync::LazyLock;

/// A new seed for each run, unless `GPU_REF_SEED` sets it.
pub(crate) static SEED: LazyLock<u64> = LazyLock::new(|| match std::env::var("GPU_REF_SEED") {
    Ok(seed) => seed.parse().expect("GPU_REF_SEED is a decimal number"),
    Err(_) => rand::RngExt::random(&mut rand::rng()),
});

/// A device for all tests of a file, so that each kernel is compiled once.
type Shared = LazyLock<Result<Device, Error>>;

pub(crate) static EMULATED: Shared = LazyLock::new(Device::emulated);
pub(crate) static GPU: Shared = LazyLock::new(|| Device::open(0));

/// A test, or an ignored one if something is missing. The reason appears beside its name.
pub(crate) fn trial(name: String, missing: Option<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    let Some(reason) = missing else {
        return Trial::test(name, move || {
            test();
            Ok(())
        });
    };
    let failure = Failed::from(&reason);
    Trial::test(name, move || Err(failure)).with_kind(reason).with_ignored_flag(true)
}

/// A test on one device, named after both.
pub(crate) fn on(
    device: (&str, &'static Shared),
    name: &str,
    test: impl FnOnce(&'static Device) + Send + 'static,
) -> Trial {
    let (prefix, device) = device;
    let missing = device.as_ref().err().map(ToString::to_string);
    trial(format!("{prefix}::{name}"), missing, move || test(device.as_ref().expect("the device is there")))
}

/// The emulation, and its name in tests.
pub(crate) const ON_EMULATED: (&str, &Shared) = ("emulated", &EMULATED);
/// A GPU, and its name in tests.
pub(crate) const ON_GPU: (&str, &Shared) = ("gpu", &GPU);

/// A function that tests a device, with its name.
pub(crate) type Test = (&'static str, fn(&'static Device));

/// Tests on each device.
pub(crate) fn on_each(tests: &[Test]) -> impl Iterator<Item = Trial> {
    tests.iter().flat_map(|&(name, test)| [on(ON_EMULATED, name, test), on(ON_GPU, name, test)])
}

/// Runs the tests that the command line selects.
pub(crate) fn run(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Functions with their names.
macro_rules! named {
    ($($test:ident),* $(,)?) => {
        [$((stringify!($test), $test as _)),*]
    };
}
pub(crate) use named;
