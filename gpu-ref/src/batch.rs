//! Words in a device's memory.

use crate::device::{Argument, Buffer, Device};
use crate::{Error, Modulus, Word};
use std::marker::PhantomData;
use std::ops::Range;

/// Polynomials in a device's memory, laid out as [`crate::Plan`] says.
///
/// It works with every plan of the same device; one for other moduli gives results that mean nothing.
pub struct Batch<W> {
    device: Device,
    buffer: Buffer,
    words: usize,
    word: PhantomData<W>,
}

impl<W> Batch<W> {
    /// So many words, all zero.
    ///
    /// # Errors
    /// [`Error::Driver`], for too many words too.
    pub fn zeroed(device: &Device, words: usize) -> Result<Self, Error> {
        let buffer = device.allocate(words * size_of::<W>())?;
        Ok(Self { device: device.clone(), buffer, words, word: PhantomData })
    }

    /// The device that the words lie on.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The addresses of some bytes on the device, from byte `start` on.
    pub(crate) fn region(&self, start: usize, bytes: usize) -> Range<u64> {
        self.buffer.region(start, bytes)
    }

    /// The address of a word on its device.
    pub(crate) fn address_of(&self, word: usize) -> u64 {
        self.buffer.region(word * size_of::<W>(), 0).start
    }

    /// The first word's address as a kernel's argument.
    pub(crate) fn pointer(&self) -> Argument {
        self.buffer.pointer()
    }

    /// [`Self::address_of`] as a kernel's argument.
    pub(crate) fn pointer_at(&self, word: usize) -> Argument {
        self.buffer.pointer_at(word * size_of::<W>())
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }
}

impl<W: Word> Batch<W> {
    /// Copies words to a device as they are: what is below its modulus, and which layout it has, is for the caller to know.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn upload(device: &Device, words: &[W]) -> Result<Self, Error> {
        let buffer = store(device, words)?;
        Ok(Self { device: device.clone(), buffer, words: words.len(), word: PhantomData })
    }

    /// Copies the words back as they are, after all work on them.
    ///
    /// # Errors
    /// [`Error::Driver`], also for a kernel that failed earlier.
    pub fn download(&self) -> Result<Vec<W>, Error> {
        let mut words = vec![W::zeroed(); self.words];
        self.device.download(&self.buffer, bytemuck::cast_slice_mut(&mut words))?;
        Ok(words)
    }
}

/// Whether all words are below their moduli, in rows of N that go through the moduli again and again.
///
/// # Errors
/// [`Error::Range`] naming the first that is not.
pub(crate) fn check_residues<W: Word>(moduli: &[Modulus<W>], words: &[W]) -> Result<(), Error> {
    let rows = words.chunks(moduli[0].n()).zip(moduli.iter().cycle());
    for (row, (chunk, q)) in rows.map(|(chunk, modulus)| (chunk, modulus.q())).enumerate() {
        if let Some(column) = chunk.iter().position(|&word| word >= q) {
            let index = row * moduli[0].n() + column;
            return Err(Error::Range { index, value: words[index].widen(), q: q.widen() });
        }
    }
    Ok(())
}

/// Words in a new buffer.
pub(crate) fn store<W: Word>(device: &Device, words: &[W]) -> Result<Buffer, Error> {
    let bytes: &[u8] = bytemuck::cast_slice(words);
    let mut buffer = device.allocate(bytes.len())?;
    device.upload(bytes, &mut buffer)?;
    Ok(buffer)
}
