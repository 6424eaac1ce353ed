//! Communication through NCCL.

use crate::failed;
use crate::transfer::{Collective, Endpoint, Rows, Sum, Transfer, copy, copy_rows};
use cudarc::driver::CudaStream;
use cudarc::nccl::{result as nccl, sys};
use gpu_ref::device::Kernel;
use gpu_ref::{Batch, Device, Error};
use std::cell::RefCell;
use std::sync::Arc;

/// Communication through NCCL, on the devices' own streams. A transfer between devices is one
/// message, packed and unpacked if its rows are not contiguous.
pub(crate) struct Nccl {
    ranks: Vec<Rank>,
}

struct Rank {
    device: Device,
    communicator: sys::ncclComm_t,
    stream: Arc<CudaStream>,
    copy_rows: Kernel,
    /// Buffer for packed messages, which grows as needed.
    packing: RefCell<Option<Batch<u8>>>,
}

impl Rank {
    fn stream(&self) -> sys::cudaStream_t {
        self.stream.cu_stream().cast()
    }

    /// The address of a buffer of at least `bytes` bytes.
    fn packing(&self, bytes: usize) -> Result<u64, Error> {
        let mut packing = self.packing.borrow_mut();
        let buffer = match packing.take() {
            Some(buffer) if buffer.words() >= bytes => buffer,
            _ => Batch::zeroed(&self.device, bytes)?,
        };
        Ok(packing.insert(buffer).address())
    }
}

impl Nccl {
    /// Joins distinct CUDA devices.
    pub(crate) fn new(devices: &[Device]) -> Result<Self, Error> {
        // SAFETY: this only tries to load a library. The check comes first because cudarc panics if
        // it is missing.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDevice { reason: "the NCCL library (libnccl.so) is not installed".into() });
        }
        let streams = devices.iter().map(Device::stream).collect::<Result<Vec<_>, _>>()?;
        let kernels = devices.iter().map(copy_rows).collect::<Result<Vec<_>, _>>()?;
        let ordinals: Vec<i32> = streams.iter().map(|stream| stream.context().ordinal() as i32).collect();
        let mut communicators = vec![std::ptr::null_mut(); devices.len()];
        // SAFETY: both arrays have one element for each device.
        unsafe { nccl::comm_init_all(communicators.as_mut_ptr(), ordinals.len() as i32, ordinals.as_ptr()) }
            .map_err(failed("joining devices"))?;
        let ranks = devices.iter().cloned().zip(communicators).zip(streams).zip(kernels).map(
            |(((device, communicator), stream), copy_rows)| Rank {
                device,
                communicator,
                stream,
                copy_rows,
                packing: RefCell::default(),
            },
        );
        Ok(Self { ranks: ranks.collect() })
    }

    /// Groups calls, which NCCL then starts together.
    fn group(&self, calls: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        nccl::group_start().map_err(failed("beginning a group"))?;
        let outcome = calls();
        // The group must end even if a call failed.
        let ended = nccl::group_end().map_err(failed("communicating"));
        outcome?;
        ended.map(|_| ())
    }

    /// The messages between devices: transfers with their rows packed, on either device, if they
    /// are not contiguous.
    fn messages(&self, transfers: &[Transfer]) -> Result<Vec<Transfer>, Error> {
        let ends = |t: &Transfer| [(t.from, *t), (t.to, *t)];
        let mut free = Vec::with_capacity(self.ranks.len());
        for (number, rank) in self.ranks.iter().enumerate() {
            let apart = transfers.iter().flat_map(ends).filter(|(p, t)| p.rank == number && !t.is_packed(p));
            let bytes = apart.map(|(_, transfer)| transfer.total()).sum();
            free.push(if bytes == 0 { 0 } else { rank.packing(bytes)? });
        }
        let mut gathered = |transfer: &Transfer, endpoint: Endpoint| {
            if transfer.is_packed(&endpoint) {
                return endpoint;
            }
            let rows = Rows { address: free[endpoint.rank], pitch: transfer.bytes, height: transfer.rows };
            free[endpoint.rank] += transfer.total() as u64;
            Endpoint { rows, ..endpoint }
        };
        let message = |t: &Transfer| Transfer { from: gathered(t, t.from), to: gathered(t, t.to), ..*t };
        Ok(transfers.iter().map(message).collect())
    }

    /// Copies the rows of a transfer within a device, unless source and target are equal.
    ///
    /// # Safety
    /// See [`Collective`].
    unsafe fn copy(&self, transfer: &Transfer, from: Endpoint, to: Endpoint) -> Result<(), Error> {
        if from.rows == to.rows {
            return Ok(());
        }
        let Rank { device, copy_rows, .. } = &self.ranks[to.rank];
        // SAFETY: guaranteed by the caller.
        unsafe { device.launch(&copy(copy_rows, transfer, from.rows, to.rows)) }
    }
}

impl Collective for Nccl {
    unsafe fn exchange(&self, transfers: &[Transfer]) -> Result<(), Error> {
        let (inside, between): (Vec<_>, Vec<_>) =
            transfers.iter().partition(|transfer| transfer.from.rank == transfer.to.rank);
        let messages = self.messages(&between)?;
        for (transfer, message) in between.iter().zip(&messages) {
            // SAFETY: guaranteed by the caller; only the device's own stream uses the packing
            // buffer.
            unsafe { self.copy(transfer, transfer.from, message.from) }?;
        }
        let kind = sys::ncclDataType_t::ncclUint8;
        self.group(|| {
            for message in &messages {
                let (from, to, bytes) = (message.from, message.to, message.total());
                let (sender, receiver) = (&self.ranks[from.rank], &self.ranks[to.rank]);
                // SAFETY: as above; the packed rows are contiguous.
                unsafe {
                    let (peer, at) = (to.rank as i32, from.rows.address as *const _);
                    nccl::send(at, bytes, kind, peer, sender.communicator, sender.stream())
                        .map_err(failed("sending"))?;
                    let (peer, at) = (from.rank as i32, to.rows.address as *mut _);
                    nccl::recv(at, bytes, kind, peer, receiver.communicator, receiver.stream())
                        .map_err(failed("receiving"))?;
                }
            }
            Ok(())
        })?;
        for (transfer, message) in between.iter().zip(&messages) {
            // SAFETY: as above.
            unsafe { self.copy(transfer, message.to, transfer.to) }?;
        }
        // SAFETY: guaranteed by the caller.
        inside.iter().try_for_each(|transfer| unsafe { self.copy(transfer, transfer.from, transfer.to) })
    }

    unsafe fn sum(&self, sums: &[Sum], word_bits: u32) -> Result<(), Error> {
        let word = match word_bits {
            32 => sys::ncclDataType_t::ncclUint32,
            _ => sys::ncclDataType_t::ncclUint64,
        };
        self.group(|| {
            for Sum { root, addresses, words } in sums {
                for (rank, &address) in self.ranks.iter().zip(addresses) {
                    // SAFETY: guaranteed by the caller; on the root the sums replace its summands.
                    unsafe {
                        nccl::reduce(
                            address as *const _,
                            address as *mut _,
                            *words,
                            word,
                            sys::ncclRedOp_t::ncclSum,
                            *root as i32,
                            rank.communicator,
                            rank.stream(),
                        )
                    }
                    .map_err(failed("summing"))?;
                }
            }
            Ok(())
        })
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        for rank in &self.ranks {
            // A failure cannot be reported here.
            let _ = rank.stream.synchronize();
            // SAFETY: each communicator was created once.
            let _ = unsafe { nccl::comm_destroy(rank.communicator) };
        }
    }
}
