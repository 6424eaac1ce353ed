//! What a valid program hardly means.
//!
//! Limbs have neither a form nor a modulus of their own, so a program may add the coefficients of one
//! polynomial to the values of another, and compute with residues of a foreign modulus. A check against big
//! integers agrees with it. [`lint`] follows form and modulus of each value and reports where they do not
//! fit. An input has the form of the first line that demands one.

use crate::code::Code;
use crate::fault::Fault;
use crate::need::Needs;
use crate::part::Part;
use crate::reduction::{Demand, InputModulus, input_moduli};
use crate::{Call, Function, Group, Liveness, ModulusIndex, Operation, RingProgram, Shape};
use rustc_hash::FxHashSet;
use std::num::NonZeroU32;

/// A finding about a line, or about the program as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The line of the text, from 1.
    pub line: Option<NonZeroU32>,
    /// What is doubtful.
    pub fault: Fault,
}

/// The form of a polynomial in a limb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Coefficients,
    Values,
}

impl Form {
    const fn name(self) -> &'static str {
        match self {
            Self::Coefficients => "coefficients",
            Self::Values => "values",
        }
    }
}

/// The forms that an operation takes and gives.
enum Forms {
    /// All sources and the result have one form, whichever.
    Alike,
    /// Sources of the first form, a result of the second.
    From(Form, Form),
    /// A result without a form, and no source.
    Zero,
}

impl Operation {
    fn forms(&self) -> Forms {
        use Form::{Coefficients, Values};
        match self {
            Self::Add(_)
            | Self::Subtract(_)
            | Self::AddScalar(_)
            | Self::SubtractScalar(_)
            | Self::MultiplyScalar(_)
            | Self::Negate(_)
            | Self::Copy(_) => Forms::Alike,
            Self::Multiply(_) | Self::AutomorphEvaluation(_) => Forms::From(Values, Values),
            Self::Ntt(_) => Forms::From(Coefficients, Values),
            Self::Intt(_) => Forms::From(Values, Coefficients),
            Self::AutomorphCoefficients(_) | Self::MultiplyMonomial(_) => {
                Forms::From(Coefficients, Coefficients)
            }
            Self::Zero(_) => Forms::Zero,
        }
    }
}

/// Values that have one form: a set of a union-find structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kin(u32);

/// A known form, and the line that shows it.
type Known = Option<(Form, Option<NonZeroU32>)>;

/// The sets of values of one form.
#[derive(Default)]
struct Kinship {
    parents: Vec<Kin>,
    forms: Vec<Known>,
}

impl Kinship {
    fn add(&mut self, form: Known) -> Kin {
        let kin = Kin(self.parents.len() as u32);
        self.parents.push(kin);
        self.forms.push(form);
        kin
    }

    fn root(&mut self, Kin(mut index): Kin) -> usize {
        while self.parents[index as usize] != Kin(index) {
            let parent = self.parents[index as usize];
            self.parents[index as usize] = self.parents[parent.0 as usize];
            index = parent.0;
        }
        index as usize
    }

    fn form(&mut self, kin: Kin) -> Known {
        let root = self.root(kin);
        self.forms[root]
    }

    /// Gives a set its form, if it has none.
    fn settle(&mut self, kin: Kin, form: Known) {
        let root = self.root(kin);
        self.forms[root] = self.forms[root].or(form);
    }

    fn unite(&mut self, a: Kin, b: Kin) {
        let form = self.form(b);
        self.settle(a, form);
        let (a, b) = (self.root(a), self.root(b));
        self.parents[b] = Kin(a as u32);
    }
}

/// The findings about a program, in the order of its lines; those of a line of a function once.
pub fn lint(program: &RingProgram) -> Vec<Finding> {
    let flat = &*program.flat();
    let mut lint = Lint { program: flat, findings: Vec::new(), seen: FxHashSet::default() };
    lint.forms();
    let of_inputs = residues_of_inputs(flat);
    let at_end = lint.moduli(&of_inputs);
    lint.declared_moduli(&of_inputs, &at_end);
    lint.unread(program);
    lint.findings.sort_by_key(|finding| finding.line);
    lint.findings
}

