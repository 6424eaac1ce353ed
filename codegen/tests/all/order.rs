//! The order of accesses to memory, against its definition.

use b512_asm::{AddressMode, Log2, Op};
use codegen::code::{BufferId, Code, InstId, MemRef};
use codegen::library::{BUILT_IN, Task};
use codegen::{compile, compile_within};
use std::collections::{BTreeSet, HashMap};

/// The definition, word by word.
fn by_word(code: &Code) -> Vec<Vec<InstId>> {
    let mut writers: HashMap<(BufferId, u32), InstId> = HashMap::new();
    let mut readers: HashMap<(BufferId, u32), BTreeSet<InstId>> = HashMap::new();
    let mut order = Vec::new();
    for (inst, id) in code.insts.iter().zip((0..).map(InstId)) {
        let mut before = BTreeSet::new();
        if let Some(MemRef { buffer, word, mode, .. }) = inst.memory {
            for lane in 0..code.isa.vector_length() {
                let word = (buffer, word + mode.element(lane));
                before.extend(writers.get(&word));
                if inst.op == Op::Vstore {
                    before.extend(readers.remove(&word).unwrap_or_default());
                    writers.insert(word, id);
                } else {
                    readers.entry(word).or_default().insert(id);
                }
            }
        }
        before.remove(&id);
        order.push(before.into_iter().collect());
    }
    order
}

#[test]
fn the_order_is_that_of_the_single_words() {
    let tasks = BUILT_IN.tasks().filter(|task| task.n <= 8192);
    let mut several_words = 0;
    for (task, entry, known) in tasks.flat_map(Task::programs) {
        let (request, machine) = (task.request().unwrap(), known.machine.machine());
        let kernel = compile(&request, &entry.recipe, &machine).unwrap();
        let small = compile_within(&request, &entry.recipe, &machine, 0).unwrap();
        for mut code in [kernel.code, small.code] {
            let name = task.file_name();
            assert_eq!(code.memory_order(), by_word(&code), "{name}");
            // Not aligned, and in other modes.
            for (number, inst) in code.insts.iter_mut().enumerate() {
                let Some(memory) = &mut inst.memory else { continue };
                let words = code.buffers[memory.buffer.index()].words;
                let mut other = *memory;
                match number % 7 {
                    0 => other.word += 8,
                    1 => other.mode = AddressMode::Repeated(Log2::new(4).unwrap()),
                    2 => other.mode = AddressMode::StridedSkip(Log2::new(5).unwrap()),
                    3 => other.mode = AddressMode::Strided(Log2::new(1).unwrap()),
                    4.. => {}
                }
                if other.word + other.mode.span(code.isa) <= words {
                    several_words += usize::from(other != *memory);
                    *memory = other;
                }
            }
            assert_eq!(code.memory_order(), by_word(&code), "{name}, changed");
        }
    }
    assert!(several_words > 1000, "{several_words}");
}
