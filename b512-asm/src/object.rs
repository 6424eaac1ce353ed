//! Object files: a [`Program`] as a 64-bit little-endian ELF file.
//!
//! `readelf -a` shows all of its parts. The file is of type `ET_EXEC`, since every address in it is
//! final, for machine [`MACHINE`], with [`VERSION`] in `e_flags`. Its sections are
//!
//! | section | type | address | contents |
//! |---|---|---|---|
//! | `.text` | PROGBITS | 0 | the instructions, 8 little-endian bytes each |
//! | `.vdm`, `.sdm` | NOBITS | 0 | the part of the memory that symbols or images use |
//! | `.b512` | PROGBITS | - | kernel name, symbols with roles, launch values and claims: the directives of the assembly text |
//! | `.vdm.words`, `.sdm.words` | PROGBITS | byte address | one for each segment of a memory's image, little-endian words of 16 bytes, or of 4 or 8 in other ISAs than B512 |
//! | `.symtab` | SYMTAB | - | the kernel as a function, the symbols as objects |
//!
//! Addresses and sizes are in bytes; the `.isa` directive sets the size of a word. Each memory has
//! its own address space, which begins at 0. `.b512` is authoritative; `.symtab` repeats it for
//! other tools and may be stripped, but must not contradict it.
//!
//! Equal programs give equal bytes: the file does not depend on time, path or host.

use crate::asm::assemble_directives;
use crate::check::InvalidProgram;
use crate::isa::{DecodeError, Instr};
use crate::parameters::Isa;
use crate::program::{Image, Program, Segment};
use crate::space::Space;
use diagnostic::Diagnostics;
use object::elf::{self, FileFlags, Machine, SectionFlags, SectionType};
use object::read::elf::{FileHeader as _, SectionHeader as _, SectionTable, Sym as _};
use object::write::elf::{FileHeader, SectionHeader, SinglePhaseWriter, Sym};
use object::{Endianness, LittleEndian};
use std::collections::HashMap;
use thiserror::Error;

/// The machine number (`e_machine`), from a range without registered machines.
pub const MACHINE: u16 = 0xb512;

/// The version of the format (`e_flags`).
pub const VERSION: u32 = 1;

/// The maximum number of image segments of both memories, so that section numbers stay in the
/// ordinary range.
pub const MAX_SEGMENTS: usize = 60_000;

/// Bytes of an instruction.
const INSTR_BYTES: usize = 8;

const TEXT: &str = ".text";
const DIRECTIVES: &str = ".b512";

/// The name of a memory's section, and of the sections with its image.
const fn section_names(space: Space) -> (&'static str, &'static str) {
    match space {
        Space::Vdm => (".vdm", ".vdm.words"),
        Space::Sdm => (".sdm", ".sdm.words"),
    }
}

