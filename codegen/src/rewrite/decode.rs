//! The vector code of a program: vectors without registers, scalars and moduli without loads.

use super::RewriteError;
use crate::check::CodeFault;
use crate::code::{Buffer, BufferId, BufferWord, Code, Few, Inst, MemRef, ScalarId, Tower, TowerId, ValueId};
use crate::number::Expression;
use arrayvec::ArrayVec;
use b512_asm::reg::{REGISTERS, VReg};
use b512_asm::{AddressMode, Direction, Image, Instr, LaneMap, Operand, Pipe, Program, Role, Space};

/// The buffer of all memory. The symbols are its parts: they may share words, and an access may reach
/// several.
const MEMORY: BufferId = BufferId(0);

/// A program as vector code.
pub(super) struct Decoded {
    pub(super) code: Code,
    /// The word of the SDM of each scalar.
    pub(super) scalars: Vec<u32>,
    /// The place in the program of each instruction.
    pub(super) places: Vec<u32>,
}

impl Decoded {
    /// A fault of the code as one of the program's instruction.
    pub(super) fn fault(&self, program: &Program, fault: CodeFault) -> RewriteError {
        let at = self.places[fault.inst as usize] as usize;
        let instr = program.instructions[at].to_string();
        RewriteError::Instruction { at, instr, problem: fault.problem.to_owned() }
    }
}

/// Decodes a program.
///
/// # Errors
/// Returns the first instruction with an operand that is undefined, or not known before a run.
pub(super) fn decode(program: &Program) -> Result<Decoded, RewriteError> {
    let (mut decoder, mut places) = (Decoder::new(program), Vec::new());
    for (at, instr) in program.instructions.iter().enumerate() {
        let step = if instr.pipe() == Pipe::Scalar {
            decoder.load(instr)
        } else {
            places.push(at as u32);
            decoder.push(instr)
        };
        step.map_err(|problem| RewriteError::Instruction { at, instr: instr.to_string(), problem })?;
    }
    Ok(Decoded { code: decoder.code, scalars: decoder.scalars, places })
}

/// The registers at one point of a program.
struct Decoder<'p> {
    program: &'p Program,
    code: Code,
    scalars: Vec<u32>,
    vectors: [Option<ValueId>; REGISTERS],
    /// The word of the SDM that each scalar register holds.
    loaded: [Option<u32>; REGISTERS],
    addresses: [u32; REGISTERS],
    moduli: [Option<u128>; REGISTERS],
}

/// The operands of an instruction.
#[derive(Default)]
struct Operands {
    sources: ArrayVec<ValueId, 3>,
    results: ArrayVec<VReg, 2>,
    scalar: Option<u32>,
    modulus: Option<u128>,
    map: Option<LaneMap>,
    /// The sum of address register and offset.
    address: u64,
    mode: Option<AddressMode>,
}

impl<'p> Decoder<'p> {
    fn new(program: &'p Program) -> Self {
        let mut code = Code::for_isa(program.isa);
        let symbols = || program.symbols.iter().filter(|symbol| symbol.space == Space::Vdm);
        let ends = symbols().map(|symbol| symbol.start + symbol.words).chain([program.vdm.end()]);
        let words = ends.max().unwrap_or(0);
        // The tower of the instructions without a modulus.
        let modulus = program.moduli.first().map_or(3, |&(_, modulus)| modulus);
        let tower = code.tower(Tower { n: 1, modulus, root: 1 });
        code.add(Buffer {
            name: "memory".to_owned(),
            words,
            role: Role::Scratch,
            tower,
            within: None,
            content: program.vdm.clone(),
            has_symbol: false,
        });
        for symbol in symbols() {
            let within = Some(BufferWord { buffer: MEMORY, word: symbol.start });
            let (name, words, role) = (symbol.name.clone(), symbol.words, symbol.role);
            let content = Image::default();
            code.add(Buffer { name, words, role, tower, within, content, has_symbol: true });
        }
        let (mut addresses, mut moduli) = ([0; REGISTERS], [None; REGISTERS]);
        program.addresses.iter().for_each(|&(reg, address)| addresses[reg.index()] = address);
        program.moduli.iter().for_each(|&(reg, modulus)| moduli[reg.index()] = Some(modulus));
        let (vectors, loaded) = ([None; REGISTERS], [None; REGISTERS]);
        Self { program, code, scalars: Vec::new(), vectors, loaded, addresses, moduli }
    }

