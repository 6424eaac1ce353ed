//! The layout of object files matches its documentation, and damage to each part has its own error.

use b512_asm::object::{MACHINE, MAX_SEGMENTS, ReadError, VERSION, WriteError, read, write};
use b512_asm::{Program, assemble};
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SymbolKind};

const SOURCE: &str = "\
.kernel scale
.input x, 512
.output y, 512, at 0x400
.table k, 2, at 8, sdm
.words k { 5 0x10000000000000000000000000000001 }
.modulus m1, 17
vload v0, a0, x
halt
";

fn program() -> Program {
    assemble(SOURCE).unwrap()
}

fn file() -> Vec<u8> {
    write(&program()).unwrap()
}

/// The file offset of a section's contents.
fn section(file: &[u8], name: &str) -> std::ops::Range<usize> {
    let elf = ElfFile::<FileHeader64<LittleEndian>>::parse(file).unwrap();
    let (start, size) = elf.section_by_name(name).unwrap().file_range().unwrap();
    start as usize..(start + size) as usize
}

#[test]
fn the_layout_is_the_documented_one() {
    let file = file();
    let elf = ElfFile::<FileHeader64<LittleEndian>>::parse(&*file).unwrap();
    let header = elf.elf_header();
    assert_eq!(header.e_machine.get(LittleEndian).0, MACHINE);
    assert_eq!(header.e_flags.get(LittleEndian).0, VERSION);

    let sections: Vec<_> =
        elf.sections().map(|s| (s.name().unwrap().to_owned(), s.address(), s.size())).collect();
    let of_program = [(".text", 0, 16), (".vdm", 0, 0x600 * 16), (".sdm", 0, 10 * 16)];
    for (i, (name, address, size)) in of_program.into_iter().enumerate() {
        assert_eq!(sections[i], (name.to_owned(), address, size));
    }
    assert_eq!(sections[4], (".sdm.words".to_owned(), 8 * 16, 2 * 16));
    let words = &file[section(&file, ".sdm.words")];
    assert_eq!(words[..16], 5_u128.to_le_bytes());
    let text = &file[section(&file, ".text")];
    assert_eq!(text[..8], program().instructions[0].encode().to_le_bytes());
    let directives = std::str::from_utf8(&file[section(&file, ".b512")]).unwrap();
    assert!(directives.starts_with(".kernel scale\n.input x, 512, at 0x0\n"), "{directives}");

    let symbols: Vec<_> =
        elf.symbols().map(|s| (s.name().unwrap(), s.kind(), s.address(), s.size())).collect();
    let expected = [
        ("scale", SymbolKind::Text, 0, 16),
        ("x", SymbolKind::Data, 0, 512 * 16),
        ("y", SymbolKind::Data, 0x400 * 16, 512 * 16),
        ("k", SymbolKind::Data, 8 * 16, 2 * 16),
    ];
    assert_eq!(symbols, expected);
    let sections: Vec<_> = elf.symbols().map(|s| s.section_index().unwrap().0).collect();
    assert_eq!(sections, [1, 2, 2, 3], "the sections of code, VDM, VDM and SDM");
}

#[test]
fn equal_programs_have_equal_files() {
    assert_eq!(file(), file());
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(read(b""), Err(ReadError::Elf(_))));
    assert!(matches!(read(b".kernel scale"), Err(ReadError::Elf(_))));
    for (position, field) in [(16, "e_type"), (18, "e_machine")] {
        let mut file = file();
        file[position] ^= 0x40;
        match read(&file) {
            Err(ReadError::Header { field: found, .. }) => assert_eq!(found, field),
            other => panic!("{field}: {other:?}"),
        }
    }
    let mut file = file();
    file[48] = VERSION as u8 + 1;
    let error = read(&file).unwrap_err().to_string();
    assert_eq!(error, "the object has version 2 of the format; this rpu reads version 1");
}

#[test]
fn every_truncated_file_is_refused() {
    let file = file();
    for length in 0..file.len() {
        assert!(read(&file[..length]).is_err(), "{length} of {} bytes", file.len());
    }
}

