//! How devices hand data to each other.

use std::sync::Arc;

use cudarc::driver::{CudaStream, result as cuda};
use cudarc::nccl::{result as nccl, sys};

use crate::Error;
use crate::device::Device;

/// Words on one of several devices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) rank: usize,
    pub(super) address: u64,
}

/// A copy from one place to another, on the same or another device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    pub(super) from: Place,
    pub(super) to: Place,
    pub(super) bytes: usize,
}

/// Communication among devices. Each call comes after everything launched on the devices before it, and before everything
/// launched later.
///
/// # Safety
/// For all methods: the addresses must be those of memory of so many bytes on their devices, which nothing else uses until the
/// work launched so far has ended; what one call writes must not overlap what else it uses.
pub(super) trait Collective {
    /// Makes all transfers.
    unsafe fn exchange(&self, transfers: &[Transfer]) -> Result<(), Error>;

    /// Copies from device `root` to all others; one address for each device.
    unsafe fn broadcast(&self, root: usize, addresses: &[u64], bytes: usize) -> Result<(), Error>;

    /// Replaces words on device `root` by the sums over all devices, modulo 2^`word_bits`, of 32 or 64 bits.
    unsafe fn sum(&self, root: usize, addresses: &[u64], words: usize, word_bits: u32) -> Result<(), Error>;
}

/// Through the host's memory: for emulated devices, and what Caramel began with.
pub(super) struct Staged {
    pub(super) devices: Vec<Device>,
}

impl Staged {
    /// # Safety
    /// As [`Collective`].
    unsafe fn read(&self, from: Place, bytes: usize) -> Result<Vec<u8>, Error> {
        let mut words = vec![0; bytes];
        // SAFETY: the caller's promise.
        unsafe { self.devices[from.rank].read(from.address, &mut words) }?;
        Ok(words)
    }
}

impl Collective for Staged {
    unsafe fn exchange(&self, transfers: &[Transfer]) -> Result<(), Error> {
        for transfer in transfers {
            // SAFETY: the caller's promise.
            unsafe {
                let words = self.read(transfer.from, transfer.bytes)?;
                self.devices[transfer.to.rank].write(transfer.to.address, &words)?;
            }
        }
        Ok(())
    }

    unsafe fn broadcast(&self, root: usize, addresses: &[u64], bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let words = unsafe { self.read(Place { rank: root, address: addresses[root] }, bytes) }?;
        for (rank, &address) in addresses.iter().enumerate().filter(|&(rank, _)| rank != root) {
            // SAFETY: the caller's promise.
            unsafe { self.devices[rank].write(address, &words) }?;
        }
        Ok(())
    }

    unsafe fn sum(&self, root: usize, addresses: &[u64], words: usize, word_bits: u32) -> Result<(), Error> {
        let word_bytes = word_bits as usize / 8;
        let mut sums = vec![0u64; words];
        for (rank, &address) in addresses.iter().enumerate() {
            // SAFETY: the caller's promise.
            let summand = unsafe { self.read(Place { rank, address }, words * word_bytes) }?;
            for (sum, bytes) in sums.iter_mut().zip(summand.chunks(word_bytes)) {
                let mut word = [0; 8];
                word[..word_bytes].copy_from_slice(bytes);
                *sum = sum.wrapping_add(u64::from_le_bytes(word));
            }
        }
        let bytes: Vec<u8> =
            sums.iter().flat_map(|sum| sum.to_le_bytes().into_iter().take(word_bytes)).collect();
        // SAFETY: the caller's promise.
        unsafe { self.devices[root].write(addresses[root], &bytes) }
    }
}

/// Through NCCL, on the devices' own streams.
pub(super) struct Nccl {
    ranks: Vec<Rank>,
}

struct Rank {
    communicator: sys::ncclComm_t,
    stream: Arc<CudaStream>,
}

impl Rank {
    fn stream(&self) -> sys::cudaStream_t {
        self.stream.cu_stream().cast()
    }
}

fn failed(call: &'static str) -> impl Fn(nccl::NcclError) -> Error {
    move |error| Error::Driver { call, code: format!("{:?}", error.0) }
}