/// A program that cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The program breaks a rule of [`Program::check`].
    #[error("the program is not well-formed:\n{0}")]
    Invalid(#[from] InvalidProgram),
    /// Too many image segments.
    #[error("{0} image segments; an object file holds {MAX_SEGMENTS} (join adjacent ones)")]
    Segments(usize),
    /// The file would be larger than ELF allows.
    #[error("the object file cannot be written: {0}")]
    Elf(#[from] object::write::Error),
}

/// A file that is not a B512 object.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The structure of the file is broken.
    #[error("not a 64-bit little-endian ELF file: {0}")]
    Elf(#[from] object::read::Error),
    /// An ELF file for another machine or format.
    #[error("the ELF file's {field} is {found:#x}; a B512 object has {expected:#x}")]
    Header {
        /// The name of the header's field.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The expected value.
        expected: u64,
    },
    /// An object of another version of the format.
    #[error("the object has version {found} of the format; this rpu reads version {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// A section is missing or occurs twice.
    #[error("the file has {count} sections called `{name}`; a B512 object has one")]
    SectionCount {
        /// The section's name.
        name: &'static str,
        /// The number of such sections.
        count: usize,
    },
    /// A section's size or address is not a multiple of its element size.
    #[error("section `{name}`: {what} {value:#x} is not a multiple of {unit} below 2^32")]
    Alignment {
        /// The section's name.
        name: &'static str,
        /// "address" or "size".
        what: &'static str,
        /// Its value.
        value: u64,
        /// Bytes of an instruction or of a word.
        unit: usize,
    },
    /// The sections of a memory's image hold more words than the memory; they may overlap in the
    /// file.
    #[error("the sections `{name}` hold more than the {limit} words of the memory")]
    TooLarge {
        /// The sections' name.
        name: &'static str,
        /// Words of the memory.
        limit: u32,
    },
    /// The section that stands for a memory has another address, size or type.
    #[error(
        "section `{name}` is at {found:#x?} (address, size); the program uses {expected:#x} bytes from address 0"
    )]
    Memory {
        /// The section's name.
        name: &'static str,
        /// Its byte address and size.
        found: (u64, u64),
        /// The bytes that symbols and images use.
        expected: u64,
    },
    /// A symbol of `.symtab` that `.b512` does not declare.
    #[error("`.symtab` has a symbol `{name}`, which `{DIRECTIVES}` lacks")]
    UnknownSymbol {
        /// The name.
        name: String,
    },
    /// Two symbols of `.symtab` have one name.
    #[error("`.symtab` has two symbols `{name}`")]
    SymbolTwice {
        /// The name.
        name: String,
    },
    /// An invalid instruction word in `.text`.
    #[error("instruction {index}: {source}")]
    Instruction {
        /// The index of the instruction.
        index: usize,
        /// The reason.
        source: DecodeError,
    },
    /// `.b512` is not UTF-8.
    #[error("section `{DIRECTIVES}` is not text: {0}")]
    NotText(#[from] std::str::Utf8Error),
    /// `.b512` has errors.
    #[error("section `{DIRECTIVES}`:\n{0}")]
    Directives(Diagnostics),
    /// `.b512` contains instructions or words.
    #[error("section `{DIRECTIVES}` holds more than directives")]
    NotDirectives,
    /// `.symtab` contradicts `.b512`.
    #[error(
        "symbol `{name}` is at {found:#x?} (address, size) in `.symtab` and at {expected:#x?} in `{DIRECTIVES}`"
    )]
    Symbol {
        /// The symbol.
        name: String,
        /// Byte address and size in `.symtab`, if present.
        found: Option<(u64, u64)>,
        /// Byte address and size in `.b512`.
        expected: (u64, u64),
    },
    /// The parts are not a valid program.
    #[error("the program is not well-formed:\n{0}")]
    Invalid(#[from] InvalidProgram),
}

/// A section whose position in the file is not yet known.
struct Section<'a> {
    name: &'static str,
    kind: SectionType,
    flags: SectionFlags,
    address: u64,
    size: u64,
    align: usize,
    data: Data<'a>,
}