    /// Executes the load of a scalar, address or modulus register, or `halt`.
    fn load(&mut self, instr: &Instr) -> Result<(), String> {
        let mut word = 0;
        instr.for_each_operand(|_, operand| {
            if let Operand::Offset(offset) = operand {
                word = offset.words();
            }
        });
        let symbols = self.program.symbols.iter().filter(|symbol| symbol.space == Space::Sdm);
        let mut unknown = symbols.filter(|symbol| symbol.role == Role::Input && symbol.contains(word.into()));
        if let Some(symbol) = unknown.next() {
            return Err(format!("loads `{}`, whose words are not known before the run", symbol.name));
        }
        let value = self.program.sdm.word(word);
        let mut result = Ok(());
        instr.for_each_operand(|_, operand| match operand {
            Operand::SReg(reg) => self.loaded[reg.index()] = Some(word),
            Operand::MReg(reg) => self.moduli[reg.index()] = Some(value),
            Operand::AReg(reg) => match u32::try_from(value) {
                Ok(address) => self.addresses[reg.index()] = address,
                Err(_) => result = Err(format!("loads the invalid address {value:#x}")),
            },
            Operand::VReg(_) | Operand::Offset(_) | Operand::Mode(_) | Operand::Map(_) => {}
        });
        result
    }

    /// Appends another instruction to the code.
    fn push(&mut self, instr: &Instr) -> Result<(), String> {
        let operands = self.operands(instr)?;
        let memory = operands.mode.map(|mode| self.memory(operands.address, mode)).transpose()?;
        let tower = operands.modulus.map_or(Ok(TowerId(0)), |modulus| self.tower(modulus))?;
        let scalar = operands.scalar.map(|word| self.scalar(word, tower)).transpose()?;
        let results: ArrayVec<ValueId, 2> = operands.results.iter().map(|&reg| self.define(reg)).collect();
        let (op, map, sources) = (instr.op(), operands.map, Few::of(&operands.sources));
        let (results, constant, pass) = (Few::of(&results), None, 0);
        self.code.insts.push(Inst { op, sources, constant, scalar, results, memory, map, tower, pass });
        Ok(())
    }

    fn operands(&self, instr: &Instr) -> Result<Operands, String> {
        let mut operands = Operands::default();
        let mut undefined = None;
        instr.for_each_operand(|spec, operand| {
            let defined = match operand {
                Operand::VReg(reg) if spec.direction == Direction::Write => {
                    operands.results.push(reg);
                    true
                }
                Operand::VReg(reg) => {
                    operands.sources.extend(self.vectors[reg.index()]);
                    self.vectors[reg.index()].is_some()
                }
                Operand::SReg(reg) => {
                    operands.scalar = self.loaded[reg.index()];
                    operands.scalar.is_some()
                }
                Operand::MReg(reg) => {
                    operands.modulus = self.moduli[reg.index()];
                    operands.modulus.is_some()
                }
                Operand::AReg(reg) => {
                    operands.address += u64::from(self.addresses[reg.index()]);
                    true
                }
                Operand::Offset(offset) => {
                    operands.address += u64::from(offset.words());
                    true
                }
                Operand::Mode(mode) => {
                    operands.mode = Some(mode);
                    true
                }
                Operand::Map(map) => {
                    operands.map = Some(map);
                    true
                }
            };
            if !defined {
                undefined.get_or_insert(spec.name);
            }
        });
        undefined.map_or(Ok(operands), |name| Err(format!("reads `{name}`, which is undefined")))
    }

    fn memory(&self, address: u64, mode: AddressMode) -> Result<MemRef, String> {
        let end = address + u64::from(mode.span(self.code.isa));
        if end > self.code.buffers[MEMORY.index()].words.into() {
            let word = end - 1;
            return Err(format!(
                "reaches word {word} of the memory, which belongs to no symbol; give it one, such as \
                 `.scratch NAME, WORDS, at ADDRESS`"
            ));
        }
        Ok(MemRef { buffer: MEMORY, word: address as u32, mode })
    }

    fn tower(&mut self, modulus: u128) -> Result<TowerId, String> {
        if let Some(known) = self.code.towers.iter().position(|tower| tower.modulus == modulus) {
            return Ok(TowerId(known as u32));
        }
        if self.code.towers.len() == REGISTERS {
            return Err(format!("needs another modulus than the first {REGISTERS}"));
        }
        Ok(self.code.tower(Tower { n: 1, modulus, root: 1 }))
    }

    /// The scalar in a word of the SDM.
    fn scalar(&mut self, word: u32, tower: TowerId) -> Result<ScalarId, String> {
        let (value, modulus) = (self.program.sdm.word(word), self.code.towers[tower.index()].modulus);
        if value >= modulus {
            return Err(format!("has the scalar {value:#x}, which is not below its modulus {modulus:#x}"));
        }
        let number = self.code.number(Expression::Value(value));
        let scalar = self.code.scalar(tower, number);
        if scalar.index() == self.scalars.len() {
            self.scalars.push(word);
        }
        Ok(scalar)
    }

    /// A new value, in a register.
    fn define(&mut self, reg: VReg) -> ValueId {
        let value = ValueId(self.code.values);
        self.code.values += 1;
        self.vectors[reg.index()] = Some(value);
        value
    }
}
