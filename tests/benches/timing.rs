//! Speed of the cycle model on a program with the size and mix of a 64K transform.

use b512_asm::{AReg, AddressMode, Instr, Log2, MReg, Offset, Program, VReg};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim::Machine;
use sim::timing::scheduling::{Decoder, Engine};
use sim::timing::{DecodedProgram, simulate, simulate_decoded};
use std::hint::black_box;

/// 128 blocks, each of 8 loads, 8 butterflies, 15 shuffles and 4 stores: about 4,500 instructions.
/// Half of the loads read twiddle factors; stores skip every second bank.
fn program() -> Program {
    let v = |register: usize| VReg::at(register % 64);
    let (base, rm) = (AReg::at(0), MReg::at(0));
    let offset = |words: usize| Offset::new(words as u32).expect("in range");
    let mut instructions = Vec::new();
    for block in 0..128 {
        // Registers rotate from block to block.
        let first = block * 16;
        for i in 0..4 {
            let mode = AddressMode::Repeated(Log2::new((block % 9) as u8).expect("in range"));
            instructions.push(Instr::Vload {
                vd: v(first + i),
                base,
                offset: offset(512 * (4 * block + i)),
                mode: AddressMode::Linear,
            });
            instructions.push(Instr::Vload {
                vd: v(first + 4 + i),
                base,
                offset: offset(66_000 + block),
                mode,
            });
        }
        for i in 0..8 {
            let r = |k: usize| v(first + (i + k) % 16);
            instructions.push(Instr::Bfly { vd: r(8), vd1: r(9), vs: r(0), vt: r(1), vt1: r(4), rm });
            instructions.push(Instr::Unpklo { vd: r(10), vs: r(8), vt: r(9) });
            if i < 7 {
                instructions.push(Instr::Unpkhi { vd: r(11), vs: r(8), vt: r(9) });
            }
        }
        for i in 0..4 {
            let mode = AddressMode::Strided(Log2::new(1).expect("in range"));
            let offset = offset(1024 * (4 * block + i) % 65_536);
            instructions.push(Instr::Vstore { vs: v(first + 10 + i), base, offset, mode });
        }
    }
    instructions.push(Instr::Halt {});
    Program { instructions, ..Program::default() }
}

fn bench(criterion: &mut Criterion) {
    let (machine, program) = (Machine::rpu_128x128(), program());
    let micro_ops = Decoder::program(&machine, &program);
    let mut group = criterion.benchmark_group("timing");
    group.throughput(Throughput::Elements(program.instructions.len() as u64));
    group.bench_function("simulate", |b| b.iter(|| simulate(black_box(&machine), black_box(&program))));
    let decoded = DecodedProgram::of(&program);
    group.bench_function("simulate decoded", |b| {
        b.iter(|| simulate_decoded(black_box(&machine), black_box(&decoded)));
    });
    group.bench_function("decode", |b| b.iter(|| DecodedProgram::of(black_box(&program))));
    group.bench_function("decode for a machine", |b| {
        b.iter(|| black_box(&decoded).micro_ops(black_box(&machine)))
    });
    group.bench_function("engine", |b| {
        b.iter(|| {
            let mut engine = Engine::new(&machine);
            for micro_op in black_box(&micro_ops) {
                engine.dispatch(micro_op);
            }
            engine.finish()
        });
    });
    let mut half = Engine::new(&machine);
    micro_ops[..micro_ops.len() / 2].iter().for_each(|micro_op| {
        half.dispatch(micro_op);
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("clone", |b| b.iter(|| black_box(&half).clone()));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
