//! What the executor knows of words: bounds, constants, widths; and its memories and states.

use super::*;

/// So many executors fit the host's memory.
#[test]
fn an_executor_for_a_program_has_the_memory_that_it_needs() {
    let machine = Machine::rpu_128x128();
    let mut program = Program {
        symbols: vec![
            symbol("x", Space::Vdm, 512, 512, Role::Input),
            symbol("k", Space::Sdm, 2, 3, Role::Table),
        ],
        ..Program::default()
    };
    let words = |program: &Program| {
        let executor = Executor::for_program(&machine, program);
        [Space::Vdm, Space::Sdm].map(|space| executor.words(space, 0..u32::MAX).len())
    };
    assert_eq!(words(&program), [1024, 5]);
    program.vdm.segments = vec![Segment { start: 2000, words: vec![1, 2] }];
    program.sdm.segments = vec![Segment { start: 7, words: vec![1] }];
    assert_eq!(words(&program), [2002, 8]);
}

/// A load of constants is deferred until they are overwritten, after a step back too.
#[test]
fn a_restored_state_knows_its_tables() {
    let (table, out) = (8 * 512, 512);
    let code = vec![load(0, table), store(1, table), store(0, out)];
    let words: Vec<u128> = (0..VDM_WORDS.into()).collect();
    let mut executor = executor(&program(code, 97, words.clone()));
    executor.start();
    executor.execute(0).unwrap();
    let state = executor.state();
    for _ in 0..2 {
        executor.execute(1).unwrap();
        executor.execute(2).unwrap();
        assert_eq!(executor.words(Space::Vdm, out..out + 512), &words[table as usize..][..512]);
        executor.restore(&state);
        assert_eq!(executor.words(Space::Vdm, 0..VDM_WORDS), words);
    }
}

/// An unaligned store of zeros says nothing about the neighbouring words.
#[test]
fn bounds_keep_the_words_beside_a_store() {
    let add = Instr::Vadd { vd: V(3), vs: V(2), vt: V(2), rm: RM };
    let program = program(vec![store(1, 100), load(2, 0), add], 7, vec![7; 512]);
    let error = executor(&program).run().unwrap_err();
    assert!(matches!(error.fault, Fault::LaneNotBelowModulus { lane: 0, value: 7, .. }), "{error}");
}

/// Known bounds and prepared factors do not outlive the words that a caller overwrites.
#[test]
fn constants_that_are_written_take_effect() {
    let multiply = Instr::Vmul { vd: V(2), vs: V(0), vt: V(1), rm: RM };
    let code = vec![load(0, 512), load(1, 0), multiply, store(2, 1024)];
    let mut program = program(code, 97, vec![0; 2048]);
    program.symbols[1] = symbol("table", Space::Vdm, 0, 512, Role::Table);
    let mut executor = executor(&program);
    let product =
        |executor: &mut Executor| executor.run().ok().map(|_| executor.words(Space::Vdm, 1024..1025)[0]);
    let cases = [(0, 0, Some(0)), (2, 3, Some(6)), (2, 5, Some(10)), (98, 5, Some(5)), (2, 97, None)];
    for (word, factor, expected) in cases {
        executor.write_constants([(Space::Vdm, 0..512, factor), (Space::Vdm, 512..1024, word)]);
        assert_eq!(product(&mut executor), expected, "{word} times {factor}");
    }
    executor.write("table", &[7; 512]).unwrap();
    assert_eq!(product(&mut executor), Some(14));
}

/// Multiples of 2^64 do not fit words of 64 bits, although their lower halves do; the largest modulus has no
/// larger word.
#[test]
fn words_at_the_ends_of_both_widths_are_kept() {
    let strided = Instr::Vload {
        vd: V(0),
        base: AReg::at(0),
        offset: at(0),
        mode: AddressMode::Strided(Log2::new(1).unwrap()),
    };
    let one = SReg::at(1);
    let sload = Instr::Sload { rt: one, offset: at(0) };
    let [scale, increase] = [
        Instr::Vmuls { vd: V(1), vs: V(0), rt: one, rm: RM },
        Instr::Vadds { vd: V(2), vs: V(1), rt: one, rm: RM },
    ];
    let add = Instr::Vadd { vd: V(3), vs: V(2), vt: V(2), rm: RM };
    let mut words = vec![1 << 64; 1024];
    words[0] = 0;
    for q in [97, u128::MAX] {
        let code = vec![sload, strided, store(0, 2048), scale, increase, add, store(3, 2560)];
        let program = program(code, q, words.clone());
        let mut executor = executor(&program);
        executor.run().unwrap();
        assert_eq!(executor.words(Space::Vdm, 0..VDM_WORDS), interpret(&program), "{q:#x}");
    }
}

#[test]
fn states_have_the_size_of_memories_and_registers() {
    let mut executor = executor(&program(vec![], 97, vec![]));
    executor.start();
    assert_eq!(executor.state().bytes(), (VDM_WORDS + SDM_WORDS) as usize * 8 + 64 * 512 * 16);
    assert_eq!([0, 2, 3].map(|register| executor.address(AReg::at(register))), [0, 100, 1024]);
}

/// A memory holds words of 8 bytes until something writes a longer one: an image, a caller, or a store.
#[test]
fn memories_become_wide_when_a_word_needs_it() {
    let (narrow, wide) = (VDM_WORDS as usize * 8, VDM_WORDS as usize * 16);
    let bytes = |executor: &Executor| executor.state().bytes() - SDM_WORDS as usize * 8 - 64 * 512 * 16;
    let words = |top: u128| -> Vec<u128> { (0..512).map(|word| word | top << 64).collect() };
    let code = vec![load(0, 0), store(0, 512)];

    let mut executor = executor(&program(code.clone(), 97, words(0)));
    executor.run().unwrap();
    assert_eq!((bytes(&executor), executor.words(Space::Vdm, 512..1024)), (narrow, words(0)));
    executor.start();
    let state = executor.state();
    executor.write("all", &[words(1), vec![3; VDM_WORDS as usize - 512]].concat()).unwrap();
    executor.run().unwrap();
    assert_eq!((bytes(&executor), executor.words(Space::Vdm, 512..1024)), (wide, words(1)));
    executor.restore(&state);
    assert_eq!((bytes(&executor), executor.words(Space::Vdm, 512..1024)), (narrow, words(0)));
    executor.write_constants([(Space::Vdm, 0..512, 5), (Space::Vdm, 7..8, 1 << 64)]);
    executor.run().unwrap();
    assert_eq!(bytes(&executor), wide);
    assert_eq!(executor.words(Space::Vdm, 518..521), [5, 1 << 64, 5]);

    // A later program has words of its own.
    executor.reload(&program(code.clone(), 97, words(0))).unwrap();
    assert_eq!(bytes(&executor), narrow);
    executor.reload(&program(code.clone(), 97, words(2))).unwrap();
    executor.run().unwrap();
    assert_eq!((bytes(&executor), executor.words(Space::Vdm, 512..1024)), (wide, words(2)));
    // So do both memories of a program with long residues.
    executor.reload(&program(code, (1 << 100) - 1, words(0))).unwrap();
    assert_eq!(bytes(&executor), wide + SDM_WORDS as usize * 8);
}