struct Lint<'p> {
    program: &'p RingProgram,
    findings: Vec<Finding>,
    seen: FxHashSet<(Option<NonZeroU32>, Code)>,
}

impl Lint<'_> {
    fn report(&mut self, line: Option<NonZeroU32>, fault: Fault) {
        if self.seen.insert((line, fault.code)) {
            self.findings.push(Finding { line, fault });
        }
    }

    /// Finds limbs in a form that a line does not take.
    fn forms(&mut self) {
        let mut kinship = Kinship::default();
        // Zeros have both forms.
        let mut values: Vec<Option<Kin>> = vec![None; self.program.limbs().len()];
        for limb in self.program.inputs().iter().flat_map(|group| &group.limbs) {
            values[limb.index()].get_or_insert_with(|| kinship.add(None));
        }
        for (index, operation) in self.program.operations().iter().enumerate() {
            let line = self.program.line(index);
            let sources = operation.sources().map(|source| values[source?.index()]);
            values[operation.destination().index()] = match operation.forms() {
                Forms::Zero => None,
                Forms::From(taken, given) => {
                    for (&source, part) in sources.iter().zip([Part::First, Part::Second]) {
                        let Some(kin) = source else { continue };
                        let known = kinship.form(kin);
                        if let Some((form, since)) = known.filter(|&(form, _)| form != taken) {
                            let (form, taken) = (described(form, since), taken.name());
                            let message =
                                format!("the operand has {form}; `{}` takes {taken}", operation.opcode());
                            self.report(line, Fault::new(part, message).code(Code::Form));
                        }
                        kinship.settle(kin, Some((taken, line)));
                    }
                    Some(kinship.add(Some((given, line))))
                }
                Forms::Alike => match sources {
                    [Some(first), Some(second)] => {
                        match (kinship.form(first), kinship.form(second)) {
                            (Some((one, since)), Some((other, then))) if one != other => {
                                let (one, other) = (described(one, since), described(other, then));
                                let message = format!("one operand has {one}, the other has {other}");
                                let fault = Fault::new(Part::Second, message).code(Code::Form);
                                self.report(line, fault.help("transform one of them"));
                            }
                            _ => kinship.unite(first, second),
                        }
                        Some(first)
                    }
                    [one, other] => one.or(other),
                },
            };
        }
    }

    /// Finds operands with residues of another modulus than the line's. Returns the modulus of each limb's
    /// residues at the end, if it is known.
    fn moduli(&mut self, of_inputs: &[Option<ModulusIndex>]) -> Vec<Option<ModulusIndex>> {
        let mut residues = of_inputs.to_vec();
        for (index, operation) in self.program.operations().iter().enumerate() {
            let (line, demand, [first, second]) =
                (self.program.line(index), operation.demand(), operation.sources());
            if let (Demand::Residues | Demand::Factors, Some(m)) = (demand, operation.modulus()) {
                for (source, part) in [(first, Part::First), (second, Part::Second)] {
                    let Some(limb) = source else { continue };
                    if let Some(own) = residues[limb.index()].filter(|&own| own != m) {
                        let message = format!(
                            "the operand has residues modulo m[{}], the line is modulo m[{}]",
                            own.get(),
                            m.get()
                        );
                        let fault = Fault::new(part, message).code(Code::Residues);
                        self.report(line, fault.help("`sr_mulps` takes the words of any modulus"));
                    }
                }
            }
            residues[operation.destination().index()] = match demand {
                Demand::Moved => first.and_then(|source| residues[source.index()]),
                Demand::Residues | Demand::Factors | Demand::Words => operation.modulus(),
            };
        }
        residues
    }

    /// Finds limbs of inputs and outputs that the manifest says to have another modulus than the lines that
    /// compute with them or compute them.
    fn declared_moduli(&mut self, of_inputs: &[Option<ModulusIndex>], at_end: &[Option<ModulusIndex>]) {
        let program = self.program;
        for (groups, what, moduli, lines) in [
            (program.inputs(), "input", of_inputs, "lines compute"),
            (program.outputs(), "output", at_end, "lines compute it"),
        ] {
            let wrong = groups.iter().find_map(|Group { name, limbs, moduli: declared }| {
                limbs.iter().zip(declared.iter().flatten()).find_map(|(&limb, &declared)| {
                    let used = moduli[limb.index()].filter(|&used| Some(used) != declared)?;
                    Some((name, program.limbs().id(limb), declared.map_or(0, ModulusIndex::get), used.get()))
                })
            });
            if let Some((name, id, declared, used)) = wrong {
                let message = format!(
                    "the limb `{id}` of the {what} `{name}` is modulo m[{declared}] by the manifest, but {lines} modulo m[{used}]"
                );
                let fault = Fault::new(Part::Operation, message).code(Code::Residues);
                self.findings.push(Finding { line: None, fault });
            }
        }
    }

    /// Finds inputs and results that no line reads.
    fn unread(&mut self, whole: &RingProgram) {
        let liveness = Liveness::of(self.program);
        let is_unread = |group: &&Group| group.limbs.iter().all(|&limb| liveness.first_use(limb).is_dead());
        let unread: Vec<&str> =
            self.program.inputs().iter().filter(is_unread).map(|group| &*group.name).collect();
        // Programs at a low level leave parts of many keys.
        let message = match unread[..] {
            [] => None,
            [name] => Some(format!("no line reads the input `{name}`")),
            [name, ..] => Some(format!("no line reads the input `{name}` and {} more", unread.len() - 1)),
        };
        if let Some(message) = message {
            self.report(None, Fault::new(Part::Operation, message).code(Code::Unread));
        }
        let calls: Vec<&Call> = whole.calls().collect();
        let mut of_functions = vec![(0, 0); whole.functions().len()];
        for (call, need) in calls.iter().zip(Needs::of(whole, &calls).iter()) {
            let (unneeded, all) = &mut of_functions[call.function.index()];
            (*unneeded, *all) = (*unneeded + usize::from(need.is_nothing()), *all + 1);
        }
        for (function, (unneeded, all)) in whole.functions().iter().zip(of_functions) {
            if unneeded > 0 {
                let calls =
                    if unneeded == all { "any call".into() } else { format!("{unneeded} of {all} calls") };
                let message = format!("no output depends on {calls} of `{}`", function.name());
                let fault = Fault::new(Part::Operation, message).code(Code::Unread);
                self.findings.push(Finding { line: None, fault });
            }
        }
        // Some calls of a function may need a result that others do not.
        let bodies = whole.functions().iter().map(Function::body);
        for body in bodies.chain([whole]) {
            let liveness = Liveness::of(body);
            for index in 0..body.operations().len() {
                if liveness.after(index).destination.is_dead() {
                    let fault = Fault::new(Part::Destination, "nothing reads this result").code(Code::Unread);
                    self.report(body.line(index), fault);
                }
            }
        }
    }
}

/// For each limb of an input, the modulus of which it holds residues, if a line says so.
fn residues_of_inputs(program: &RingProgram) -> Vec<Option<ModulusIndex>> {
    let residues = |modulus| match modulus {
        Some(InputModulus::Residues(m)) => Some(m),
        Some(InputModulus::Words(_)) | None => None,
    };
    input_moduli(program).into_iter().map(residues).collect()
}

/// A form, and the line that shows it.
fn described(form: Form, line: Option<NonZeroU32>) -> String {
    let name = form.name();
    line.map_or_else(|| name.into(), |line| format!("{name} (line {line})"))
}
