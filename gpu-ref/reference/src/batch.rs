//! Words in device memory.

use crate::device::{Argument, Buffer, Device};
use crate::{Error, Modulus, Word};
use std::marker::PhantomData;
use std::ops::Range;

/// Words that share a mark, and its bytes: no polynomial is shorter, so disjoint ones have different marks.
const MARKED_WORDS: usize = 1 << 10;
const MARK_BYTES: usize = 8;

/// Polynomials in device memory, in the layout of [`crate::Plan`].
///
/// A batch works with every plan of the same device. A plan for other moduli gives meaningless
/// results.
pub struct Batch<W> {
    device: Device,
    buffer: Buffer,
    /// What launches on the words count, in device memory: see `Mark` in `cuda/common.cuh`. It is zero
    /// between launches. Whoever may write the words may use their marks, so launches on different words
    /// share none.
    marks: Buffer,
    words: usize,
    word: PhantomData<W>,
}

impl<W> Batch<W> {
    /// Allocates `words` words, all zero.
    pub fn zeroed(device: &Device, words: usize) -> Result<Self, Error> {
        Self::of(device, device.allocate(words * size_of::<W>())?, words)
    }

    /// Wraps `words` words of device memory that someone else owns, such as an allocation of another
    /// library. Dropping the batch does not free them.
    ///
    /// # Errors
    /// Returns [`Error::Address`] if the address is zero or not a multiple of the word's size, and on a CUDA
    /// device also if the memory is not on it or its allocation ends too early.
    ///
    /// # Safety
    /// The memory must be valid for that many words, accessible to kernels of this device, as long as the
    /// batch exists. Other work on it must be ordered with this device's: on the same stream
    /// ([`Device::on_stream`]), or by synchronisation. An emulated device uses host memory.
    pub unsafe fn from_raw(device: &Device, address: u64, words: usize) -> Result<Self, Error> {
        device.check_address(address, words.saturating_mul(size_of::<W>()), size_of::<W>())?;
        Self::of(device, Buffer::Borrowed(address), words)
    }

    fn of(device: &Device, buffer: Buffer, words: usize) -> Result<Self, Error> {
        let marks = device.allocate(MARK_BYTES * words.div_ceil(MARKED_WORDS).max(1))?;
        Ok(Self { device: device.clone(), buffer, marks, words, word: PhantomData })
    }

    /// The marks from a word on.
    pub(crate) fn marks_at(&self, word: usize) -> Argument {
        Argument::address(self.marks.address() + (word / MARKED_WORDS * MARK_BYTES) as u64)
    }

    /// The address of the first word on its device, for other libraries. Work is done when the
    /// device's stream has reached it.
    pub fn address(&self) -> u64 {
        self.buffer.address()
    }

    /// The device that holds the words.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The addresses of `words` words from word `start` on.
    pub(crate) fn region(&self, start: usize, words: usize) -> Range<u64> {
        self.address_of(start)..self.address_of(start + words)
    }

    /// The address of a word on its device.
    pub fn address_of(&self, word: usize) -> u64 {
        self.address() + (word * size_of::<W>()) as u64
    }

    /// The address of the first word as a kernel argument.
    pub fn pointer(&self) -> Argument {
        self.pointer_at(0)
    }

    /// [`Self::address_of`] as a kernel argument.
    pub fn pointer_at(&self, word: usize) -> Argument {
        Argument::address(self.address_of(word))
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.words
    }
}

impl<W: Word> Batch<W> {
    /// Copies words to a device unchanged and unchecked. The caller is responsible for their range
    /// and layout.
    pub fn upload(device: &Device, words: &[W]) -> Result<Self, Error> {
        let batch = Self::zeroed(device, words.len())?;
        // SAFETY: the batch has as many words, and nothing else knows them yet.
        unsafe { device.write(batch.address(), bytemuck::cast_slice(words)) }?;
        Ok(batch)
    }

    /// Copies the words back unchanged, after all work on them.
    pub fn download(&self) -> Result<Vec<W>, Error> {
        let mut words = vec![W::zeroed(); self.words];
        // SAFETY: the batch has as many words.
        unsafe { self.device.read(self.address(), bytemuck::cast_slice_mut(&mut words)) }?;
        Ok(words)
    }
}

/// Checks that every word is below its modulus, in rows of N that cycle through the moduli.
///
/// # Errors
/// Returns [`Error::Range`] naming the first word that is not.
pub fn check_residues<W: Word>(moduli: &[Modulus<W>], words: &[W]) -> Result<(), Error> {
    let rows = words.chunks(moduli[0].n()).zip(moduli.iter().cycle());
    for (row, (chunk, q)) in rows.map(|(chunk, modulus)| (chunk, modulus.q())).enumerate() {
        if let Some(column) = chunk.iter().position(|&word| word >= q) {
            let index = row * moduli[0].n() + column;
            return Err(Error::Range { index, value: words[index].widen(), q: q.widen() });
        }
    }
    Ok(())
}
