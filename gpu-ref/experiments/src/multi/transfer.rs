//! Transfers and sums among devices.

use gpu_ref::device::{Argument, Kernel, Launch};
use gpu_ref::{Device, Error, source};

/// Rows of bytes in device memory, grouped in planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rows {
    /// Address of the first row.
    pub(crate) address: u64,
    /// Bytes from the start of a row to the start of the next.
    pub(crate) pitch: usize,
    /// Rows from the start of a plane to the start of the next.
    pub(crate) height: usize,
}

/// Source or target of a [`Transfer`], on one of several devices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint {
    pub(crate) rank: usize,
    pub(crate) rows: Rows,
}

/// A copy of `planes` planes of `rows` rows of `bytes` bytes, on one device or between two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) from: Endpoint,
    pub(crate) to: Endpoint,
    pub(crate) bytes: usize,
    pub(crate) rows: usize,
    pub(crate) planes: usize,
}

impl Transfer {
    /// A copy of contiguous bytes between two addresses.
    pub(crate) fn whole(from: (usize, u64), to: (usize, u64), bytes: usize) -> Self {
        let endpoint = |(rank, address)| Endpoint { rank, rows: Rows { address, pitch: bytes, height: 1 } };
        Self { from: endpoint(from), to: endpoint(to), bytes, rows: 1, planes: 1 }
    }

    pub(crate) fn total(&self) -> usize {
        self.bytes * self.rows * self.planes
    }

    /// Returns true if source and target are contiguous.
    pub(crate) fn is_packed(&self) -> bool {
        [self.from, self.to].iter().all(|endpoint| {
            let Rows { pitch, height, .. } = endpoint.rows;
            (pitch == self.bytes || self.rows * self.planes == 1) && (height == self.rows || self.planes == 1)
        })
    }

    /// The contiguous pieces of the copy, as few as possible: from, to, bytes.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (u64, u64, usize)> {
        let Self { from, to, bytes, rows, planes } = *self;
        let (planes, rows, bytes) =
            if self.is_packed() { (1, 1, self.total()) } else { (planes, rows, bytes) };
        let at = |rows: Rows, plane, row| rows.address + ((plane * rows.height + row) * rows.pitch) as u64;
        (0..planes).flat_map(move |plane| {
            (0..rows).map(move |row| (at(from.rows, plane, row), at(to.rows, plane, row), bytes))
        })
    }
}

/// A sum over all devices. The result replaces the summand of device `root`.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    pub(crate) root: usize,
    /// One address for each device.
    pub(crate) addresses: Vec<u64>,
    pub(crate) words: usize,
}

/// Communication among devices. Each call is ordered after all earlier launches on the devices and
/// before all later ones.
///
/// # Safety
/// For all methods: each address must be valid for the given number of bytes on its device, and nothing else
/// may use that memory until the work launched so far has ended. The bytes that a call writes must not
/// overlap any other bytes that it accesses.
pub(crate) trait Collective {
    /// Performs all transfers.
    unsafe fn exchange(&self, transfers: &[Transfer]) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.begin(transfers) }?;
        self.finish()
    }

    /// Starts transfers after all earlier launches. Later launches may overlap with them, and must not use
    /// their targets or change their sources before [`Self::finish`].
    unsafe fn begin(&self, transfers: &[Transfer]) -> Result<(), Error>;

    /// Orders later launches after all transfers begun so far.
    fn finish(&self) -> Result<(), Error>;

    /// Performs all sums, modulo 2^`word_bits`, on words of 32 or 64 bits.
    unsafe fn sum(&self, sums: &[Sum], word_bits: u32) -> Result<(), Error>;
}

/// The kernels that move data, as one self-contained CUDA file: `copy_rows`, `accumulate`.
pub fn kernels() -> String {
    source::assemble("rows.cu", include_str!("../../cuda/rows.cu"), 64)
}

pub(crate) fn kernel(device: &Device, name: &str) -> Result<Kernel, Error> {
    device.compile("rows.cu", &kernels())?.kernel(name, 0)
}

pub(crate) fn copy_rows(device: &Device) -> Result<Kernel, Error> {
    kernel(device, "copy_rows")
}

/// The launch of [`copy_rows`] for a transfer. Addresses, pitches and row lengths are multiples of
/// 16 bytes.
pub(crate) fn copy<'k>(kernel: &'k Kernel, transfer: &Transfer) -> Launch<'k> {
    const PIECE: usize = 16;
    const THREADS: usize = 128;
    let Transfer { bytes, rows, planes, .. } = *transfer;
    let (from, to) = (transfer.from.rows, transfer.to.rows);
    let sizes = [bytes / PIECE, from.pitch / PIECE, from.height, to.pitch / PIECE, to.height];
    let mut arguments = vec![Argument::address(from.address), Argument::address(to.address)];
    arguments.extend(sizes.map(|size| Argument::from(size as u32)));
    let grid = [bytes.div_ceil(PIECE * THREADS), rows, planes].map(|blocks| blocks as u32);
    Launch::ordered(kernel, grid, THREADS as u32, 0, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_ref::Batch;

    /// The kernel copies exactly the bytes of the transfer's pieces.
    #[test]
    fn rows_are_copied_as_their_pieces_say() {
        let Ok(device) = Device::emulated() else { return };
        let kernel = copy_rows(&device).unwrap();
        // Pieces of 16 bytes.
        let source: Vec<u128> = (0..48 * 12).collect();
        let from = Batch::upload(&device, &source).unwrap();
        let to = Batch::<u128>::zeroed(&device, source.len()).unwrap();
        let endpoint = |address, pitch, height| Endpoint { rank: 0, rows: Rows { address, pitch, height } };
        // 2 planes of 3 rows of 37 pieces, from pitch 48 and height 5 to pitch 40 and height 4.
        let transfer = Transfer {
            from: endpoint(from.address_of(2), 48 * 16, 5),
            to: endpoint(to.address_of(1), 40 * 16, 4),
            bytes: 37 * 16,
            rows: 3,
            planes: 2,
        };
        assert!(!transfer.is_packed());
        // SAFETY: source and target are inside their buffers.
        unsafe { device.launch(&copy(&kernel, &transfer)) }.unwrap();
        let mut want = vec![0; source.len()];
        assert_eq!(transfer.pieces().count(), 6);
        for (piece_from, piece_to, bytes) in transfer.pieces() {
            let at = |address, batch: &Batch<u128>| ((address - batch.address()) / 16) as usize;
            let (at_from, at_to, words) = (at(piece_from, &from), at(piece_to, &to), bytes / 16);
            want[at_to..at_to + words].copy_from_slice(&source[at_from..at_from + words]);
        }
        assert!(to.download().unwrap() == want);
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
