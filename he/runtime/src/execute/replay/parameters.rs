//! The parameters of a launch in the off-chip memory: its moduli and scalars, then the address registers of
//! each run.

use super::image::Image;
use crate::launches::Launch;
use crate::schedule::record::Extent;
use crate::schedule::{LAUNCH_WORD_BYTES, OFFSET_BITS, Plan, address_words, page_bits};
use b512_asm::{Program, Role};
use ring::ModulusError;

/// The bits of a word that sets a register.
const WORD_BITS: u64 = 8 * LAUNCH_WORD_BYTES;

/// A space in the VDM, as an address register has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Register {
    /// The first word in the pages.
    pub(super) offset: u32,
    /// The pages, in order.
    pub(super) pages: Vec<u32>,
}

/// What a run finds in the SDM.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) moduli: Vec<u128>,
    pub(super) scalars: Vec<u128>,
    pub(super) registers: Vec<Register>,
}

/// A number in a run's parameters that it cannot run with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParametersError {
    /// A number in the place of a modulus.
    #[error("an invalid modulus: {0}")]
    Modulus(ModulusError),
    /// A page beyond the VDM.
    #[error("page {page} of a VDM with {pages} pages")]
    Page {
        /// The number of the page.
        page: u32,
        /// The pages of the VDM.
        pages: u64,
    },
    /// An offset behind which the words of an operand do not fit into its pages.
    #[error("an operand that ends at word {end} of pages with {words} words")]
    End {
        /// The words from the beginning of the first page to the end of the operand.
        end: usize,
        /// The words of its pages.
        words: usize,
    },
}

/// The form of a launch's parameters.
#[derive(Clone, Copy)]
pub(super) struct Form {
    moduli: u64,
    scalars: u64,
    registers: u64,
    /// The pages of a register.
    pages: u64,
    /// The bits of a page's number.
    page_bits: u64,
    /// The words of a register.
    register_words: u64,
}

impl Form {
    pub(super) fn of(plan: &Plan<'_>, launch: &Launch) -> Self {
        let kernel = plan.kernel(launch).expect("a launch with a kernel");
        let (count, page) = plan.pages();
        let pages = plan.program.degree().get().div_ceil(page);
        Self {
            moduli: kernel.moduli.len() as u64,
            scalars: plan.scalars(launch, kernel),
            registers: plan.address_registers(launch, kernel),
            pages,
            page_bits: page_bits(count),
            register_words: address_words(count, pages),
        }
    }

    /// The first bit of a register of a run.
    fn register(&self, first: u64, run: u64, register: u64) -> u64 {
        let words = self.moduli + self.scalars + (run * self.registers + register) * self.register_words;
        first + WORD_BITS * words
    }

    /// Writes moduli and scalars, from a bit of the memory on.
    pub(super) fn write(&self, image: &mut Image, first: u64, numbers: impl Iterator<Item = u128>) {
        (0..).zip(numbers).for_each(|(word, number)| image.set(first + WORD_BITS * word, WORD_BITS, number));
    }

    /// Writes the registers of a run.
    ///
    /// # Panics
    /// Panics if there are more registers, or more pages of one, than the plan has counted.
    pub(super) fn write_run(&self, image: &mut Image, first: u64, run: u64, registers: &[Register]) {
        assert!(registers.len() as u64 <= self.registers, "{registers:?}: {} are counted", self.registers);
        for (index, register) in (0..).zip(registers) {
            assert!(register.pages.len() as u64 <= self.pages, "{register:?}: {} pages", self.pages);
            let start = self.register(first, run, index);
            image.set(start, OFFSET_BITS, register.offset.into());
            for (place, &page) in (0..).zip(&register.pages) {
                image.set(start + OFFSET_BITS + place * self.page_bits, self.page_bits, page.into());
            }
        }
    }

