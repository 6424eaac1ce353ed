//! Forwarding on code in which one access matters.

use b512_asm::{AddressMode, Log2, Op, Role};
use codegen::check;
use codegen::code::{BufferId, Claim, Code, MemRef, Tower, TowerId};
use codegen::forwarding::{Removed, forward};

const TOWER: TowerId = TowerId(0);
const X: BufferId = BufferId(0);
const Y: BufferId = BufferId(1);
const S: BufferId = BufferId(2);

fn at(buffer: BufferId, word: u32) -> MemRef {
    MemRef { buffer, word, mode: AddressMode::Linear }
}

/// Code over an input, an output and a scratch buffer of 1024 words each.
fn code(fill: impl FnOnce(&mut Code)) -> Code {
    let mut code = Code::default();
    code.tower(Tower { n: 1024, modulus: 12289, root: 7 });
    for (name, role) in [("x", Role::Input), ("y", Role::Output), ("s", Role::Scratch)] {
        code.buffer(name, 1024, role, TOWER);
    }
    code.claims.push(Claim::of(golden::DEFAULT, vec![Y], vec![X], codegen::Parameters::default()));
    fill(&mut code);
    code
}

/// The accesses that the pass removes; the result is proved to be the same.
fn removed(before: &Code, registers: u32) -> (usize, usize) {
    let mut after = before.clone();
    let Removed { loads, stores } = forward(&mut after, registers);
    assert_eq!(check::forwarding(before, &after), Ok(()));
    (loads, stores)
}

#[test]
fn a_vector_goes_from_register_to_register() {
    let code = code(|code| {
        let a = code.load(at(X, 0), TOWER);
        code.store(a, at(S, 512), TOWER);
        let b = code.load(at(S, 512), TOWER);
        code.store(b, at(Y, 0), TOWER);
    });
    assert_eq!(removed(&code, 2), (1, 1));
    let mut after = code;
    forward(&mut after, 2);
    assert_eq!(after.insts.len(), 2);
    assert!(after.buffers.iter().all(|buffer| buffer.name != "s"));
}

#[test]
fn vectors_of_several_values_are_loaded() {
    // The upper half of one value and the lower half of the other.
    let misaligned = code(|code| {
        let [a, b] = [0, 512].map(|word| code.load(at(X, word), TOWER));
        code.store(a, at(S, 0), TOWER);
        code.store(b, at(S, 512), TOWER);
        let c = code.load(at(S, 256), TOWER);
        code.store(c, at(Y, 0), TOWER);
    });
    assert_eq!(removed(&misaligned, 60), (0, 0));
    // The same words in another order.
    let strided = |word| MemRef { mode: AddressMode::Strided(Log2::new(1).unwrap()), ..at(S, word) };
    let permuted = code(|code| {
        let [a, b] = [0, 512].map(|word| code.load(at(X, word), TOWER));
        code.store(a, at(S, 0), TOWER);
        code.store(b, at(S, 512), TOWER);
        let c = code.load(strided(0), TOWER);
        code.store(c, at(Y, 0), TOWER);
    });
    assert_eq!(removed(&permuted, 60), (0, 0));
}

#[test]
fn a_word_that_has_been_overwritten_is_loaded() {
    let code = code(|code| {
        let [a, b] = [0, 512].map(|word| code.load(at(X, word), TOWER));
        code.store(a, at(S, 0), TOWER);
        let skipping = MemRef { mode: AddressMode::StridedSkip(Log2::new(0).unwrap()), ..at(S, 0) };
        code.store(b, skipping, TOWER);
        let c = code.load(at(S, 0), TOWER);
        code.store(c, at(Y, 0), TOWER);
    });
    assert_eq!(removed(&code, 60), (0, 0));
}

#[test]
fn stores_are_dead_where_all_their_words_are() {
    let code = code(|code| {
        let [a, b] = [0, 512].map(|word| code.load(at(X, word), TOWER));
        // Completely overwritten by the next store, which is half overwritten; the last one is
        // the result.
        code.store(b, at(Y, 0), TOWER);
        code.store(b, at(Y, 0), TOWER);
        code.store(a, at(Y, 256), TOWER);
        // Never read.
        let sum = code.apply(Op::Vadd, [a, b], None, TOWER);
        code.store(sum, at(S, 0), TOWER);
    });
    assert_eq!(removed(&code, 60), (0, 2));
}

#[test]
fn values_stay_while_there_are_registers() {
    let code = code(|code| {
        let a = code.load(at(X, 0), TOWER);
        code.store(a, at(S, 0), TOWER);
        for other in [0, 512].map(|word| code.load(at(X, word), TOWER)) {
            code.store(other, at(Y, 0), TOWER);
        }
        let b = code.load(at(S, 0), TOWER);
        code.store(b, at(Y, 512), TOWER);
    });
    // A dead store to the result, and the second load of `x`, which it needs; with registers,
    // also the round trip through the scratch buffer.
    assert_eq!(removed(&code, 0), (1, 1));
    assert_eq!(removed(&code, 8), (2, 2));
}
