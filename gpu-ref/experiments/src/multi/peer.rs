//! Communication through peer pointers: each device reads the others' memory itself.

use crate::multi::transfer::{Collective, Sum, Transfer, copy, copy_rows, kernel};
use cudarc::driver::{CudaEvent, CudaStream, DriverError, sys};
use gpu_ref::device::{Argument, Kernel, Launch};
use gpu_ref::{Device, Error};
use std::sync::Arc;

/// CUDA devices that read each other's memory. Transfers overlap with a device's kernels, on a second stream:
/// contiguous ones on copy engines, strided ones as kernels.
pub(crate) struct Peer {
    ranks: Vec<Rank>,
}

struct Rank {
    main: Arc<CudaStream>,
    second: Arc<CudaStream>,
    /// The device with the second stream, which outlives it.
    beside: Device,
    copy_rows: Kernel,
    accumulate: Kernel,
}

impl Rank {
    fn new(device: &Device, ordinals: &[usize]) -> Result<Self, Error> {
        let main = device.stream()?;
        grant_access(&main, ordinals)?;
        let second = main.context().new_stream().map_err(failed("creating a stream"))?;
        // SAFETY: the fields are dropped together, and no plan or batch belongs to this device.
        let beside = unsafe { device.on_stream(second.cu_stream().cast()) }?;
        Ok(Self { main, second, beside, copy_rows: copy_rows(device)?, accumulate: accumulate(device)? })
    }
}

/// Lets other devices use the memory of a device's pool, from which its batches come.
fn grant_access(stream: &CudaStream, ordinals: &[usize]) -> Result<(), Error> {
    let context = stream.context();
    let mut pool = std::ptr::null_mut();
    // SAFETY: the pool is written to a local variable.
    unsafe { sys::cuDeviceGetDefaultMemPool(&raw mut pool, context.cu_device()) }
        .result()
        .map_err(failed("finding the memory pool"))?;
    let access: Vec<_> = (ordinals.iter().filter(|&&ordinal| ordinal != context.ordinal()))
        .map(|&ordinal| sys::CUmemAccessDesc {
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: ordinal as i32,
            },
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        })
        .collect();
    if access.is_empty() {
        return Ok(());
    }
    // SAFETY: the pool exists, and the array has that many elements.
    unsafe { sys::cuMemPoolSetAccess(pool, access.as_ptr(), access.len()) }
        .result()
        .map_err(failed("granting access to another device"))
}

impl Peer {
    /// Gives distinct CUDA devices access to each other's memory.
    pub(crate) fn new(devices: &[Device]) -> Result<Self, Error> {
        let ordinal = |device: &Device| device.stream().map(|stream| stream.context().ordinal());
        let ordinals = devices.iter().map(ordinal).collect::<Result<Vec<_>, _>>()?;
        let ranks = devices.iter().map(|device| Rank::new(device, &ordinals)).collect::<Result<_, _>>()?;
        Ok(Self { ranks })
    }

    /// Second streams wait for all work so far, so that transfers find complete sources and unused
    /// targets.
    fn fork(&self) -> Result<(), Error> {
        let events = self.ranks.iter().map(|rank| mark(&rank.main)).collect::<Result<Vec<_>, _>>()?;
        self.ranks.iter().try_for_each(|rank| wait(&rank.second, &events))
    }
}

/// The error of a driver call.
fn failed(call: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Driver { call, code: format!("{:?}", error.0) }
}

/// The end of all work so far on a stream.
fn mark(stream: &CudaStream) -> Result<CudaEvent, Error> {
    stream.record_event(None).map_err(failed("recording an event"))
}

/// Orders later work of a stream after events of any device.
fn wait(stream: &CudaStream, events: &[CudaEvent]) -> Result<(), Error> {
    stream.context().bind_to_thread().map_err(failed("binding the context"))?;
    events.iter().try_for_each(|event| {
        // SAFETY: both are alive.
        unsafe { sys::cuStreamWaitEvent(stream.cu_stream(), event.cu_event(), 0) }
            .result()
            .map_err(failed("waiting for an event"))
    })
}

impl Collective for Peer {
    unsafe fn begin(&self, transfers: &[Transfer]) -> Result<(), Error> {
        self.fork()?;
        for transfer in transfers {
            let Rank { beside, copy_rows, .. } = &self.ranks[transfer.to.rank];
            let (from, to) = (transfer.from.rows.address, transfer.to.rows.address);
            // SAFETY: guaranteed by the caller; the device may read its peers' memory.
            unsafe {
                if transfer.is_packed() {
                    beside.start_copy(to, from, transfer.total())?;
                } else {
                    beside.launch(&copy(copy_rows, transfer))?;
                }
            }
        }
        Ok(())
    }

    /// All devices wait for the transfers so far.
    fn finish(&self) -> Result<(), Error> {
        let events = self.ranks.iter().map(|rank| mark(&rank.second)).collect::<Result<Vec<_>, _>>()?;
        self.ranks.iter().try_for_each(|rank| wait(&rank.main, &events))
    }

    unsafe fn sum(&self, sums: &[Sum], word_bits: u32) -> Result<(), Error> {
        self.fork()?;
        for Sum { root, addresses, words } in sums {
            let Rank { beside, accumulate, .. } = &self.ranks[*root];
            let to = addresses[*root];
            for (_, &from) in addresses.iter().enumerate().filter(|(rank, _)| rank != root) {
                let launch = addition(accumulate, from, to, words * word_bits as usize / 64);
                // SAFETY: guaranteed by the caller; the device may read its peers' memory.
                unsafe { beside.launch(&launch) }?;
            }
        }
        self.finish()
    }
}

fn accumulate(device: &Device) -> Result<Kernel, Error> {
    kernel(device, "accumulate")
}

/// The launch of [`accumulate`] for a number of 64-bit words.
fn addition(kernel: &Kernel, from: u64, to: u64, words: usize) -> Launch<'_> {
    const THREADS: usize = 128;
    let arguments = vec![Argument::address(from), Argument::address(to), Argument::from(words as u32)];
    Launch::ordered(kernel, [words.div_ceil(THREADS) as u32, 1, 1], THREADS as u32, 0, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_ref::Batch;

    #[test]
    fn additions_stop_at_their_length() {
        let Ok(device) = Device::emulated() else { return };
        let kernel = accumulate(&device).unwrap();
        let words = |factor: u64| (0..200).map(|i: u64| i * factor).collect::<Vec<_>>();
        let [from, to] = [3, 5].map(|factor| Batch::upload(&device, &words(factor)).unwrap());
        // SAFETY: both batches have that many words.
        unsafe { device.launch(&addition(&kernel, from.address(), to.address(), 150)) }.unwrap();
        assert_eq!(to.download().unwrap(), [&words(8)[..150], &words(5)[150..]].concat());
    }
}