    /// Reads what a run needs. Registers have all of their pages, used or not.
    pub(super) fn read(&self, image: &Image, first: u64, run: u64) -> Parameters {
        let numbers = |words: std::ops::Range<u64>| {
            words.map(|word| image.get(first + WORD_BITS * word, WORD_BITS)).collect()
        };
        let register = |index| {
            let start = self.register(first, run, index);
            let page = |place| image.get(start + OFFSET_BITS + place * self.page_bits, self.page_bits) as u32;
            Register {
                offset: image.get(start, OFFSET_BITS) as u32,
                pages: (0..self.pages).map(page).collect(),
            }
        };
        Parameters {
            moduli: numbers(0..self.moduli),
            scalars: numbers(self.moduli..self.moduli + self.scalars),
            registers: (0..self.registers).map(register).collect(),
        }
    }
}

/// The spaces of a run, as its event names them.
pub(super) struct Spaces<'e> {
    /// That of each source; none for keys on the chip.
    pub(super) sources: Vec<Option<&'e Extent>>,
    pub(super) results: &'e [Extent],
    /// That of each ring's table.
    pub(super) tables: Vec<&'e Extent>,
    pub(super) scratch: &'e [u32],
}

impl Spaces<'_> {
    /// The contents of the address registers of a program, in its order, then of those that go on with its
    /// tables, then of those that go on with its scratch words.
    pub(super) fn registers(&self, program: &Program, page: u32, pages: usize) -> Vec<Register> {
        // The slices of a run share a space.
        let space = |extent: &Extent| {
            let (first, end) = (extent.offset / page, (extent.offset + extent.words).div_ceil(page));
            let pages = extent.pages[first as usize..end as usize].to_vec();
            Register { offset: extent.offset % page, pages }
        };
        let parts = |offset, all: &[u32]| -> Vec<Register> {
            let mut parts: Vec<Register> =
                all.chunks(pages).map(|pages| Register { offset: 0, pages: pages.to_vec() }).collect();
            // It counts from the first page of all.
            parts.iter_mut().take(1).for_each(|first| first.offset = offset);
            parts
        };
        let (buffers, spills) = split(program);
        let mut registers: Vec<Register> = buffers
            .map(|buffer| match buffer {
                Buffer::Source(index) => self.sources[index].map(space).unwrap_or_default(),
                Buffer::Result(index) => space(&self.results[index]),
                Buffer::Scratch(word) => {
                    let own = self.scratch[(word / page) as usize..].iter().copied().take(pages);
                    Register { offset: word % page, pages: own.collect() }
                }
            })
            .collect();
        // Each table begins with a page.
        let of_table = |table: &&Extent| table.pages[..table.words.div_ceil(page) as usize].to_vec();
        let tables: Vec<u32> = self.tables.iter().flat_map(of_table).collect();
        // The constants of an elementwise kernel lie in its scratch memory, before the spilled vectors.
        let (tables, scratch) = match self.tables.is_empty() {
            true => (parts(0, &self.scratch[..pages.min(self.scratch.len())]), parts(spills, self.scratch)),
            false => (parts(0, &tables), parts(0, self.scratch)),
        };
        let first = |parts: &[Register]| parts.first().cloned().unwrap_or_default();
        registers.extend([first(&tables), first(&scratch)]);
        registers.extend(tables.into_iter().skip(1).chain(scratch.into_iter().skip(1)));
        registers
    }
}

/// What an address register of a program is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Buffer {
    Source(usize),
    Result(usize),
    /// Vectors on their way through the memory, from a scratch word on.
    Scratch(u32),
}

/// The purpose of each address register but the last two, those of the table and of spilled vectors; and the
/// words from the one to the other.
pub(super) fn split(program: &Program) -> (impl Iterator<Item = Buffer> + '_, u32) {
    let of_role = |role: Role| program.symbols.iter().filter(move |symbol| symbol.role == role);
    let (buffers, own) = program.addresses.split_at(program.addresses.len() - 2);
    let buffers = buffers.iter().map(move |&(_, start)| {
        let place = |role| of_role(role).position(|symbol| symbol.start == start);
        let operand = place(Role::Input).map(Buffer::Source);
        operand.or_else(|| place(Role::Output).map(Buffer::Result)).unwrap_or_else(|| {
            let before = of_role(Role::Scratch).filter(|symbol| symbol.start < start);
            Buffer::Scratch(before.map(|symbol| symbol.words).sum())
        })
    });
    (buffers, own[1].1 - own[0].1)
}
