//! Speed of the assembler, the disassembler and the object files on a program as large as the 64K
//! transform's: 6,000 instructions and 2^17 table words of 128 bits.

use b512_asm::{Image, Instr, MReg, Program, Role, Segment, Space, Symbol, VReg, assemble, object};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

fn large_program() -> Program {
    let v = VReg::at;
    let butterfly = |i: usize| Instr::Bfly {
        vd: v(i % 64),
        vd1: v((i + 1) % 64),
        vs: v((i + 2) % 64),
        vt: v((i + 3) % 64),
        vt1: v((i + 4) % 64),
        rm: MReg::at(1),
    };
    let mut instructions: Vec<_> = (0..6_000).map(butterfly).collect();
    instructions.push(Instr::Halt {});
    // Powers of a generator replace twiddle factors: all of their digits vary.
    let next =
        |word: &u128| Some(word.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1));
    let words: Vec<_> = std::iter::successors(Some(1), next).take(1 << 17).collect();
    let name = "tw".to_owned();
    Program {
        instructions,
        symbols: vec![Symbol { name, space: Space::Vdm, start: 0, words: 1 << 17, role: Role::Table }],
        vdm: Image { segments: vec![Segment { start: 0, words }] },
        ..Program::default()
    }
}

fn text(criterion: &mut Criterion) {
    let program = large_program();
    let source = program.to_string();
    let mut group = criterion.benchmark_group("text");
    group.throughput(Throughput::Bytes(source.len() as u64));
    group.bench_function("assemble", |bencher| bencher.iter(|| assemble(black_box(&source))));
    group.bench_function("print", |bencher| bencher.iter(|| black_box(&program).to_string()));
    group.finish();
}

fn objects(criterion: &mut Criterion) {
    let program = large_program();
    let file = object::write(&program).expect("the program is well-formed");
    let mut group = criterion.benchmark_group("object");
    group.throughput(Throughput::Bytes(file.len() as u64));
    group.bench_function("write", |bencher| bencher.iter(|| object::write(black_box(&program))));
    group.bench_function("read", |bencher| bencher.iter(|| object::read(black_box(&file))));
    group.finish();
}

criterion_group!(benches, text, objects);
criterion_main!(benches);
