//! The ISA reference page, generated from the table.

use crate::isa::{Direction, Op, OpInfo, OperandKind, OperandSpec, Pipe, Slot, slot};
use crate::operand::syntax;
use crate::parameters::Isa;
use crate::reg::{Log2, Offset, REGISTERS};
use crate::space::Space;
use std::fmt::Write;

/// The reference of the instruction set as Markdown: the contents of `docs/isa.md`.
pub fn reference() -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page);
    page
}

fn write_page(page: &mut String) -> std::fmt::Result {
    let base = Op::ALL.iter().filter(|op| op.info().feature.is_none()).count();
    let (vdm, sdm) = (Space::Vdm.max_words(), Space::Sdm.max_words());
    let length = Isa::B512.vector_length();
    let (offset_max, log2_max) = (Offset::MAX, Log2::MAX);
    let word_bits = Isa::B512.word_bits();
    let (least, most) = (Isa::MIN_VECTOR_LENGTH, Isa::MAX_VECTOR_LENGTH);
    let (narrowest, widest) = (Isa::MIN_WORD_BITS, Isa::MAX_WORD_BITS);
    write!(
        page,
        "\
<!-- Generated from the instruction table: do not edit. See docs/generated.md. -->

# The B512 instruction set

B512 is the instruction set of the Ring Processing Unit (RPU), published at ISPASS 2023: {base} instructions of 64 bits
over vectors of {length} elements of {word_bits} bits. The authors have published no encoder, assembler or simulator. This page
describes the printed instruction set. If the paper leaves something open, our decision is marked (**our reading**).

## Vector length and word width

The vector length L and the word width W are parameters. B512 has L = {length} lanes of W = {word_bits} bits. Other values keep the
instructions, their encoding and the number of registers (**our reading**: the paper has B512 only).

| parameter | values | B512 | machine key |
|---|---|---|---|
| L, lanes of a vector register | a power of two from {least} to {most} | {length} | `isa.vector_length` |
| W, bits of a word | {narrowest} to {widest} | {word_bits} | `isa.word_bits` |

A word is an element of a vector, a scalar, a modulus, or an element of a memory. A program without `.isa` is for B512. A
program for other values has a directive such as `.isa vector_length=1024, word_bits=64`; a parameter that it omits keeps the
value of B512. A program runs only on machines with the same L and W. All moduli and data must fit a word.

## State

| state | size | in text |
|---|---|---|
| vector registers (VRF) | {REGISTERS} of L words | `v0` to `v63` |
| scalar registers (SRF) | {REGISTERS} words | `s0` to `s63` |
| address registers (ARF) | {REGISTERS} word addresses of the VDM | `a0` to `a63` |
| modulus registers (MRF) | {REGISTERS} odd moduli, a word each | `m0` to `m63` |
| vector data memory (VDM) | up to {vdm} words | |
| scalar data memory (SDM) | up to {sdm} words | |

These are the limits of the ISA; the paper prints 32 MiB for the VDM. A machine may have smaller memories. The
controlling core may set address and modulus registers before the start. All other registers then hold 0. A modulus register
must not be used before it is set (**our reading**).

An arithmetic instruction names a modulus. Its result is below this modulus, and so must be its operands, with one exception
(**our reading**): the multiplicand of a product may be any word. The multiplicand is the first source of `vmul` and `vmuls`,
and `vt` of `bfly`; the other factor must be below the modulus. The reason: a Montgomery multiplier with R = 2^W accepts any
product below q * R. A multiplication by one thus reduces a word of another modulus. Machines with `law.operands = \"reduced\"`
also require reduced multiplicands.

There are no branches: a program is a straight line that ends with its only `halt`.

## Instruction word

The fields are the paper's:

```text
"
    )?;
    write_diagram(page)?;
    write!(
        page,
        "```

VD1 has nine bits; a register number uses six of them. Bits that no operand of an instruction uses must be zero, so that
decoding and encoding are inverse to each other (**our reading**). The opcode numbers are ours: the paper prints none.

## Addresses

A vector load or store accesses the words at ARF[RM] + address + mode(i), for lanes i = 0 to L - 1. The address field counts
words, so the largest offset is {offset_max} (**our reading**: 2^20 words are exactly the SDM's limit). Scalar loads have no
address register: their address is a word of the SDM.

| mode | MODE | mode(i) | in text | origin |
|---|---|---|---|---|
| linear | 0 | i | no mode, or `linear` | our reading |
| strided | 1 | i * 2^VALUE | `strided 2^k` | our reading |
| strided-skip | 2 | (i >> VALUE) * 2^(VALUE+1) + i mod 2^VALUE | `skip 2^k` | named in the paper: transfer 2^VALUE, skip 2^VALUE |
| repeated | 3 | i mod 2^VALUE | `repeated 2^k` | named in the paper; its meaning is our reading |

VALUE is 0 to {log2_max}, and 0 in linear mode. The paper mentions four modes and names two of them. `repeated 2^k` is the pattern
of the twiddle factors in stage m = 2^k of Korn and Lambiotte's transform; with k = 0, it is a broadcast.

## Instructions

Operands are listed in the order of the assembly text. The column \"from\" names the field of the instruction word.
"
    )?;
    for pipe in Pipe::ALL {
        writeln!(page, "\n### Pipeline {}\n\n{}", pipe.label(), pipe.description())?;
        for op in Op::ALL.iter().filter(|op| op.pipe() == pipe) {
            write_instruction(page, *op)?;
        }
    }
    write!(
        page,
        "
## Sources

* The paper prints the fields of the word, the register files, the limits of the memories, the number of instructions, and
  their kinds: loads and stores, three modular operations on two vectors or on a vector and a scalar, a butterfly, and four
  shuffles. It describes each kind.
* The list of the {base} instructions is our reading: all instructions above except the extension.
* The direction of interleaving in the shuffles is the paper's.
* The mnemonics, the operand order and the opcode numbers are ours.
* Extensions use spare encodings. A machine implements an extension only if its configuration enables it.
"
    )
}

/// The kinds of instruction words: each line names the fields that the kind's operands use.
fn write_diagram(page: &mut String) -> std::fmt::Result {
    let columns = [slot::VD1, slot::VT1, slot::BFLY, slot::OPCODE, slot::ADDRESS, slot::VD];
    let halves = [("[17:12]", 17), ("[11:6]", 11), ("[5:0]", 5)];
    let cell = |text: &str| format!("{text:<9}");
    let mut line: String = columns.iter().map(|slot| cell(&bits(*slot))).collect();
    line.extend(halves.iter().map(|half| cell(half.0)));
    writeln!(page, "{}", line.trim_end())?;
    for (number, &example) in Op::ALL.iter().enumerate() {
        if Op::ALL[..number].iter().any(|other| fields(*other) == fields(example)) {
            continue;
        }
        let info = example.info();
        let used = |slot: &Slot| info.operands.iter().any(|operand| operand.slot == *slot);
        let mut line = String::new();
        for slot in columns {
            let value = match slot {
                slot::BFLY => u8::from(info.bfly).to_string(),
                slot::OPCODE => slot.name.to_owned(),
                slot if used(&slot) => slot.name.to_owned(),
                _ => "-".to_owned(),
            };
            line.push_str(&cell(&value));
        }
        for (_, high) in halves {
            let operand = info.operands.iter().find(|operand| {
                let slot = operand.slot;
                (slot.low..slot.low + slot.bits).contains(&high)
            });
            let name = match (operand.map(|operand| operand.slot), high) {
                (Some(slot::MODE_VALUE), 17) => "mode",
                (Some(slot::MODE_VALUE), _) => "value",
                (Some(slot), _) => slot.name,
                (None, _) => "-",
            };
            line.push_str(&cell(name));
        }
        writeln!(page, "{line}{}", kind(example))?;
    }
    Ok(())
}

/// The slots of the operands.
fn fields(op: Op) -> Vec<Slot> {
    op.info().operands.iter().map(|operand| operand.slot).collect()
}

/// The instructions that have the same fields as `op`.
fn kind(op: Op) -> String {
    let same = Op::ALL.iter().filter(|other| fields(**other) == fields(op));
    same.map(|op| op.info().mnemonic).collect::<Vec<_>>().join(", ")
}

fn bits(slot: Slot) -> String {
    match slot.bits {
        1 => format!("[{}]", slot.low),
        bits => format!("[{}:{}]", slot.low + bits - 1, slot.low),
    }
}

fn write_instruction(page: &mut String, op: Op) -> std::fmt::Result {
    let OpInfo { mnemonic, opcode, bfly, feature, operands, doc, .. } = op.info();
    let extension = feature.map_or(String::new(), |feature| format!(" (extension `isa.{feature}`)"));
    writeln!(page, "\n#### `{mnemonic}`{extension}\n\n```text\n{}\n```\n", syntax(op))?;
    for line in *doc {
        writeln!(page, "{}", line.trim_start())?;
    }
    writeln!(page, "\nOpcode {opcode:#x}, BFLY {}.", u8::from(*bfly))?;
    if !operands.is_empty() {
        writeln!(page, "\n| operand | kind | from | use |\n|---|---|---|---|")?;
    }
    for OperandSpec { name, kind, slot, direction } in *operands {
        let direction = match direction {
            Direction::Read => "read",
            Direction::Write => "written",
            Direction::Immediate => "constant",
        };
        let kind = match kind {
            OperandKind::VReg => "vector register",
            OperandKind::SReg => "scalar register",
            OperandKind::AReg => "address register",
            OperandKind::MReg => "modulus register",
            OperandKind::Offset => "offset in words",
            OperandKind::Mode => "addressing mode, linear if left out",
            OperandKind::Map => "affine map of lanes",
        };
        writeln!(page, "| `{name}` | {kind} | {} {} | {direction} |", slot.name, bits(*slot))?;
    }
    Ok(())
}
