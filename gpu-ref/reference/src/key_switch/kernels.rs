//! The kernels of a key switch other than transforms, and their tables.

use super::Basis;
use crate::device::{Argument, Device, Kernel, Launch};
use crate::field::barrett_constants;
use crate::{Batch, Error, Word, source};
use std::ops::Range;

/// Threads per block of the kernels in `cuda/key_switch.cu`: they divide the number of columns.
const THREADS: usize = 128;

/// Some digits: `first`, `first + step`, ..
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digits {
    /// The first.
    pub first: usize,
    /// The distance from one to the next.
    pub step: usize,
    /// Their number, possibly zero.
    pub count: usize,
}

/// The kernels of `cuda/key_switch.cu` on one device. They read and write rows of `length` columns, a
/// multiple of [`Kernels::COLUMNS`].
///
/// # Safety
/// For all launches: the addresses must be valid on the device for the rows that the method names, and
/// nothing else may use them until the kernel has ended.
pub struct Kernels<W> {
    device: Device,
    mod_up: Kernel,
    mod_down: Kernel,
    inner_product: Kernel,
    settle: Kernel,
    convert_rests: Kernel,
    divide_rows: Kernel,
    constants: Batch<W>,
    up: [Batch<W>; 2],
    down: [Batch<W>; 3],
    /// Numbers of ciphertext limbs, of all limbs, of columns and of digits.
    limbs: usize,
    extended: usize,
    n: usize,
    digits: usize,
}

impl<W: Word> Kernels<W> {
    /// A number of columns that a device may have is a multiple of this.
    pub const COLUMNS: usize = THREADS;

    /// Compiles the kernels and uploads the tables of a basis.
    pub fn new(device: &Device, basis: &Basis<W>) -> Result<Self, Error> {
        let (limbs, extended, digits) = (basis.limbs(), basis.extended(), basis.digits());
        let module = device.compile("key_switch.cu", &source::for_words("key_switch.cu", W::BITS))?;
        let shared = limbs.div_ceil(digits).max(extended - limbs) * THREADS * size_of::<W>();
        let kernel = |name| module.kernel(name, shared as u32);
        let upload = |words: Vec<W>| Batch::upload(device, &words);
        let ([inverses, factors], [down_inverses, down_factors, quotients]) = (basis.up(), basis.down());
        Ok(Self {
            device: device.clone(),
            mod_up: kernel("mod_up")?,
            mod_down: kernel("mod_down")?,
            inner_product: kernel("inner_product")?,
            settle: kernel("settle")?,
            convert_rests: kernel("convert_rests")?,
            divide_rows: kernel("divide_rows")?,
            constants: upload(barrett_constants(basis.moduli())?)?,
            up: [upload(inverses)?, upload(factors)?],
            down: [upload(down_inverses)?, upload(down_factors)?, upload(quotients)?],
            limbs,
            extended,
            n: basis.n(),
            digits,
        })
    }

    /// The constants from limb `limb` on.
    fn constants_from(&self, limb: usize) -> Argument {
        self.constants.pointer_at(self.constants.words() / self.extended * limb)
    }

    /// Extends digits of a polynomial of coefficients, `[limb][length]`, to the limbs of both ranges:
    /// `[digit][target][length]`.
    ///
    /// # Safety
    /// See [`Kernels`]. Only the limbs of these digits are read.
    pub unsafe fn raise(
        &self,
        from: Argument,
        to: Argument,
        length: usize,
        digits: Digits,
        [targets, others]: [Range<usize>; 2],
    ) -> Result<(), Error> {
        let mut arguments =
            vec![from, to, self.up[0].pointer(), self.up[1].pointer(), self.constants_from(0)];
        arguments.extend(numbers([
            self.limbs,
            self.extended,
            length,
            self.digits,
            digits.first,
            digits.step,
        ]));
        let rows = targets.len() + others.len();
        arguments.extend(numbers([targets.start, targets.len(), others.start, rows]));
        // SAFETY: guaranteed by the caller; the arguments match the parameters of `mod_up`.
        unsafe { self.launch(&self.mod_up, length, [1, digits.count], arguments) }
    }

