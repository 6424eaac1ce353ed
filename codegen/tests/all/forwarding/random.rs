//! Forwarding on random code: loads, stores and sums that no plan produces.

use b512_asm::{AddressMode, Log2, Op, Role};
use codegen::check;
use codegen::code::{BufferId, Claim, Code, MemRef, Tower, TowerId, ValueId};
use codegen::forwarding::forward;
use proptest::prelude::*;
use proptest::sample::Index;

const TOWER: TowerId = TowerId(0);
/// The sizes of the buffers in words: input, output and scratch.
const WORDS: u32 = 1024;

#[derive(Clone, Debug)]
enum Step {
    Load { at: MemRef },
    Store { value: Index, at: MemRef },
    Add { left: Index, right: Index },
}

/// A memory operand at one of few addresses, so that operands often overlap.
fn operand(buffers: std::ops::Range<u32>) -> BoxedStrategy<MemRef> {
    let log2 = |value| Log2::new(value).unwrap();
    let mode = prop_oneof![
        4 => (0..3u32).prop_map(|half| (half * 256, AddressMode::Linear)),
        1 => (0..2u32).prop_map(move |word| (word, AddressMode::Strided(log2(1)))),
        1 => Just((0, AddressMode::StridedSkip(log2(8)))),
    ];
    (buffers, mode).prop_map(|(buffer, (word, mode))| MemRef { buffer: BufferId(buffer), word, mode }).boxed()
}

fn step() -> BoxedStrategy<Step> {
    prop_oneof![
        2 => operand(0..3).prop_map(|at| Step::Load { at }),
        2 => (any::<Index>(), operand(1..3)).prop_map(|(value, at)| Step::Store { value, at }),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(left, right)| Step::Add { left, right }),
    ]
    .boxed()
}

/// Code without instructions, with an input x, an output y and a scratch buffer s.
fn empty() -> Code {
    let mut code = Code::default();
    code.tower(Tower { n: WORDS, modulus: 12289, root: 7 });
    for (name, role) in [("x", Role::Input), ("y", Role::Output), ("s", Role::Scratch)] {
        code.buffer(name, WORDS, role, TOWER);
    }
    let (outputs, inputs) = (vec![BufferId(1)], vec![BufferId(0)]);
    code.claims.push(Claim::of(golden::NTT, outputs, inputs, codegen::Parameters::default()));
    code
}

/// The code of the steps, without loads of words that have not been written.
fn code(steps: &[Step]) -> Code {
    let mut code = empty();
    let mut written = [true, false, false].map(|input| vec![input; WORDS as usize]);
    let start = MemRef { buffer: BufferId(0), word: 0, mode: AddressMode::Linear };
    let mut values: Vec<ValueId> = vec![code.load(start, TOWER)];
    for step in steps {
        match *step {
            Step::Load { at } => {
                let mut words = at.words(code.isa);
                if words.all(|word| written[at.buffer.index()][word as usize]) {
                    values.push(code.load(at, TOWER));
                }
            }
            Step::Store { value, at } => {
                code.store(*value.get(&values), at, TOWER);
                for word in at.words(code.isa) {
                    written[at.buffer.index()][word as usize] = true;
                }
            }
            Step::Add { left, right } => {
                let [left, right] = [*left.get(&values), *right.get(&values)];
                values.push(code.apply(Op::Vadd, [left, right], None, TOWER));
            }
        }
    }
    code
}

#[test]
fn a_value_stored_over_some_of_the_words_it_was_loaded_from_is_still_there() {
    let at = |buffer, word, mode| MemRef { buffer: BufferId(buffer), word, mode };
    let linear = |buffer, word| at(buffer, word, AddressMode::Linear);
    let mut before = empty();
    let x = before.load(linear(0, 0), TOWER);
    before.store(x, linear(2, 0), TOWER);
    before.store(x, linear(2, 256), TOWER);
    let halves = before.load(linear(2, 0), TOWER);
    // The first half is stored back to its source.
    before.store(halves, at(2, 0, AddressMode::StridedSkip(Log2::new(8).unwrap())), TOWER);
    let again = before.load(linear(2, 0), TOWER);
    before.store(again, linear(1, 0), TOWER);
    let mut after = before.clone();
    let removed = forward(&mut after, 12);
    assert_eq!((removed.loads, removed.stores), (1, 1));
    assert_eq!(check::forwarding(&before, &after), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn code_stays_what_it_is(steps in prop::collection::vec(step(), 1..60), registers in 0u32..12) {
        let before = code(&steps);
        let mut after = before.clone();
        let removed = forward(&mut after, registers);
        prop_assert_eq!(check::forwarding(&before, &after), Ok(()));
        prop_assert!(removed.loads + removed.stores <= before.insts.len() - after.insts.len());
    }
}
