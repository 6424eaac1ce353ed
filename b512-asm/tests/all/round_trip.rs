//! Round trips of a program through every notation.

use b512_asm::isa::slot;
use b512_asm::{Instr, Op, OperandKind, Program, assemble, intrinsics, object, strategy};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;

/// Decoding is the inverse of encoding on every accepted word. Most random words are invalid, so
/// the second half of the sample randomises only the fields of valid instructions; the test fails
/// if too few words are accepted for a meaningful result.
#[test]
fn decoding_is_a_bijection_on_accepted_words() {
    let fields = (any::<u64>(), select(Op::ALL.to_vec())).prop_map(|(bits, op)| {
        let info = op.info();
        let fields = info.operands.iter().fold(0, |mask, operand| {
            // A register uses six of VD1's nine bits; the low bits of MODE select one of four
            // modes.
            let reserved = match operand.kind {
                OperandKind::VReg => !0 << 6,
                OperandKind::Mode => 0b1111_0010_0000,
                // Of the multiplier, ten bits with the lowest one, which is implied.
                OperandKind::Map => 1 << 19,
                _ => 0,
            };
            mask | operand.slot.mask() & !(reserved << operand.slot.low)
        });
        bits & fields | u64::from(info.bfly) << slot::BFLY.low | u64::from(info.opcode) << slot::OPCODE.low
    });
    let accepted = Cell::new(0);
    let property = |word| {
        if let Ok(instr) = Instr::decode(word) {
            accepted.set(accepted.get() + 1);
            prop_assert_eq!(instr.encode(), word);
        }
        Ok(())
    };
    let mut runner = TestRunner::new(Config::with_cases(20_000));
    runner.run(&prop_oneof![any::<u64>(), fields], property).unwrap();
    assert!(accepted.get() > 8_000, "only {} of 20000 words were instructions", accepted.get());
}

proptest! {
    #![proptest_config(Config::with_cases(2_000))]

    #[test]
    fn instructions_survive_their_word_and_their_text(instr in strategy::instr()) {
        prop_assert_eq!(Instr::decode(instr.encode()), Ok(instr));
        let program = assemble(&format!("{instr}\nhalt\n")).unwrap();
        prop_assert_eq!(program.instructions, vec![instr, Instr::Halt {}]);
    }
}

proptest! {
    #![proptest_config(Config::with_cases(500))]

    #[test]
    fn programs_survive_their_text(program in strategy::program()) {
        prop_assert_eq!(program.check(), Ok(()));
        let text = program.to_string();
        let read = assemble(&text).map_err(|errors| TestCaseError::fail(format!("{errors}\n{text}")))?;
        prop_assert_eq!(&read, &program);
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn programs_survive_their_object_file(program in strategy::program()) {
        let file = object::write(&program).unwrap();
        let read = object::read(&file).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&read, &program);
        let again = assemble(&read.to_string()).unwrap();
        prop_assert_eq!(object::write(&again).unwrap(), file);
    }

    /// Every program read from a damaged file can be written again.
    #[test]
    fn no_file_makes_the_object_reader_panic(
        program in strategy::program(),
        damage in vec((any::<Index>(), any::<u8>()), 1..8),
        end in prop_oneof![4 => Just(None), 1 => any::<Index>().prop_map(Some)],
    ) {
        let mut file = object::write(&program).unwrap();
        for (position, byte) in damage {
            let length = file.len();
            file[position.index(length)] = byte;
        }
        if let Some(end) = end {
            file.truncate(end.index(file.len()));
        }
        match object::read(&file) {
            Ok(program) => prop_assert!(object::write(&program).is_ok()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn intrinsics_are_read_as_they_were_printed(program in strategy::program()) {
        let text = intrinsics::print(&program);
        let read = intrinsics::assemble(&text).map_err(|errors| TestCaseError::fail(format!("{errors}\n{text}")))?;
        let name = if program.name.is_empty() { "kernel".to_owned() } else { program.name.clone() };
        prop_assert_eq!(read, Program { name, ..program });
    }

    #[test]
    fn no_text_makes_the_intrinsics_front_end_panic(
        calls in vec("_v(load|stores|addmod|packlo)_512x128i\\((REG_[VAMS][0-9]{1,2}|[0-9]{1,9}|,| ){0,7}\\);?", 0..6),
        junk in "[ -~\u{e9}]{0,8}",
        end in "(leave\\(OP_DEFAULT\\);)? ?\\}?",
    ) {
        let source = format!("void k() {{ enter(OP_DEFAULT); {} {junk} {end}", calls.concat());
        match intrinsics::assemble(&source) {
            Ok(program) => prop_assert_eq!(program.check(), Ok(())),
            Err(errors) => {
                for error in &errors {
                    prop_assert!(error.marked().is_some(), "{error}: {:?}", error.span);
                }
            }
        }
    }

    #[test]
    fn no_text_makes_the_assembler_panic(
        program in strategy::program(),
        cut in any::<Index>(),
        junk in "[ -~\n\u{e9}]{0,12}",
    ) {
        let mut text = program.to_string();
        let at = cut.index(text.len() + 1);
        text.insert_str(at, &junk);
        if let Err(errors) = assemble(&text) {
            for error in &errors {
                prop_assert!(error.marked().is_some(), "{error}: {:?}", error.span);
            }
        }
    }
}