    /// The two sums of the products of polynomials, `[digit][row][length]`, with keys,
    /// `[digit][2][row][length]`: `[2][limb][length]`. Polynomials and keys have `rows` rows, of which the
    /// first belong to `limbs`. The addresses are of polynomials, keys and sums.
    ///
    /// # Safety
    /// See [`Kernels`].
    pub unsafe fn multiply(
        &self,
        addresses: [Argument; 3],
        limbs: Range<usize>,
        rows: usize,
        length: usize,
        digits: usize,
    ) -> Result<(), Error> {
        let mut arguments = addresses.to_vec();
        arguments.push(self.constants_from(limbs.start));
        arguments.extend(numbers([limbs.len(), length, digits, rows]));
        // SAFETY: guaranteed by the caller; the arguments match the parameters of `inner_product`.
        unsafe { self.launch(&self.inner_product, length, [limbs.len(), 1], arguments) }
    }

    /// Divides two polynomials of coefficients, `[2][all limbs][length]`, by the product of the special
    /// limbs: `[2][limb][length]`.
    ///
    /// # Safety
    /// See [`Kernels`].
    pub unsafe fn lower(&self, from: Argument, to: Argument, length: usize) -> Result<(), Error> {
        let mut arguments = vec![from, to];
        arguments.extend(self.down.iter().map(Batch::pointer));
        arguments.push(self.constants_from(0));
        arguments.extend(numbers([self.limbs, self.extended, length]));
        // SAFETY: guaranteed by the caller; the arguments match the parameters of `mod_down`.
        unsafe { self.launch(&self.mod_down, length, [1, 2], arguments) }
    }

    /// Converts the special limbs of two polynomials of coefficients, `[2][special limb][N]`, to some
    /// limbs of the ciphertext: `[2][limb][N]`.
    ///
    /// # Safety
    /// See [`Kernels`].
    pub unsafe fn convert_rests(
        &self,
        from: Argument,
        to: Argument,
        limbs: Range<usize>,
    ) -> Result<(), Error> {
        let mut arguments = vec![from, to, self.down[0].pointer(), self.down[1].pointer()];
        arguments.push(self.constants_from(0));
        arguments.extend(numbers([self.limbs, self.extended, self.n, limbs.start, limbs.len()]));
        // SAFETY: guaranteed by the caller; the arguments match the parameters of `convert_rests`.
        unsafe { self.launch(&self.convert_rests, self.n, [1, 2], arguments) }
    }

    /// Subtracts converted and transformed rests from two polynomials, and divides them by the product of
    /// the special limbs. Both are `[2][limb][N]` for some limbs of the ciphertext; the result replaces the
    /// rests.
    ///
    /// # Safety
    /// See [`Kernels`].
    pub unsafe fn divide_rows(
        &self,
        sums: Argument,
        rests: Argument,
        limbs: Range<usize>,
    ) -> Result<(), Error> {
        let mut arguments = vec![sums, rests, self.down[2].pointer_at(limbs.start)];
        arguments.push(self.constants_from(limbs.start));
        arguments.extend(numbers([limbs.len(), self.n]));
        // SAFETY: guaranteed by the caller; the arguments match the parameters of `divide_rows`.
        unsafe { self.launch(&self.divide_rows, self.n, [2 * limbs.len(), 1], arguments) }
    }

    /// Reduces sums of `terms` residues each: two polynomials, `[2][limb][N]`, for some limbs.
    ///
    /// # Safety
    /// See [`Kernels`].
    pub unsafe fn settle(&self, data: Argument, limbs: Range<usize>, terms: usize) -> Result<(), Error> {
        let mut arguments = vec![data, self.constants_from(limbs.start)];
        arguments.extend(numbers([limbs.len(), self.n, terms]));
        // SAFETY: guaranteed by the caller; the arguments match the parameters of `settle`.
        unsafe { self.launch(&self.settle, self.n, [2 * limbs.len(), 1], arguments) }
    }

    /// Launches a kernel over `columns` columns and the given blocks along y and z.
    ///
    /// # Safety
    /// See [`Device::launch`].
    unsafe fn launch(
        &self,
        kernel: &Kernel,
        columns: usize,
        [y, z]: [usize; 2],
        arguments: Vec<Argument>,
    ) -> Result<(), Error> {
        if y * z == 0 {
            return Ok(());
        }
        // A word of shared memory for each thread and source of a conversion.
        let shared =
            self.limbs.div_ceil(self.digits).max(self.extended - self.limbs) * THREADS * size_of::<W>();
        let grid = [columns / THREADS, y, z].map(|blocks| blocks as u32);
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.device.launch(&Launch::ordered(kernel, grid, THREADS as u32, shared as u32, arguments))
        }
    }
}

/// Numbers of limbs, columns or digits as kernel arguments.
fn numbers<const COUNT: usize>(values: [usize; COUNT]) -> [Argument; COUNT] {
    values.map(|value| (value as u32).into())
}