impl Nccl {
    /// Joins CUDA devices, all different ones.
    pub(super) fn new(devices: &[Device]) -> Result<Self, Error> {
        // SAFETY: this only tries to load a library. Asking first matters: cudarc panics where there is none.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDevice { reason: "the library NCCL (libnccl.so) is not installed".into() });
        }
        let streams = devices.iter().map(Device::stream).collect::<Result<Vec<_>, _>>()?;
        let ordinals: Vec<i32> = streams.iter().map(|stream| stream.context().ordinal() as i32).collect();
        let mut communicators = vec![std::ptr::null_mut(); devices.len()];
        // SAFETY: both arrays have as many elements as there are devices.
        unsafe { nccl::comm_init_all(communicators.as_mut_ptr(), ordinals.len() as i32, ordinals.as_ptr()) }
            .map_err(failed("joining devices"))?;
        let ranks = communicators.into_iter().zip(streams);
        Ok(Self { ranks: ranks.map(|(communicator, stream)| Rank { communicator, stream }).collect() })
    }

    /// Calls that belong together, which NCCL starts at once.
    fn group(&self, calls: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        nccl::group_start().map_err(failed("beginning a group"))?;
        let outcome = calls();
        // The group has to end whatever became of the calls.
        let ended = nccl::group_end().map_err(failed("communicating"));
        outcome?;
        ended.map(|_| ())
    }
}

impl Collective for Nccl {
    unsafe fn exchange(&self, transfers: &[Transfer]) -> Result<(), Error> {
        let bytes = sys::ncclDataType_t::ncclUint8;
        self.group(|| {
            for Transfer { from, to, bytes: count } in transfers.iter().filter(|t| t.from.rank != t.to.rank) {
                let (sender, receiver) = (&self.ranks[from.rank], &self.ranks[to.rank]);
                // SAFETY: the caller's promise.
                unsafe {
                    let (peer, at) = (to.rank as i32, from.address as *const _);
                    nccl::send(at, *count, bytes, peer, sender.communicator, sender.stream())
                        .map_err(failed("sending"))?;
                    let (peer, at) = (from.rank as i32, to.address as *mut _);
                    nccl::recv(at, *count, bytes, peer, receiver.communicator, receiver.stream())
                        .map_err(failed("receiving"))?;
                }
            }
            Ok(())
        })?;
        for transfer in transfers.iter().filter(|t| t.from.rank == t.to.rank) {
            let stream = &self.ranks[transfer.to.rank].stream;
            let fail = |error: cudarc::driver::DriverError| Error::Driver {
                call: "copying on a device",
                code: format!("{:?}", error.0),
            };
            stream.context().bind_to_thread().map_err(fail)?;
            let Transfer { from, to, bytes } = *transfer;
            // SAFETY: the caller's promise.
            unsafe { cuda::memcpy_dtod_async(to.address, from.address, bytes, stream.cu_stream()) }
                .map_err(fail)?;
        }
        Ok(())
    }

    unsafe fn broadcast(&self, root: usize, addresses: &[u64], bytes: usize) -> Result<(), Error> {
        self.group(|| {
            for (rank, &address) in self.ranks.iter().zip(addresses) {
                // SAFETY: the caller's promise.
                unsafe {
                    nccl::broadcast(
                        address as *const _,
                        address as *mut _,
                        bytes,
                        sys::ncclDataType_t::ncclUint8,
                        root as i32,
                        rank.communicator,
                        rank.stream(),
                    )
                }
                .map_err(failed("broadcasting"))?;
            }
            Ok(())
        })
    }

    unsafe fn sum(&self, root: usize, addresses: &[u64], words: usize, word_bits: u32) -> Result<(), Error> {
        let word = match word_bits {
            32 => sys::ncclDataType_t::ncclUint32,
            _ => sys::ncclDataType_t::ncclUint64,
        };
        self.group(|| {
            for (rank, &address) in self.ranks.iter().zip(addresses) {
                // SAFETY: the caller's promise; on the root the sums go where its summands are.
                unsafe {
                    nccl::reduce(
                        address as *const _,
                        address as *mut _,
                        words,
                        word,
                        sys::ncclRedOp_t::ncclSum,
                        root as i32,
                        rank.communicator,
                        rank.stream(),
                    )
                }
                .map_err(failed("summing"))?;
            }
            Ok(())
        })
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        for rank in &self.ranks {
            // Nobody is left to tell of a failure.
            let _ = rank.stream.synchronize();
            // SAFETY: each communicator was made once.
            let _ = unsafe { nccl::comm_destroy(rank.communicator) };
        }
    }
}
