//! An interpreter of vector code, written from the definitions of its operations.

use b512_asm::Op;
use b512_asm::reg::VECTOR_LENGTH;
use codegen::code::{Code, Inst, MemRef};
use ring::modular::Modulus;

/// The words of each buffer; `None` for a word that has not been written.
pub(crate) type Memory = Vec<Vec<Option<u128>>>;

/// Runs code of one tower with one claim, and returns the final memory; `None` if an instruction
/// reads an undefined value or word. `after` receives the memory after each instruction.
pub(crate) fn run(
    code: &Code,
    inputs: &[Vec<u128>],
    mut after: impl FnMut(&Inst, &Memory),
) -> Option<Memory> {
    let tower = code.towers[0];
    let q = Modulus::new(tower.modulus).unwrap();
    let over_n = q.inverse(tower.n.into()).unwrap();
    let mut memory: Memory = code.buffers.iter().map(|buffer| vec![None; buffer.words as usize]).collect();
    for (&input, words) in code.claims[0].inputs.iter().zip(inputs) {
        memory[input.index()] = words.iter().copied().map(Some).collect();
    }
    let mut values: Vec<Option<Vec<u128>>> = vec![None; code.values as usize];
    for inst in &code.insts {
        let words = |memory: &MemRef| -> Vec<usize> {
            (0..VECTOR_LENGTH as u32).map(|lane| (memory.word + memory.mode.element(lane)) as usize).collect()
        };
        let mut sources: Vec<Vec<u128>> =
            inst.sources.iter().map(|value| values[value.index()].clone()).collect::<Option<_>>()?;
        if let Some(constant) = inst.constant {
            let factors = &code.constants[constant.index()].factors;
            let value = |lane: usize| {
                let factor = factors[lane % factors.len()];
                let power = q.pow(tower.root, factor.exponent.into());
                if factor.scaled { q.mul(power, over_n) } else { power }
            };
            sources.push((0..VECTOR_LENGTH).map(value).collect());
        }
        let lanes = |f: &dyn Fn(usize) -> u128| (0..VECTOR_LENGTH).map(f).collect::<Vec<u128>>();
        let s = &sources;
        let half = VECTOR_LENGTH / 2;
        let results = match inst.op {
            Op::Vload => {
                let memory_ref = inst.memory?;
                let buffer = &memory[memory_ref.buffer.index()];
                let words = words(&memory_ref).into_iter();
                vec![words.map(|word| buffer.get(word).copied().flatten()).collect::<Option<Vec<_>>>()?]
            }
            Op::Vstore => {
                let memory_ref = inst.memory?;
                for (word, &value) in words(&memory_ref).into_iter().zip(&s[0]) {
                    *memory[memory_ref.buffer.index()].get_mut(word)? = Some(value);
                }
                Vec::new()
            }
            Op::Vadd => vec![lanes(&|i| q.add(s[0][i], s[1][i]))],
            Op::Vsub => vec![lanes(&|i| q.sub(s[0][i], s[1][i]))],
            Op::Vmul => vec![lanes(&|i| q.mul(s[0][i], s[1][i]))],
            Op::Vmuls => vec![lanes(&|i| q.mul(s[0][i], over_n))],
            Op::Bfly => vec![
                lanes(&|i| q.add(s[0][i], q.mul(s[1][i], s[2][i]))),
                lanes(&|i| q.sub(s[0][i], q.mul(s[1][i], s[2][i]))),
            ],
            Op::Gsbfly => {
                vec![lanes(&|i| q.add(s[0][i], s[1][i])), lanes(&|i| q.mul(q.sub(s[0][i], s[1][i]), s[2][i]))]
            }
            Op::Unpklo => vec![lanes(&|i| s[i % 2][i / 2])],
            Op::Unpkhi => vec![lanes(&|i| s[i % 2][half + i / 2])],
            Op::Pklo => vec![lanes(&|i| s[i / half][2 * (i % half)])],
            Op::Pkhi => vec![lanes(&|i| s[i / half][2 * (i % half) + 1])],
            _ => return None,
        };
        for (value, result) in inst.results.iter().zip(results) {
            values[value.index()] = Some(result);
        }
        after(inst, &memory);
    }
    Some(memory)
}
