//! Communication through host memory.

use crate::multi::transfer::{Collective, Sum, Transfer};
use gpu_ref::{Device, Error};

/// Communication through host memory, for emulated devices. Caramel's first version worked this
/// way.
pub(crate) struct Staged {
    pub(crate) devices: Vec<Device>,
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
    unsafe fn begin(&self, transfers: &[Transfer]) -> Result<(), Error> {
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

    fn finish(&self) -> Result<(), Error> {
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
