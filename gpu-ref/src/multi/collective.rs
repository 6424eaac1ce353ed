//! Communication among devices.

use crate::device::{Argument, Buffer, Device, Kernel, Launch};
use crate::{Error, source};
use cudarc::driver::CudaStream;
use cudarc::nccl::{result as nccl, sys};
use std::cell::RefCell;
use std::sync::Arc;

/// Rows of bytes in device memory, grouped in planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    /// Address of the first row.
    pub(super) address: u64,
    /// Bytes from the start of a row to the start of the next.
    pub(super) pitch: usize,
    /// Rows from the start of a plane to the start of the next.
    pub(super) height: usize,
}

/// Source or target of a [`Transfer`], on one of several devices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Endpoint {
    pub(super) rank: usize,
    pub(super) rows: Rows,
}

/// A copy of `planes` planes of `rows` rows of `bytes` bytes, on one device or between two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    pub(super) bytes: usize,
    pub(super) rows: usize,
    pub(super) planes: usize,
}

impl Transfer {
    /// A copy of contiguous bytes between two addresses.
    pub(super) fn whole(from: (usize, u64), to: (usize, u64), bytes: usize) -> Self {
        let endpoint = |(rank, address)| Endpoint { rank, rows: Rows { address, pitch: bytes, height: 1 } };
        Self { from: endpoint(from), to: endpoint(to), bytes, rows: 1, planes: 1 }
    }

    pub(super) fn total(&self) -> usize {
        self.bytes * self.rows * self.planes
    }

    /// Returns true if the rows of `endpoint` are contiguous.
    pub(super) fn is_packed(&self, endpoint: &Endpoint) -> bool {
        let Rows { pitch, height, .. } = endpoint.rows;
        (pitch == self.bytes || self.rows * self.planes == 1) && (height == self.rows || self.planes == 1)
    }

    /// The contiguous pieces of the copy, as few as possible: from, to, bytes.
    fn pieces(&self) -> impl Iterator<Item = (u64, u64, usize)> {
        let Self { from, to, bytes, rows, planes } = *self;
        let whole = self.is_packed(&from) && self.is_packed(&to);
        let (planes, rows, bytes) = if whole { (1, 1, self.total()) } else { (planes, rows, bytes) };
        let at = |rows: Rows, plane, row| rows.address + ((plane * rows.height + row) * rows.pitch) as u64;
        (0..planes).flat_map(move |plane| {
            (0..rows).map(move |row| (at(from.rows, plane, row), at(to.rows, plane, row), bytes))
        })
    }
}

/// A sum over all devices. The result replaces the summand of device `root`.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub(super) root: usize,
    /// One address for each device.
    pub(super) addresses: Vec<u64>,
    pub(super) words: usize,
}

/// Communication among devices. Each call is ordered after all earlier launches on the devices and
/// before all later ones.
///
/// # Safety
/// For all methods: each address must be valid for the given number of bytes on its device, and
/// nothing else may use that memory until the work launched so far has ended. The bytes written by
/// a call must not overlap any others that it accesses.
pub(super) trait Collective {
    /// Performs all transfers.
    unsafe fn exchange(&self, transfers: &[Transfer]) -> Result<(), Error>;

    /// Starts transfers after all earlier launches. Later launches may run beside them, and must not
    /// use their targets or change their sources before [`Self::finish`].
    unsafe fn begin(&self, transfers: &[Transfer]) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.exchange(transfers) }
    }

    /// Orders later launches after all transfers begun so far.
    fn finish(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Performs all sums, modulo 2^`word_bits`, on words of 32 or 64 bits.
    unsafe fn sum(&self, sums: &[Sum], word_bits: u32) -> Result<(), Error>;
}

/// Communication through host memory, for emulated devices. Caramel's first version worked this
/// way.
pub(super) struct Staged {
    pub(super) devices: Vec<Device>,
}

impl Staged {
    /// # Safety
    /// See [`Collective`].
    unsafe fn read(&self, rank: usize, from: u64, bytes: usize) -> Result<Vec<u8>, Error> {
        let mut words = vec![0; bytes];
        // SAFETY: guaranteed by the caller.
        unsafe { self.devices[rank].read(from, &mut words) }?;
        Ok(words)
    }
}

impl Collective for Staged {
    unsafe fn exchange(&self, transfers: &[Transfer]) -> Result<(), Error> {
        for transfer in transfers {
            for (from, to, bytes) in transfer.pieces() {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    let words = self.read(transfer.from.rank, from, bytes)?;
                    self.devices[transfer.to.rank].write(to, &words)?;
                }
            }
        }
        Ok(())
    }

    unsafe fn sum(&self, sums: &[Sum], word_bits: u32) -> Result<(), Error> {
        let word_bytes = word_bits as usize / 8;
        for Sum { root, addresses, words } in sums {
            let mut totals = vec![0u64; *words];
            for (rank, &address) in addresses.iter().enumerate() {
                // SAFETY: guaranteed by the caller.
                let summand = unsafe { self.read(rank, address, words * word_bytes) }?;
                for (total, bytes) in totals.iter_mut().zip(summand.chunks(word_bytes)) {
                    let mut word = [0; 8];
                    word[..word_bytes].copy_from_slice(bytes);
                    *total = total.wrapping_add(u64::from_le_bytes(word));
                }
            }
            let bytes: Vec<u8> =
                totals.iter().flat_map(|total| total.to_le_bytes().into_iter().take(word_bytes)).collect();
            // SAFETY: guaranteed by the caller.
            unsafe { self.devices[*root].write(addresses[*root], &bytes) }?;
        }
        Ok(())
    }
}