enum Data<'a> {
    None,
    Bytes(&'a [u8]),
    Instructions(&'a [Instr]),
    /// Words, and the number of bytes of each.
    Words(&'a [u128], usize),
}

impl Data<'_> {
    fn write(&self, writer: &mut SinglePhaseWriter<'_>) {
        match self {
            Self::None => {}
            Self::Bytes(bytes) => writer.write(bytes),
            Self::Instructions(instructions) => {
                instructions.iter().for_each(|instr| writer.write(&instr.encode().to_le_bytes()));
            }
            Self::Words(words, bytes) => match bytes {
                4 => write_words::<4>(words, writer),
                8 => write_words::<8>(words, writer),
                _ => write_words::<16>(words, writer),
            },
        }
    }
}

/// Writes words of `N` bytes. The width is a constant, so that the copy needs no loop.
fn write_words<const N: usize>(words: &[u128], writer: &mut SinglePhaseWriter<'_>) {
    for word in words {
        writer.write(&word.to_le_bytes()[..N]);
    }
}

/// The byte address or size of a number of words.
fn bytes(isa: Isa, words: u32) -> u64 {
    u64::from(words) * u64::from(isa.word_bytes())
}

/// The words of a memory that symbols or images use, from word 0 on.
fn used(program: &Program, space: Space) -> u32 {
    let symbols = program.symbols.iter().filter(|symbol| symbol.space == space);
    let ends = symbols.map(|symbol| symbol.start.saturating_add(symbol.words));
    ends.fold(program.image(space).end(), u32::max)
}

/// The entries of the symbol table: name, type, number in [`sections`], byte address, size.
fn symbols(program: &Program) -> impl Iterator<Item = (&str, elf::SymbolType, u32, u64, u64)> {
    let code = (program.instructions.len() * INSTR_BYTES) as u64;
    let kernel = Some((program.name.as_str(), elf::STT_FUNC, 1, 0, code)).filter(|entry| !entry.0.is_empty());
    let data = program.symbols.iter().map(|symbol| {
        // `.vdm` is section 2 and `.sdm` section 3.
        let section = 2 + symbol.space as u32;
        let [address, size] = [symbol.start, symbol.words].map(|words| bytes(program.isa, words));
        (symbol.name.as_str(), elf::STT_OBJECT, section, address, size)
    });
    kernel.into_iter().chain(data)
}

/// The sections with contents of their own, in the order of the file, from number 1 on.
fn sections<'a>(program: &'a Program, directives: &'a str) -> Vec<Section<'a>> {
    let word_bytes = program.isa.word_bytes() as usize;
    let memory = |space| Section {
        name: section_names(space).0,
        kind: elf::SHT_NOBITS,
        flags: elf::SHF_ALLOC | elf::SHF_WRITE,
        address: 0,
        size: bytes(program.isa, used(program, space)),
        align: word_bytes,
        data: Data::None,
    };
    let mut sections = vec![
        Section {
            name: TEXT,
            kind: elf::SHT_PROGBITS,
            flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
            address: 0,
            size: (program.instructions.len() * INSTR_BYTES) as u64,
            align: INSTR_BYTES,
            data: Data::Instructions(&program.instructions),
        },
        memory(Space::Vdm),
        memory(Space::Sdm),
        Section {
            name: DIRECTIVES,
            kind: elf::SHT_PROGBITS,
            flags: SectionFlags(0),
            address: 0,
            size: directives.len() as u64,
            align: 1,
            data: Data::Bytes(directives.as_bytes()),
        },
    ];
    for space in Space::ALL {
        sections.extend(program.image(space).segments.iter().map(|segment| Section {
            name: section_names(space).1,
            kind: elf::SHT_PROGBITS,
            flags: SectionFlags(0),
            address: bytes(program.isa, segment.start),
            size: (segment.words.len() * word_bytes) as u64,
            align: word_bytes,
            data: Data::Words(&segment.words, word_bytes),
        }));
    }
    sections
}

/// Writes a program as an object file.
///
/// # Errors
/// Returns an error if the program is not well-formed or has too many image segments.
pub fn write(program: &Program) -> Result<Vec<u8>, WriteError> {
    program.check()?;
    let segments = program.vdm.segments.len() + program.sdm.segments.len();
    if segments > MAX_SEGMENTS {
        return Err(WriteError::Segments(segments));
    }
    let directives = program.directives();
    let sections = sections(program, &directives);

    let mut file = Vec::new();
    let mut writer = SinglePhaseWriter::new_single_phase(Endianness::Little, true, &mut file);
    // The header is final only when everything else is in place.
    writer.write_file_header(&FileHeader {
        e_type: elf::ET_EXEC,
        e_machine: Machine(MACHINE),
        e_flags: FileFlags(VERSION),
        ..FileHeader::default()
    })?;
    let mut headers = Vec::new();
    for section in &sections {
        let sh_offset = writer.write_align(section.align as u64);
        section.data.write(&mut writer);
        let name = writer.add_section_name(section.name.as_bytes());
        headers.push((sh_offset, name));
    }
    let names: Vec<_> = symbols(program).map(|symbol| writer.add_string(symbol.0.as_bytes())).collect();
    writer.write_strtab()?;
    if symbols(program).next().is_some() {
        writer.write_null_symbol();
    }
    for ((_, kind, section, st_value, st_size), name) in symbols(program).zip(names) {
        writer.write_symbol(&Sym {
            section: Some(section),
            st_name: writer.string_offset(Some(name)),
            st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, kind),
            st_other: elf::SymbolOther(0),
            st_shndx: elf::SHN_UNDEF,
            st_value,
            st_size,
        });
    }
    writer.write_shstrtab()?;
    writer.write_null_section_header();
    for (section, (sh_offset, name)) in sections.iter().zip(headers) {
        writer.write_section_header(&SectionHeader {
            sh_name: writer.section_name_offset(Some(name)),
            sh_type: section.kind,
            sh_flags: section.flags,
            sh_addr: section.address,
            sh_offset,
            sh_size: section.size,
            sh_addralign: section.align as u64,
            ..SectionHeader::default()
        });
    }
    writer.write_strtab_section_header();
    writer.write_symtab_section_header(1);
    writer.write_shstrtab_section_header();
    let mut header = Vec::new();
    writer.write_file_header_to(&mut header)?;
    drop(writer);
    file[..header.len()].copy_from_slice(&header);
    Ok(file)
}