#[test]
fn damaged_sections_are_refused() {
    let damaged = |name: &str, offset: usize, byte: u8| {
        let mut file = file();
        let position = section(&file, name).start + offset;
        file[position] = byte;
        read(&file).unwrap_err()
    };
    // The BFLY bit of `vload`; a byte that is not UTF-8; a line without its dot; an even modulus.
    assert!(matches!(damaged(".text", 6, 1), ReadError::Instruction { index: 0, .. }));
    assert!(matches!(damaged(".b512", 0, 0xff), ReadError::NotText(_)));
    assert!(matches!(damaged(".b512", 0, b','), ReadError::Directives(_)));
    let last_digit = section(&file(), ".b512").len() - 2;
    assert!(matches!(damaged(".b512", last_digit, b'0'), ReadError::Invalid(_)));
    // The size of symbol `y`, the fourth of the table with its null symbol.
    match damaged(".symtab", 3 * 24 + 16, 1) {
        ReadError::Symbol { name, found, expected } => {
            assert_eq!((name.as_str(), found, expected), ("y", Some((0x4000, 0x2001)), (0x4000, 0x2000)));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_symbol_table_without_a_symbol_is_refused() {
    let mut file = file();
    let table = section(&file, ".symtab").start;
    // The name of the kernel, the second entry of the table, in the entry of `k`, the fifth.
    file.copy_within(table + 24..table + 24 + 4, table + 4 * 24);
    match read(&file) {
        Err(ReadError::Symbol { name, found: None, .. }) => assert_eq!(name, "k"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn more_words_than_a_memory_has_are_refused() {
    let words = |start: u32, words| b512_asm::Segment { start, words };
    let mut program = program();
    program.symbols.clear();
    program.vdm.segments = vec![words(0, vec![1])];
    program.sdm.segments = vec![words(0, vec![1; 1 << 20])];
    let mut file = write(&program).unwrap();
    // The word of the VDM gets the section name of the other words.
    let elf = ElfFile::<FileHeader64<LittleEndian>>::parse(&*file).unwrap();
    let headers = elf.elf_header().e_shoff.get(LittleEndian) as usize;
    let header = |name: &str| headers + 64 * elf.section_by_name(name).unwrap().index().0;
    let (from, to) = (header(".sdm.words"), header(".vdm.words"));
    file.copy_within(from..from + 4, to);
    match read(&file) {
        Err(ReadError::TooLarge { name: ".sdm.words", limit }) => assert_eq!(limit, 1 << 20),
        other => panic!("{:?}", other.map(|program| program.sdm.end())),
    }
}

#[test]
fn instructions_in_the_directives_are_refused() {
    let mut file = file();
    let position = section(&file, ".b512");
    let text = format!("{:<1$}\n", "halt", position.len() - 1);
    file[position].copy_from_slice(text.as_bytes());
    assert!(matches!(read(&file), Err(ReadError::NotDirectives)));
}

#[test]
fn a_malformed_program_is_not_written() {
    let mut program = program();
    program.instructions.pop();
    match write(&program) {
        Err(WriteError::Invalid(invalid)) => assert_eq!(invalid.defects.len(), 1),
        other => panic!("{other:?}"),
    }
}

/// The offset of a section's header in the file.
fn header(file: &[u8], name: &str) -> usize {
    let elf = ElfFile::<FileHeader64<LittleEndian>>::parse(file).unwrap();
    let headers = elf.elf_header().e_shoff.get(LittleEndian) as usize;
    headers + 64 * elf.section_by_name(name).unwrap().index().0
}

/// The error for a file in which a field of a section's header, at this offset in it, has another value.
fn with_field(name: &str, offset: usize, value: u64) -> ReadError {
    let mut file = file();
    let position = header(&file, name) + offset;
    file[position..position + 8].copy_from_slice(&value.to_le_bytes());
    read(&file).unwrap_err()
}

const ADDRESS: usize = 16;
const SIZE: usize = 32;

#[test]
fn sections_have_the_type_the_flags_and_the_alignment_of_their_contents() {
    let file = file();
    // Types: 1 is PROGBITS, 8 NOBITS. Flags: bit 0 is writable, 1 in memory, 2 executable.
    for (name, kind, flags, alignment) in [
        (".text", 1, 0b110, 8),
        (".vdm", 8, 0b011, 16),
        (".sdm", 8, 0b011, 16),
        (".b512", 1, 0, 1),
        (".sdm.words", 1, 0, 16),
    ] {
        let field = |offset: usize| {
            let position = header(&file, name) + offset;
            u64::from_le_bytes(file[position..position + 8].try_into().unwrap())
        };
        // The type follows the name, each of 4 bytes.
        assert_eq!((field(0) >> 32, field(8), field(48)), (kind, flags, alignment), "{name}");
    }
}

#[test]
fn misaligned_sections_are_refused() {
    for (section, field, bad, kind, bytes) in [
        (".text", SIZE, 15, "size", 8),
        (".sdm.words", SIZE, 31, "size", 16),
        (".sdm.words", ADDRESS, 8 * 16 + 1, "address", 16),
        (".sdm.words", ADDRESS, 16 << 32, "address", 16),
    ] {
        match with_field(section, field, bad) {
            ReadError::Alignment { name, what, value, unit } => {
                assert_eq!((name, what, value, unit), (section, kind, bad, bytes));
            }
            other => panic!("{section}: {other}"),
        }
    }
}

#[test]
fn memories_that_the_program_does_not_use_are_refused() {
    for (section, field, value) in
        [(".vdm", SIZE, 1 << 62), (".vdm", SIZE, 16), (".sdm", ADDRESS, 16), (".sdm", SIZE, 0)]
    {
        match with_field(section, field, value) {
            ReadError::Memory { name, found, .. } => {
                assert_eq!((name, if field == SIZE { found.1 } else { found.0 }), (section, value));
            }
            other => panic!("{section}: {other}"),
        }
    }
    // A memory under the name of another one.
    let mut file = file();
    let (from, to) = (header(&file, ".vdm"), header(&file, ".sdm"));
    file.copy_within(from..from + 4, to);
    assert!(matches!(read(&file), Err(ReadError::Memory { name: ".vdm", .. })));
}

#[test]
fn symbols_of_no_program_are_refused() {
    let mut file = file();
    let table = section(&file, ".symtab").start;
    // The kernel, a function, has the name of `k`; then `k` becomes a function, the kernel a section.
    file.copy_within(table + 4 * 24..table + 4 * 24 + 4, table + 24);
    assert!(matches!(read(&file), Err(ReadError::Symbol { .. })));
    let mut file = self::file();
    let null = table;
    file.copy_within(table + 4 * 24..table + 5 * 24, null);
    assert!(matches!(read(&file), Err(ReadError::SymbolTwice { name }) if name == "k"));
    file.copy_within(table + 24..table + 24 + 4, null);
    assert!(matches!(read(&file), Err(ReadError::UnknownSymbol { .. })));
}

#[test]
fn missing_and_double_sections_are_refused() {
    for (renamed, like, section, number) in [(".text", ".b512", ".b512", 2), (".text", ".vdm", ".text", 0)] {
        let mut file = file();
        let (to, from) = (header(&file, renamed), header(&file, like));
        file.copy_within(from..from + 4, to);
        match read(&file) {
            Err(ReadError::SectionCount { name, count }) => assert_eq!((name, count), (section, number)),
            other => panic!("{section}: {other:?}"),
        }
    }
}

#[test]
fn words_in_the_directives_are_refused() {
    for directives in [".table k, 1, at 0, sdm\n.words k { 5 }", ".table k, 1, at 0\n.words k { 5 }"] {
        let mut file = file();
        let position = section(&file, ".b512");
        let text = format!("{directives:<0$}\n", position.len() - 1);
        file[position].copy_from_slice(text.as_bytes());
        let read = read(&file);
        assert!(matches!(read, Err(ReadError::NotDirectives)), "{directives}: {read:?}");
    }
}

#[test]
fn a_file_without_a_symbol_table_is_accepted() {
    let mut file = file();
    let kind = header(&file, ".symtab") + 4;
    // A section of program data.
    file[kind..kind + 4].copy_from_slice(&1_u32.to_le_bytes());
    assert_eq!(write(&read(&file).unwrap()).unwrap(), self::file());
}

#[test]
fn a_memory_may_be_full() {
    let mut program = program();
    program.symbols.clear();
    program.sdm.segments = vec![b512_asm::Segment { start: 0, words: vec![7; 1 << 20] }];
    let file = write(&program).unwrap();
    assert_eq!(read(&file).unwrap().sdm.end(), 1 << 20);
    let elf = ElfFile::<FileHeader64<LittleEndian>>::parse(&*file).unwrap();
    assert_eq!(elf.section_by_name(".sdm").unwrap().size(), 16 << 20, "the memory is as long as its image");
}

#[test]
fn too_many_segments_are_not_written() {
    let mut program = program();
    program.symbols.clear();
    program.vdm.segments = vec![b512_asm::Segment { start: 0, words: vec![1] }];
    let segment = |number| b512_asm::Segment { start: 2 * number, words: vec![1] };
    let most = u32::try_from(MAX_SEGMENTS).unwrap();
    program.sdm.segments = (0..most - 1).map(segment).collect();
    assert_eq!(read(&write(&program).unwrap()).unwrap().sdm.segments.len(), MAX_SEGMENTS - 1);
    program.sdm.segments.push(segment(most - 1));
    match write(&program) {
        Err(WriteError::Segments(number)) => assert_eq!(number, MAX_SEGMENTS + 1),
        other => panic!("{:?}", other.map(|file| file.len())),
    }
}

#[test]
fn words_have_the_bytes_of_the_isa() {
    for (bits, bytes) in [(32, 4), (36, 8), (64, 8), (65, 16), (128, 16)] {
        let isa = format!(".isa word_bits={bits}");
        let program =
            assemble(&format!("{isa}\n.table k, 2, at 8, sdm\n.words k {{ 5 0x70000001 }}\nhalt\n")).unwrap();
        let file = write(&program).unwrap();
        let words = &file[section(&file, ".sdm.words")];
        assert_eq!(words.len(), 2 * bytes);
        assert_eq!(words[bytes..bytes + 4], 0x7000_0001_u32.to_le_bytes());
        assert_eq!(read(&file).unwrap().sdm.segments[0].words, [5, 0x7000_0001]);
        // A program without a name has no symbol for its code.
        let elf = ElfFile::<FileHeader64<LittleEndian>>::parse(&*file).unwrap();
        let symbols: Vec<_> = elf.symbols().map(|s| (s.name().unwrap(), s.address(), s.size())).collect();
        assert_eq!(symbols, [("k", 8 * bytes as u64, 2 * bytes as u64)]);
    }
}
