//! Products of polynomials that stay on the card: the memory and the stream belong to the caller, here
//! in the role of another library. `cargo run -p rpu-gpu-ref --example resident`; without a GPU the emulation
//! computes in host memory.
//!
//! A ciphertext has room for 8 limbs, of which 5 are in use, so its polynomials are 8 N words apart. The
//! products are compared with the host model.

use cudarc::driver::{CudaContext, DevicePtr};
use gpu_ref::{Batch, Device, Direction, Error, Layout, Modulus, Plan, Strategy, host};
use std::error::Error as StdError;

const N: usize = 1 << 13;
/// Limbs in use, and room for limbs.
const LIMBS: usize = 5;
const ROOM: usize = 8;
const POLYNOMIALS: usize = 4;

fn main() -> Result<(), Box<dyn StdError>> {
    let moduli = (0..LIMBS).map(|skip| Modulus::<u64>::find(60, N, skip)).collect::<Result<Vec<_>, _>>()?;
    let words = |seed: u64| -> Vec<u64> {
        (0..(POLYNOMIALS * ROOM * N) as u64)
            .map(|i| (i + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 5)
            .collect()
    };
    let (left, right) = (words(1), words(2));
    let products = match Device::open(0) {
        Ok(gpu) => {
            println!("{}", gpu.name()?);
            on_card(&gpu, &moduli, &left, &right)?
        }
        Err(reason) => {
            println!("{reason}");
            in_host_memory(&Device::emulated()?, &moduli, left.clone(), right.clone())?
        }
    };
    for (row, product) in products.chunks(N).enumerate() {
        let range = row * N..(row + 1) * N;
        let (left, right) = (&left[range.clone()], &right[range]);
        // Limbs that are not in use stay as they are.
        let limb = moduli.get(row % ROOM);
        let want = limb.map_or_else(|| left.to_vec(), |modulus| host::product(modulus, left, right));
        if product != want {
            return Err(format!("row {row} differs from the host model").into());
        }
    }
    println!("{POLYNOMIALS} products of {LIMBS} limbs agree with the host model");
    Ok(())
}

/// The part that a program would have: products of polynomials in memory of the caller, which `left`
/// receives. Both are addresses of `POLYNOMIALS ROOM N` words.
///
/// # Safety
/// The words must be valid on the device until its stream has done this work.
unsafe fn multiply(device: &Device, moduli: &[Modulus<u64>], left: u64, right: u64) -> Result<(), Error> {
    let plan = Plan::new(device, Strategy::Best, moduli)?;
    let layout = Layout { first: 0, stride: ROOM * N, count: POLYNOMIALS };
    // SAFETY: guaranteed by the caller.
    let [mut left, mut right] = unsafe {
        let words = POLYNOMIALS * ROOM * N;
        [Batch::from_raw(device, left, words)?, Batch::from_raw(device, right, words)?]
    };
    // Other work on the transformed data could stand between these two.
    plan.transform_at(Direction::Forward, &mut left, layout)?;
    plan.transform_at(Direction::Inverse, &mut left, layout)?;
    plan.multiply_at(&mut left, &mut right, layout)
}

/// Memory and stream from `cudarc`, which knows nothing of this crate.
fn on_card(
    gpu: &Device,
    moduli: &[Modulus<u64>],
    left: &[u64],
    right: &[u64],
) -> Result<Vec<u64>, Box<dyn StdError>> {
    let stream = CudaContext::new(0)?.new_stream()?;
    let (left, right) = (stream.clone_htod(left)?, stream.clone_htod(right)?);
    let address = |slice| DevicePtr::device_ptr(slice, &stream).0;
    // SAFETY: the stream outlives the device, and the memory its work.
    unsafe {
        let device = gpu.on_stream(stream.cu_stream().cast())?;
        multiply(&device, moduli, address(&left), address(&right))?;
        // A failed kernel is reported here.
        device.synchronize()?;
    }
    Ok(stream.clone_dtoh(&left)?)
}

fn in_host_memory(
    emulated: &Device,
    moduli: &[Modulus<u64>],
    mut left: Vec<u64>,
    mut right: Vec<u64>,
) -> Result<Vec<u64>, Error> {
    // SAFETY: emulated kernels have ended when this returns.
    unsafe { multiply(emulated, moduli, left.as_mut_ptr() as u64, right.as_mut_ptr() as u64) }?;
    Ok(left)
}
