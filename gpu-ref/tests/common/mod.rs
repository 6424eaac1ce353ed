//! Shared by all tests of this crate: the devices, and the seed of random inputs.

#![allow(dead_code, reason = "not every test file uses all items")]

use gpu_ref::{Device, Error};
use std::sync::LazyLock;

/// A new seed for each run, unless `GPU_REF_SEED` sets it.
pub(crate) static SEED: LazyLock<u64> = LazyLock::new(|| match std::env::var("GPU_REF_SEED") {
    Ok(seed) => seed.parse().expect("GPU_REF_SEED is a decimal number"),
    Err(_) => rand::RngExt::random(&mut rand::rng()),
});

/// One device for all tests of a file, so that each kernel is compiled once.
pub(crate) static EMULATED: LazyLock<Option<Device>> = LazyLock::new(|| present(Device::emulated()));
pub(crate) static GPU: LazyLock<Option<Device>> = LazyLock::new(|| present(Device::open(0)));

/// Returns the device. On failure, prints the reason and returns `None`, and the tests that need
/// the device are skipped.
fn present(device: Result<Device, Error>) -> Option<Device> {
    device.inspect_err(|reason| eprintln!("SKIPPED, nothing was tested on this device: {reason}")).ok()
}

/// The available devices.
pub(crate) fn devices() -> impl Iterator<Item = &'static Device> {
    [&*EMULATED, &*GPU].into_iter().flatten()
}
