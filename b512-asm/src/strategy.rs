//! Random instructions and programs for property tests (feature `proptest`).
//!
//! The instructions follow from the ISA table, so a new row is tested without changes here.

use crate::claim::{Call, Claim, Expression, Setting};
use crate::isa::{Instr, Op, Operand, OperandKind};
use crate::operand::register;
use crate::parameters::Isa;
use crate::program::{Image, Program, Role, Segment, Symbol};
use crate::reg::{AReg, AddressMode, LaneMap, Log2, MAX_VDM_WORDS, MReg, Offset, REGISTERS};
use crate::space::Space;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Any instruction but `halt`, extensions included.
pub fn instr() -> BoxedStrategy<Instr> {
    let ops: Vec<Op> = Op::ALL.iter().copied().filter(|&op| op != Op::Halt).collect();
    select(ops).prop_flat_map(operation).boxed()
}

/// The instruction `op` with random operands.
pub fn operation(op: Op) -> BoxedStrategy<Instr> {
    let operands: Vec<_> = op.info().operands.iter().map(|spec| operand(spec.kind)).collect();
    operands
        .prop_map(move |operands| op.with_operands(&operands).expect("operands of the table's kinds"))
        .boxed()
}

/// A random operand of that kind.
pub fn operand(kind: OperandKind) -> BoxedStrategy<Operand> {
    match kind {
        OperandKind::Offset => prop_oneof![0..4096_u32, 0..=Offset::MAX]
            .prop_map(|words| Operand::Offset(Offset::new(words).expect("in range")))
            .boxed(),
        OperandKind::Mode => address_mode().prop_map(Operand::Mode).boxed(),
        OperandKind::Map => lane_map().prop_map(Operand::Map).boxed(),
        kind @ (OperandKind::VReg | OperandKind::SReg | OperandKind::AReg | OperandKind::MReg) => {
            (0..REGISTERS as u8).prop_map(move |i| register(kind, i).expect("in range")).boxed()
        }
    }
}

/// A random vector length and word width.
pub fn isa() -> BoxedStrategy<Isa> {
    let lane_bits = Isa::MIN_VECTOR_LENGTH.ilog2()..=Isa::MAX_VECTOR_LENGTH.ilog2();
    (lane_bits, Isa::MIN_WORD_BITS..=Isa::MAX_WORD_BITS)
        .prop_map(|(lane_bits, word_bits)| Isa::new(1 << lane_bits, word_bits).expect("in range"))
        .boxed()
}

/// A random map of lanes.
pub fn lane_map() -> BoxedStrategy<LaneMap> {
    (0..=LaneMap::MAX / 2, 0..=LaneMap::MAX)
        .prop_map(|(half, shift)| LaneMap::new(2 * half + 1, shift).expect("an odd multiplier"))
        .boxed()
}

/// A random addressing mode.
pub fn address_mode() -> BoxedStrategy<AddressMode> {
    let modes = [AddressMode::Strided, AddressMode::StridedSkip, AddressMode::Repeated];
    let exponent = (0..=Log2::MAX).prop_map(|value| Log2::new(value).expect("in range"));
    prop_oneof![
        1 => Just(AddressMode::Linear),
        3 => (select(modes.to_vec()), exponent).prop_map(|(mode, value)| mode(value)),
    ]
    .boxed()
}

/// A random program that [`Program::check`] accepts, with at most a few dozen instructions and
/// words. It may be meaningless.
pub fn program() -> BoxedStrategy<Program> {
    let parts = (
        prop_oneof![3 => Just(Isa::B512), 1 => isa()],
        prop_oneof![Just(String::new()), name()],
        vec(instr(), 0..40),
        (image(), image()),
        btree_map(0..REGISTERS, 0..MAX_VDM_WORDS, 0..4),
        subsequence((0..REGISTERS).collect::<Vec<_>>(), 0..6),
        vec(odd_modulus(), 6),
        vec(symbol(), 0..6),
        vec(claim(), 0..3),
    );
    parts
        .prop_map(|(isa, name, mut instructions, images, addresses, registers, moduli, symbols, claims)| {
            instructions.retain(|instr| instr.op().info().feature.is_none_or(|feature| feature.exists(isa)));
            instructions.push(Instr::Halt {});
            let mut program = Program {
                isa,
                name,
                instructions,
                vdm: images.0,
                sdm: images.1,
                addresses: addresses.into_iter().map(|(reg, address)| (AReg::at(reg), address)).collect(),
                moduli: registers
                    .into_iter()
                    .map(MReg::at)
                    .zip(moduli.iter().map(|q| (q & isa.max_word()).max(3)))
                    .collect(),
                symbols,
                claims: Vec::new(),
            };
            for (i, symbol) in program.symbols.iter_mut().enumerate() {
                symbol.name.push_str(&format!(".{i}"));
            }
            let random = program.symbols.len();
            for (i, claim) in claims.into_iter().enumerate() {
                add_claim(&mut program, i, claim);
            }
            separate(&mut program.symbols, random);
            for segment in
                [&mut program.vdm, &mut program.sdm].into_iter().flat_map(|image| &mut image.segments)
            {
                segment.words.iter_mut().for_each(|word| *word &= isa.max_word());
            }
            if let Some(modulus) = program.only_modulus() {
                let words = program.vdm.segments.iter_mut().flat_map(|segment| &mut segment.words);
                words.for_each(|word| *word %= modulus);
            }
            program
        })
        .boxed()
}