type Elf = elf::FileHeader64<LittleEndian>;

/// Reads the program of an object file.
///
/// # Errors
/// Returns an error if the file is not a well-formed B512 object of this version. No input causes a
/// panic or takes memory beyond the file's size and the ISA's memories.
pub fn read(file: &[u8]) -> Result<Program, ReadError> {
    let header = Elf::parse(file)?;
    let endian = header.endian()?;
    let fields = [
        ("e_type", u64::from(header.e_type(endian).0), u64::from(elf::ET_EXEC.0)),
        ("e_machine", u64::from(header.e_machine(endian).0), u64::from(MACHINE)),
    ];
    for (field, found, expected) in fields {
        if found != expected {
            return Err(ReadError::Header { field, found, expected });
        }
    }
    match header.e_flags(endian).0 {
        VERSION => {}
        found => return Err(ReadError::Version { found }),
    }
    let sections = header.sections(endian, file)?;
    let reader = Reader { file, endian, sections };
    let directives = std::str::from_utf8(reader.one(DIRECTIVES)?)?;
    let mut program = assemble_directives(directives).map_err(ReadError::Directives)?;
    if !program.instructions.is_empty() || program.vdm.end() > 0 || program.sdm.end() > 0 {
        return Err(ReadError::NotDirectives);
    }
    program.instructions = reader.instructions()?;
    program.vdm = reader.image(Space::Vdm, program.isa)?;
    program.sdm = reader.image(Space::Sdm, program.isa)?;
    program.check()?;
    for space in Space::ALL {
        reader.check_memory(space, &program)?;
    }
    reader.check_symbols(&program)?;
    Ok(program)
}

/// The little-endian words of `N` bytes in `data`.
fn read_words<const N: usize>(data: &[u8]) -> Vec<u128> {
    let word = |bytes: &[u8; N]| {
        let mut word = [0; size_of::<u128>()];
        word[..N].copy_from_slice(bytes);
        u128::from_le_bytes(word)
    };
    data.as_chunks().0.iter().map(word).collect()
}

struct Reader<'a> {
    file: &'a [u8],
    endian: LittleEndian,
    sections: SectionTable<'a, Elf>,
}

impl<'a> Reader<'a> {
    /// The sections with that name: address and contents.
    fn named(&self, name: &'static str) -> Result<Vec<(u64, &'a [u8])>, ReadError> {
        let mut found = Vec::new();
        for section in self.sections.iter() {
            if self.sections.section_name(self.endian, section)? == name.as_bytes() {
                let data = section.data(self.endian, self.file)?;
                found.push((section.sh_addr(self.endian), data));
            }
        }
        Ok(found)
    }

