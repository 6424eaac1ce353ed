//! The memory map of a kernel, and the program for a schedule.

use crate::code::{Code, Tower};
use crate::error::Error;
use crate::number::{Expression, Number};
use crate::request::Request;
use crate::schedule::{Addresses, Scheduled, TableOrder};
use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, Image, Instr, MReg, Pipe, Program, Role, Segment, Space, Symbol};
use ring::modular::Modulus;
use ring::root::powers;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::ops::Range;

/// The location of everything in memory, and the modulus registers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Layout {
    pub(crate) addresses: Addresses,
    /// The first word of each buffer, then of the table and of the spill memory.
    starts: Vec<u32>,
    /// The first words of the address registers.
    bases: Vec<u32>,
    /// The constants in the table, in order, those of each tower together.
    table: Vec<usize>,
    table_words: u32,
    pub(super) end: u32,
}

/// More buffers than address registers, or more moduli than modulus registers: the registers needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooMany(pub(super) usize);

impl TooMany {
    /// The error of a request.
    pub(super) fn for_request(self, request: &Request) -> Error {
        let (operation, n, towers) = (request.operation, request.n(), request.towers());
        Error::TooManyRings { operation, n, towers, needed: self.0 }
    }
}

impl Layout {
    /// The part of the table for each tower begins at a multiple of `page` words, as in the VDM of a ring
    /// program, where launches share the tables of rings.
    pub(super) fn new(code: &Code, order: TableOrder, page: u32) -> Result<Self, TooMany> {
        // The table and the spill memory also need a register each.
        let needed = code.buffers.iter().filter(|buffer| buffer.within.is_none()).count() + 2;
        if needed > REGISTERS {
            return Err(TooMany(needed));
        }
        let moduli = moduli(code).map_err(TooMany)?;
        let aligned = |word: u32| word.next_multiple_of(code.isa.vector_length());
        let mut end = 0;
        let (mut starts, mut bases, mut buffers) = (Vec::new(), Vec::new(), Vec::new());
        for buffer in &code.buffers {
            if let Some(start) = buffer.within {
                starts.push(starts[start.buffer.index()] + start.word);
                buffers.push(buffers[start.buffer.index()]);
            } else {
                starts.push(end);
                buffers.push(AReg::at(bases.len()));
                bases.push(end);
                end = aligned(end + buffer.words);
            }
        }
        let mut table: Vec<usize> = (0..code.constants.len()).collect();
        if order == TableOrder::BySize {
            table.sort_by_key(|&constant| Reverse(code.constants[constant].numbers.len()));
        }
        table.sort_by_key(|&constant| code.constants[constant].tower);
        let mut table_words: u32 = 0;
        let mut constants = vec![0; code.constants.len()];
        for of_tower in
            table.chunk_by(|&one, &other| code.constants[one].tower == code.constants[other].tower)
        {
            table_words = table_words.next_multiple_of(page);
            for &constant in of_tower {
                constants[constant] = table_words;
                table_words += code.constants[constant].numbers.len() as u32;
            }
        }
        let [table_start, spills_start] = [end, aligned(end + table_words)];
        end = spills_start;
        let addresses = Addresses {
            buffers,
            table: AReg::at(bases.len()),
            constants,
            spills: AReg::at(bases.len() + 1),
            moduli,
            scalars: (0..code.scalars.len() as u32).collect(),
        };
        starts.extend([table_start, spills_start]);
        bases.extend([table_start, spills_start]);
        Ok(Self { addresses, starts, bases, table, table_words, end })
    }

    /// The part of the table for a tower.
    pub(super) fn table_of(&self, code: &Code, tower: usize) -> Range<u32> {
        let is_of_tower = |&&constant: &&usize| code.constants[constant].tower.index() == tower;
        let mut of_tower = self.table.iter().filter(is_of_tower).map(|&constant| {
            let start = self.addresses.constants[constant];
            start..start + code.constants[constant].numbers.len() as u32
        });
        let first = of_tower.next().unwrap_or_default();
        first.start..of_tower.next_back().map_or(first.end, |last| last.end)
    }

    /// The address registers that the controlling core sets.
    pub(super) fn launch(&self) -> Vec<(AReg, u32)> {
        (0..).map(AReg::at).zip(self.bases.iter().copied()).collect()
    }

    /// The program of a schedule in some rings, without the contents of its memories.
    pub(super) fn outline(
        &self,
        name: String,
        code: &Code,
        towers: &[Tower],
        scheduled: &Scheduled,
    ) -> Program {
        let mut symbols: Vec<Symbol> = code
            .buffers
            .iter()
            .zip(&self.starts)
            .filter(|(buffer, _)| buffer.has_symbol)
            .map(|(buffer, &start)| Symbol {
                name: buffer.name.clone(),
                space: Space::Vdm,
                start,
                words: buffer.words,
                role: buffer.role,
            })
            .collect();
        let mut extra = |name: &str, start, words, role| {
            if words > 0 {
                symbols.push(Symbol { name: name.to_owned(), space: Space::Vdm, start, words, role });
            }
        };
        extra("factors", self.table_start(code), self.table_words, Role::Table);
        extra("spills", self.starts[code.buffers.len() + 1], scheduled.spill_words, Role::Scratch);
        let stated = |claim| code.stated_in(towers, claim).expect("an operation claims its own operands");
        let moduli = self.addresses.moduli.iter().zip(towers);
        let moduli = moduli.filter_map(|(&reg, tower)| Some((reg?, tower.modulus)));
        Program {
            isa: code.isa,
            name,
            instructions: scheduled.instructions.clone(),
            vdm: Image::default(),
            sdm: Image::default(),
            addresses: self.launch(),
            moduli: moduli.collect(),
            symbols,
            claims: code.claims.iter().map(stated).collect(),
        }
    }