/// Communication through NCCL, on the devices' own streams. A transfer between devices is one
/// message, packed and unpacked if its rows are not contiguous.
pub(super) struct Nccl {
    ranks: Vec<Rank>,
}

struct Rank {
    device: Device,
    communicator: sys::ncclComm_t,
    stream: Arc<CudaStream>,
    copy_rows: Kernel,
    /// Buffer for packed messages, which grows as needed.
    packing: RefCell<Option<(usize, Buffer)>>,
}

impl Rank {
    fn stream(&self) -> sys::cudaStream_t {
        self.stream.cu_stream().cast()
    }

    /// The address of a buffer of at least `bytes` bytes.
    fn packing(&self, bytes: usize) -> Result<u64, Error> {
        let mut packing = self.packing.borrow_mut();
        let buffer = match packing.take() {
            Some((size, buffer)) if size >= bytes => (size, buffer),
            _ => (bytes, self.device.allocate(bytes)?),
        };
        Ok(packing.insert(buffer).1.region(0, 0).start)
    }
}

fn failed(call: &'static str) -> impl Fn(nccl::NcclError) -> Error {
    move |error| Error::Driver { call, code: format!("{:?}", error.0) }
}

impl Nccl {
    /// Joins distinct CUDA devices.
    pub(super) fn new(devices: &[Device]) -> Result<Self, Error> {
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

pub(super) fn copy_rows(device: &Device) -> Result<Kernel, Error> {
    device.compile("rows.cu", &source::rows())?.kernel("copy_rows", 0)
}

/// The launch of [`copy_rows`] for a transfer. Addresses, pitches and row lengths are multiples of
/// 16 bytes.
pub(super) fn copy<'k>(kernel: &'k Kernel, transfer: &Transfer, from: Rows, to: Rows) -> Launch<'k> {
    const PIECE: usize = 16;
    const THREADS: usize = 128;
    let Transfer { bytes, rows, planes, .. } = *transfer;
    let sizes = [bytes / PIECE, from.pitch / PIECE, from.height, to.pitch / PIECE, to.height];
    let mut arguments = vec![Argument::address(from.address), Argument::address(to.address)];
    arguments.extend(sizes.map(|size| Argument::from(size as u32)));
    let grid = [bytes.div_ceil(PIECE * THREADS), rows, planes].map(|blocks| blocks as u32);
    Launch::ordered(kernel, grid, THREADS as u32, 0, arguments)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel copies the bytes of the transfer's pieces and no others.
    #[test]
    fn rows_are_copied_as_their_pieces_say() {
        let Ok(device) = Device::emulated() else { return };
        let kernel = copy_rows(&device).unwrap();
        let source: Vec<u8> = (0..48 * 16 * 12_u32).map(|i| (i % 251) as u8).collect();
        let [mut from, to] = [(); 2].map(|()| device.allocate(source.len()).unwrap());
        device.upload(&source, &mut from).unwrap();
        let (from, to) = (from, to);
        let start = |buffer: &Buffer, byte| buffer.region(byte, 0).start;
        let endpoint = |address, pitch, height| Endpoint { rank: 0, rows: Rows { address, pitch, height } };
        // 2 planes of 3 rows of 37 pieces, from pitch 48 and height 5 to pitch 40 and height 4.
        let transfer = Transfer {
            from: endpoint(start(&from, 32), 48 * 16, 5),
            to: endpoint(start(&to, 16), 40 * 16, 4),
            bytes: 37 * 16,
            rows: 3,
            planes: 2,
        };
        assert!(!transfer.is_packed(&transfer.from) && !transfer.is_packed(&transfer.to));
        // SAFETY: source and target are inside their buffers.
        unsafe { device.launch(&copy(&kernel, &transfer, transfer.from.rows, transfer.to.rows)) }.unwrap();
        let mut got = vec![0; source.len()];
        device.download(&to, &mut got).unwrap();
        let mut want = vec![0; source.len()];
        assert_eq!(transfer.pieces().count(), 6);
        for (piece_from, piece_to, bytes) in transfer.pieces() {
            let at = |address, buffer| (address - start(buffer, 0)) as usize;
            let (at_from, at_to) = (at(piece_from, &from), at(piece_to, &to));
            want[at_to..at_to + bytes].copy_from_slice(&source[at_from..at_from + bytes]);
        }
        assert!(got == want);
    }

    /// Contiguous rows form one piece.
    #[test]
    fn packed_rows_are_one_piece() {
        let rows = |address| Endpoint { rank: 0, rows: Rows { address, pitch: 64, height: 3 } };
        let transfer = Transfer { from: rows(0), to: rows(4096), bytes: 64, rows: 3, planes: 2 };
        assert!(transfer.pieces().eq([(0, 4096, 384)]));
        let one_plane = Transfer { rows: 2, planes: 1, ..transfer };
        assert!(one_plane.pieces().eq([(0, 4096, 128)]));
        let two_planes = Transfer { rows: 2, ..transfer };
        assert!(two_planes.pieces().eq([(0, 4096, 64), (64, 4160, 64), (192, 4288, 64), (256, 4352, 64)]));
    }
}