/// Names, including words with another meaning elsewhere in the text.
fn name() -> BoxedStrategy<String> {
    let reserved = ["at", "vdm", "sdm", "n", "root", "v0", "a1", "m1", "halt", "linear", "ntt"];
    prop_oneof![select(reserved.to_vec()).prop_map(str::to_owned), "[A-Za-z_][A-Za-z0-9_.]{0,8}"].boxed()
}

fn odd_modulus() -> BoxedStrategy<u128> {
    (any::<u128>(), 0..127_u32).prop_map(|(bits, shift)| (bits >> shift | 1).max(3)).boxed()
}

/// A symbol anywhere in a memory.
fn symbol() -> BoxedStrategy<Symbol> {
    let extent = select(Space::ALL.to_vec()).prop_flat_map(|space| {
        (Just(space), 0..space.max_words())
            .prop_flat_map(|(space, start)| (Just(space), Just(start), 1..=space.max_words() - start))
    });
    (name(), extent, select(Role::ALL.to_vec()))
        .prop_map(|(name, (space, start, words), role)| Symbol { name, space, start, words, role })
        .boxed()
}

/// A few segments with or without gaps between them, far from the end of either memory.
fn image() -> BoxedStrategy<Image> {
    let gap = prop_oneof![Just(0), 0..1_u32 << 16];
    let words = vec(prop_oneof![any::<u128>(), (0..100_u64).prop_map(u128::from)], 1..20);
    vec((gap, words), 0..4)
        .prop_map(|parts| {
            let mut free = 0;
            let segment = |(gap, words)| {
                let segment = Segment { start: free + gap, words };
                free = segment.end();
                segment
            };
            Image { segments: parts.into_iter().map(segment).collect() }
        })
        .boxed()
}

/// A claim about symbols that no program declares yet, with settings of any kind.
fn claim() -> BoxedStrategy<Claim> {
    let settings = |most: usize| {
        let value = prop_oneof![any::<u128>().prop_map(Setting::Number), name().prop_map(Setting::Word)];
        vec((name(), value), 0..most).prop_map(distinct)
    };
    let leaf = prop_oneof![3 => (0..3usize).prop_map(Expression::Input), 1 => any::<u128>().prop_map(Expression::Number)];
    let expression = leaf.prop_recursive(4, 12, 3, move |operand| {
        let operator = (select(vec!["add", "sub", "mul"]), vec(operand.clone(), 2));
        let operator = operator.prop_map(|(name, operands)| (name.to_owned(), operands, Vec::new()));
        prop_oneof![operator, (name(), vec(operand, 1..=3), settings(3))].prop_map(
            |(operation, operands, settings)| Expression::Call(Call { operation, operands, settings }),
        )
    });
    (name(), vec(expression, 1..=2), settings(4))
        .prop_map(|(operation, mut expressions, settings)| {
            // At least one operand.
            let operands = vec![Expression::Input(0), expressions[0].clone()];
            expressions[0] = Expression::Call(Call { operation, operands, settings: Vec::new() });
            let mut used = Vec::new();
            expressions.iter_mut().for_each(|expression| renumber(expression, &mut used));
            Claim {
                outputs: vec!["y".to_owned(); expressions.len()],
                expressions,
                inputs: vec!["x".to_owned(); used.len()],
                settings,
            }
        })
        .boxed()
}

/// Settings with names of their own.
fn distinct(mut settings: Vec<(String, Setting)>) -> Vec<(String, Setting)> {
    for (i, (name, _)) in settings.iter_mut().enumerate() {
        name.push_str(&i.to_string());
    }
    settings
}

/// Numbers inputs in the order of their first use.
fn renumber(expression: &mut Expression, used: &mut Vec<usize>) {
    match expression {
        Expression::Input(input) => {
            let known = used.iter().position(|known| known == input);
            *input = known.unwrap_or_else(|| {
                used.push(*input);
                used.len() - 1
            });
        }
        Expression::Number(_) => {}
        Expression::Call(call) => call.operands.iter_mut().for_each(|operand| renumber(operand, used)),
    }
}

/// Among the first `count` symbols, turns each that shares words with another symbol of its role into scratch
/// memory, unless symbols of the role may share words.
fn separate(symbols: &mut [Symbol], count: usize) {
    let overlap = |a: &Symbol, b: &Symbol| {
        (a.role, a.space) == (b.role, b.space) && a.start < b.start + b.words && b.start < a.start + a.words
    };
    for i in 0..count {
        let others = || symbols.iter().enumerate().filter(|&(other, _)| other != i);
        let is_kept = matches!(symbols[i].role, Role::Input | Role::Output);
        if is_kept && others().any(|(_, other)| overlap(&symbols[i], other)) {
            symbols[i].role = Role::Scratch;
        }
    }
}

/// Adds a claim with its own symbols and settings.
fn add_claim(program: &mut Program, number: usize, mut claim: Claim) {
    for (names, role) in [(&mut claim.outputs, Role::Output), (&mut claim.inputs, Role::Input)] {
        for (i, name) in names.iter_mut().enumerate() {
            *name = format!("{name}{number}_{i}");
            let symbol = Symbol {
                name: name.clone(),
                space: Space::Vdm,
                start: 64 * (4 * number + i) as u32,
                words: 64,
                role,
            };
            program.symbols.push(symbol);
        }
    }
    program.claims.push(claim);
}