    /// The contents of the only section with that name.
    fn one(&self, name: &'static str) -> Result<&'a [u8], ReadError> {
        match self.named(name)?[..] {
            [(_, data)] => Ok(data),
            ref sections => Err(ReadError::SectionCount { name, count: sections.len() }),
        }
    }

    fn instructions(&self) -> Result<Vec<Instr>, ReadError> {
        let (words, rest) = self.one(TEXT)?.as_chunks::<INSTR_BYTES>();
        let value = (words.len() * INSTR_BYTES + rest.len()) as u64;
        if !rest.is_empty() {
            return Err(ReadError::Alignment { name: TEXT, what: "size", value, unit: INSTR_BYTES });
        }
        let decode = |(index, word): (usize, &[u8; INSTR_BYTES])| {
            Instr::decode(u64::from_le_bytes(*word))
                .map_err(|source| ReadError::Instruction { index, source })
        };
        words.iter().enumerate().map(decode).collect()
    }

    fn image(&self, space: Space, isa: Isa) -> Result<Image, ReadError> {
        let name = section_names(space).1;
        let unit = isa.word_bytes() as usize;
        let segment = |(address, data): (u64, &[u8])| {
            let misaligned = |what, value| ReadError::Alignment { name, what, value, unit };
            let start =
                u32::try_from(address / unit as u64).ok().filter(|_| address.is_multiple_of(unit as u64));
            let start = start.ok_or(misaligned("address", address))?;
            if !data.len().is_multiple_of(unit) {
                return Err(misaligned("size", data.len() as u64));
            }
            let words = match unit {
                4 => read_words::<4>(data),
                8 => read_words::<8>(data),
                _ => read_words::<16>(data),
            };
            Ok(Segment { start, words })
        };
        let sections = self.named(name)?;
        let limit = space.max_words();
        if sections.iter().map(|(_, data)| data.len() / unit).sum::<usize>() > limit as usize {
            return Err(ReadError::TooLarge { name, limit });
        }
        let segments = sections.into_iter().map(segment).collect::<Result<_, _>>()?;
        Ok(Image { segments })
    }

    /// Checks that the section that stands for a memory spans what the program uses of it.
    fn check_memory(&self, space: Space, program: &Program) -> Result<(), ReadError> {
        let name = section_names(space).0;
        let expected = bytes(program.isa, used(program, space));
        let mut count = 0;
        for section in self.sections.iter() {
            if self.sections.section_name(self.endian, section)? == name.as_bytes() {
                count += 1;
                let found = (section.sh_addr(self.endian), section.sh_size(self.endian));
                if found != (0, expected) || section.sh_type(self.endian) != elf::SHT_NOBITS {
                    return Err(ReadError::Memory { name, found, expected });
                }
            }
        }
        if count == 1 { Ok(()) } else { Err(ReadError::SectionCount { name, count }) }
    }

    /// Checks that a symbol table, if present, has the program's symbols and no others.
    fn check_symbols(&self, program: &Program) -> Result<(), ReadError> {
        let table = self.sections.symbols(self.endian, self.file, elf::SHT_SYMTAB)?;
        if table.is_empty() {
            return Ok(());
        }
        let mut found = HashMap::new();
        for symbol in table.iter() {
            let extent = (symbol.st_value(self.endian), symbol.st_size(self.endian));
            let name = symbol.name(self.endian, table.strings())?;
            if found.insert((name, symbol.st_type()), extent).is_some() {
                return Err(ReadError::SymbolTwice { name: String::from_utf8_lossy(name).into_owned() });
            }
        }
        for (name, kind, _, address, size) in symbols(program) {
            let found = found.remove(&(name.as_bytes(), kind));
            if found != Some((address, size)) {
                return Err(ReadError::Symbol { name: name.to_owned(), found, expected: (address, size) });
            }
        }
        // Tools add symbols of files and sections.
        let others = found.into_keys().filter(|(_, kind)| [elf::STT_OBJECT, elf::STT_FUNC].contains(kind));
        match others.min() {
            Some((name, _)) => {
                Err(ReadError::UnknownSymbol { name: String::from_utf8_lossy(name).into_owned() })
            }
            None => Ok(()),
        }
    }
}
