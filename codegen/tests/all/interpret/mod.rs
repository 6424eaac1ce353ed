//! An interpreter of vector code, written from the definitions of its operations.

use b512_asm::Op;
use codegen::code::{Code, Inst, MemRef, TowerId};
use codegen::number::{Expression, Number};
use ring::modular::Modulus;

/// The words of each buffer; `None` if nothing has been written there.
pub(crate) type Memory = Vec<Vec<Option<u128>>>;

/// The residue of a number of the code in a tower.
fn residue(code: &Code, tower: TowerId, number: Number) -> u128 {
    let ring = code.towers[tower.index()];
    let q = Modulus::new(ring.modulus).unwrap();
    match number {
        Number::Root { exponent, scaled } => {
            let power = q.pow(ring.root, exponent.into());
            if scaled { q.mul(power, q.inverse(ring.n.into()).unwrap()) } else { power }
        }
        Number::Expression(id) => expression(&q, &code.expressions[id.index()]),
    }
}

fn expression(q: &Modulus, value: &Expression) -> u128 {
    match value {
        Expression::Value(value) => q.residue(*value),
        Expression::Negative(of) => q.neg(expression(q, of)),
        Expression::Inverse(of) => q.inverse(expression(q, of)).unwrap(),
    }
}

/// The memory that the code leaves for these operands of its claims; `None` if an instruction reads
/// an undefined word. `after` sees the memory after each instruction.
pub(crate) fn run(
    code: &Code,
    inputs: &[Vec<u128>],
    mut after: impl FnMut(&Inst, &Memory),
) -> Option<Memory> {
    let vector_length = code.isa.vector_length() as usize;
    let mut memory: Memory = code.buffers.iter().map(|buffer| vec![None; buffer.words as usize]).collect();
    for (&input, words) in code.claims.iter().flat_map(|claim| &claim.inputs).zip(inputs) {
        memory[input.index()] = words.iter().copied().map(Some).collect();
    }
    let mut values: Vec<Option<Vec<u128>>> = vec![None; code.values as usize];
    for inst in &code.insts {
        let q = Modulus::new(code.towers[inst.tower.index()].modulus).unwrap();
        let words = |memory: &MemRef| memory.words(code.isa).map(|word| word as usize);
        let mut sources: Vec<Vec<u128>> =
            inst.sources.iter().map(|value| values[value.index()].clone()).collect::<Option<_>>()?;
        if let Some(constant) = inst.constant {
            let constant = &code.constants[constant.index()];
            let value =
                |lane: usize| residue(code, constant.tower, constant.numbers[lane % constant.numbers.len()]);
            sources.push((0..vector_length).map(value).collect());
        }
        if let Some(scalar) = inst.scalar {
            let scalar = code.scalars[scalar.index()];
            sources.push(vec![residue(code, scalar.tower, scalar.number); vector_length]);
        }
        let lanes = |f: &dyn Fn(usize) -> u128| (0..vector_length).map(f).collect::<Vec<u128>>();
        let s = &sources;
        // The multiplicand may be any word.
        let mul = |a: u128, b: u128| q.mul(q.residue(a), b);
        let half = vector_length / 2;
        let results = match inst.op {
            Op::Vload => {
                let memory_ref = inst.memory?;
                let buffer = &memory[memory_ref.buffer.index()];
                let words = words(&memory_ref);
                vec![words.map(|word| buffer.get(word).copied().flatten()).collect::<Option<Vec<_>>>()?]
            }
            Op::Vstore => {
                let memory_ref = inst.memory?;
                for (word, &value) in words(&memory_ref).zip(&s[0]) {
                    *memory[memory_ref.buffer.index()].get_mut(word)? = Some(value);
                }
                Vec::new()
            }
            Op::Vadd | Op::Vadds => vec![lanes(&|i| q.add(s[0][i], s[1][i]))],
            Op::Vsub | Op::Vsubs => vec![lanes(&|i| q.sub(s[0][i], s[1][i]))],
            Op::Vmul | Op::Vmuls => vec![lanes(&|i| mul(s[0][i], s[1][i]))],
            Op::Bfly => vec![
                lanes(&|i| q.add(s[0][i], mul(s[1][i], s[2][i]))),
                lanes(&|i| q.sub(s[0][i], mul(s[1][i], s[2][i]))),
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