    /// Adds the table and the scalars of these rings to an outline.
    ///
    /// # Errors
    /// Returns an error if a number of the code has no value.
    pub(super) fn with_data(
        &self,
        mut program: Program,
        code: &Code,
        towers: &[Tower],
    ) -> Result<Program, Error> {
        let values = Values::new(code, towers);
        let mut words = Vec::with_capacity(self.table_words as usize);
        for &constant in &self.table {
            words.resize(self.addresses.constants[constant] as usize, 0);
            let constant = &code.constants[constant];
            let tower = &values.towers[constant.tower.index()];
            for &number in &constant.numbers {
                words.push(values.get(number, tower)?);
            }
        }
        if !words.is_empty() {
            program.vdm.segments.push(Segment { start: self.table_start(code), words });
        }
        if program.instructions.iter().any(|instr| matches!(instr, Instr::Sload { .. })) {
            let words = code
                .scalars
                .iter()
                .map(|scalar| values.get(scalar.number, &values.towers[scalar.tower.index()]));
            program.sdm.segments.push(Segment { start: 0, words: words.collect::<Result<_, _>>()? });
        }
        Ok(program)
    }

    fn table_start(&self, code: &Code) -> u32 {
        self.starts[code.buffers.len()]
    }
}

/// The modulus register of each tower, or the number of registers needed if there are too few. Without
/// arithmetic, code needs none.
fn moduli(code: &Code) -> Result<Vec<Option<MReg>>, usize> {
    let towers = code.towers.len();
    if !code.insts.iter().any(|inst| inst.op.pipe() == Pipe::Compute) {
        return Ok(vec![None; towers]);
    }
    if towers > REGISTERS {
        Err(towers)
    } else {
        Ok((0..towers).map(|tower| Some(MReg::at(tower))).collect())
    }
}

/// The values of known numbers.
struct Values<'c> {
    code: &'c Code,
    towers: Vec<Residues>,
}

/// The residues of a tower's numbers.
struct Residues {
    modulus: Modulus,
    /// Of the expressions that were asked for.
    expressions: Vec<OnceCell<u128>>,
    /// Code without a transform has none.
    powers: OnceCell<Powers>,
    tower: Tower,
}

/// The powers of a tower's psi.
struct Powers {
    modulus: Modulus,
    /// psi^0 to psi^(n - 1); psi^n is -1.
    powers: Vec<u128>,
    over_n: u128,
}

impl<'c> Values<'c> {
    fn new(code: &'c Code, towers: &[Tower]) -> Self {
        let residues = |tower: &Tower| Residues {
            modulus: Modulus::new(tower.modulus).expect("the request has been checked"),
            expressions: vec![OnceCell::new(); code.expressions.len()],
            powers: OnceCell::new(),
            tower: *tower,
        };
        Self { code, towers: towers.iter().map(residues).collect() }
    }

    /// The residue of a number.
    #[inline]
    fn get(&self, number: Number, tower: &Residues) -> Result<u128, Error> {
        match number {
            Number::Root { exponent, scaled } => {
                Ok(tower.powers.get_or_init(|| Powers::new(&tower.tower)).get(exponent, scaled))
            }
            Number::Expression(id) => {
                let known = &tower.expressions[id.index()];
                if let Some(&residue) = known.get() {
                    return Ok(residue);
                }
                let residue = self.expression(&self.code.expressions[id.index()], &tower.modulus)?;
                Ok(*known.get_or_init(|| residue))
            }
        }
    }

    fn expression(&self, expression: &Expression, modulus: &Modulus) -> Result<u128, Error> {
        match expression {
            Expression::Value(value) => Ok(modulus.residue(*value)),
            Expression::Negative(of) => Ok(modulus.neg(self.expression(of, modulus)?)),
            Expression::Inverse(of) => {
                let of = self.expression(of, modulus)?;
                modulus.inverse(of).ok_or_else(|| Error::NoInverse { modulus: modulus.value() })
            }
        }
    }
}

impl Powers {
    fn new(tower: &Tower) -> Self {
        let modulus = Modulus::new(tower.modulus).expect("the request has been checked");
        let powers = powers(&modulus, modulus.residue(tower.root), tower.n as usize);
        // Operations without a transform may have a modulus for which n has no inverse.
        let over_n = modulus.inverse(modulus.residue(tower.n.into())).unwrap_or(0);
        Self { modulus, powers, over_n }
    }

    #[inline]
    fn get(&self, exponent: u32, scaled: bool) -> u128 {
        let n = self.powers.len();
        let power = match (exponent as usize).checked_sub(n) {
            None => self.powers[exponent as usize],
            Some(beyond) => self.modulus.neg(self.powers[beyond]),
        };
        if scaled { self.modulus.mul(power, self.over_n) } else { power }
    }
}
