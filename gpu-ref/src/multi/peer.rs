//! Communication through peer pointers: each device reads the others' memory itself.

use super::collective::{Collective, Sum, Transfer, copy, copy_rows};
use crate::device::{Argument, Device, Kernel, Launch, Link};
use crate::{Error, source};

/// CUDA devices that read each other's memory. Transfers run beside a device's kernels, on a second
/// stream: contiguous ones on copy engines, others as kernels.
pub(super) struct Peer {
    ranks: Vec<Rank>,
}

struct Rank {
    device: Device,
    link: Link,
    copy_rows: Kernel,
    accumulate: Kernel,
}

impl Peer {
    /// Gives distinct CUDA devices access to each other's memory.
    pub(super) fn new(devices: &[Device]) -> Result<Self, Error> {
        let rank = |device: &Device| {
            Ok(Rank {
                link: device.link(devices)?,
                copy_rows: copy_rows(device)?,
                accumulate: accumulate(device)?,
                device: device.clone(),
            })
        };
        Ok(Self { ranks: devices.iter().map(rank).collect::<Result<_, Error>>()? })
    }

    /// Second streams wait for all work so far, so that transfers find complete sources and unused
    /// targets.
    fn fork(&self) -> Result<(), Error> {
        let events = self.ranks.iter().map(|rank| rank.link.mark_main()).collect::<Result<Vec<_>, _>>()?;
        self.ranks.iter().try_for_each(|rank| rank.link.second_waits(&events))
    }

    /// All devices wait for the transfers so far.
    fn join(&self) -> Result<(), Error> {
        let events = self.ranks.iter().map(|rank| rank.link.mark_second()).collect::<Result<Vec<_>, _>>()?;
        self.ranks.iter().try_for_each(|rank| rank.link.main_waits(&events))
    }
}

impl Collective for Peer {
    unsafe fn exchange(&self, transfers: &[Transfer]) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.begin(transfers) }?;
        self.finish()
    }

    unsafe fn begin(&self, transfers: &[Transfer]) -> Result<(), Error> {
        self.fork()?;
        for transfer in transfers {
            let Rank { device, link, copy_rows, .. } = &self.ranks[transfer.to.rank];
            let (from, to) = (transfer.from.rows, transfer.to.rows);
            if transfer.is_packed(&transfer.from) && transfer.is_packed(&transfer.to) {
                // SAFETY: guaranteed by the caller; the device may read its peers' memory.
                unsafe { link.copy(to.address, from.address, transfer.total()) }?;
            } else {
                // SAFETY: as above.
                unsafe { device.launch_beside(link, &copy(copy_rows, transfer, from, to)) }?;
            }
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), Error> {
        self.join()
    }

    unsafe fn sum(&self, sums: &[Sum], word_bits: u32) -> Result<(), Error> {
        self.fork()?;
        for Sum { root, addresses, words } in sums {
            let Rank { device, link, accumulate, .. } = &self.ranks[*root];
            let to = addresses[*root];
            for (_, &from) in addresses.iter().enumerate().filter(|(rank, _)| rank != root) {
                let launch = addition(accumulate, from, to, words * word_bits as usize / 64);
                // SAFETY: guaranteed by the caller; the device may read its peers' memory.
                unsafe { device.launch_beside(link, &launch) }?;
            }
        }
        self.join()
    }
}

fn accumulate(device: &Device) -> Result<Kernel, Error> {
    device.compile("rows.cu", &source::rows())?.kernel("accumulate", 0)
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

    #[test]
    fn additions_stop_at_their_length() {
        let Ok(device) = Device::emulated() else { return };
        let kernel = accumulate(&device).unwrap();
        let [mut from, mut to] = [(); 2].map(|()| device.allocate(200 * 8).unwrap());
        let words = |factor: u64| (0..200).map(|i: u64| i * factor).collect::<Vec<_>>();
        device.upload(bytemuck::cast_slice(&words(3)), &mut from).unwrap();
        device.upload(bytemuck::cast_slice(&words(5)), &mut to).unwrap();
        let [source, target] = [&from, &to].map(|buffer| buffer.region(0, 0).start);
        // SAFETY: both buffers have that many words.
        unsafe { device.launch(&addition(&kernel, source, target, 150)) }.unwrap();
        let mut got = vec![0u64; 200];
        device.download(&to, bytemuck::cast_slice_mut(&mut got)).unwrap();
        assert_eq!(got, [&words(8)[..150], &words(5)[150..]].concat());
    }
}
