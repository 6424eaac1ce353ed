//! Programs of HEIR: what `heir-opt --mlir-to-ckks` writes, in the generic form of MLIR.
//!
//! A file has functions. The one with the role `entry` calls those that prepare plaintexts and that evaluate
//! on ciphertexts. All of them are evaluated here: what is clear (indices, constants, layouts, loops and
//! conditions) is computed, and what is encrypted goes to a [`Circuit`]. A number that the file does not
//! have, such as a clear argument that the user does not give, makes its plaintexts inputs of the program.
//!
//! * **Scales.** A file has the logarithms of scales. Here scales are exact. A message has the scale of a
//!   squared and rescaled message of the level above; at one level it is 2^`logDefaultScale`. A plaintext
//!   takes the scale that its product or sum needs. Summands whose scales still differ, by at most 2^-16, are
//!   added as they are; [`Import::worst_sum`] is the largest difference.
//! * **Bootstraps.** A file has no moduli for them. They have those of the set `lattigo-n16qp1546`, above the
//!   file's.
//! * **Operations** are rows of a table in the file of their dialect.
//!
//! ```
//! use programs::heir::Program;
//!
//! let text = include_str!("../tests/heir/dot_product.mlir");
//! let program = Program::read("dot_product.mlir", text)?;
//! let import = program.import(Some(2048), &Default::default())?;
//! assert_eq!(import.counts["ckks.rotate"], 3);
//! assert_eq!(import.generated.ledger.total().automorphisms, 3);
//! # Ok::<(), diagnostic::Diagnostic>(())
//! ```

mod arith;
mod ckks;
mod evaluate;
mod kernel;
mod lwe;
mod operations;
mod preprocessing;
mod scf;
mod scheme;
mod tensor;
mod text;
mod types;
mod value;

use crate::circuit::{Circuit, Generated};
use crate::definition::Definition;
use diagnostic::Diagnostic;
use evaluate::{Evaluation, Row};
use scheme::Scheme;
use std::collections::BTreeMap;
use std::rc::Rc;
use text::{Block, Operation, Source, assignments, balanced, parts};
use types::{Type, Types};
use value::{Encoded, Tensor, Value};

/// The release whose output is read. The text does not say which one has written it.
pub const RELEASE: &str = "2026.11.1";

/// The stage of the operations of a file.
const STAGE: &str = "evaluate";

/// A program in a file of HEIR.
#[derive(Debug)]
pub struct Program<'t> {
    types: Types<'t>,
    scheme: Scheme<'t>,
    functions: BTreeMap<&'t str, Function<'t>>,
    entry: &'t str,
    arguments: Vec<Argument>,
    /// The number of values.
    values: usize,
    bootstraps: bool,
    rows: &'static [&'static Row],
}

/// An argument of the function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// `arg0`, `arg1`, ..
    pub name: String,
    /// What it is.
    pub kind: ArgumentKind,
}

/// What an argument is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArgumentKind {
    /// Ciphertexts: the inputs `arg0.0` and `arg0.1`, or `arg0_1.0` and so on if there are several.
    Encrypted {
        /// Their number.
        ciphertexts: usize,
    },
    /// An encryption of zeros, which the server cannot make: the inputs `zero0.0` and `zero0.1`, if the
    /// program reads them.
    Zero,
    /// Numbers, such as weights.
    Clear {
        /// Their shape.
        shape: Vec<usize>,
    },
    /// The plaintexts of a function that the file does not have.
    Prepared,
}

/// A program as a circuit.
#[derive(Clone, Debug)]
pub struct Import {
    /// The program, with its set, its inputs and its counts.
    pub generated: Generated,
    /// The operations on ciphertexts that were evaluated, by name: loops are counted as often as they run.
    pub counts: BTreeMap<&'static str, usize>,
    /// The plaintexts whose slots the file does not have: inputs of the program.
    pub given: Vec<String>,
    /// The largest relative difference of the scales of summands.
    pub worst_sum: f64,
}

/// A function.
#[derive(Debug)]
struct Function<'t> {
    name: &'t str,
    /// Where it begins, for errors.
    at: &'t str,
    body: Block<'t>,
    arguments: Vec<&'t str>,
    /// Attributes of the arguments.
    marks: Vec<&'t str>,
    roles: Vec<&'t str>,
    /// The argument or the result of the entry that it packs or unpacks.
    index: Option<i64>,
}

impl<'t> Function<'t> {
    fn read(types: &Types<'t>, operation: Operation<'t>) -> Result<Self, Diagnostic> {
        let wrong = |message: &str| types.source.error(operation.name, message);
        if operation.name != "func.func" {
            return Err(operation.unknown(&types.source, &["func.func"]));
        }
        let attribute = |key: &str| operation.attributes.get(key).copied();
        let name = attribute("sym_name").map(|name| name.trim_matches('"'));
        let name = name.ok_or_else(|| wrong("a function without a name"))?;
        let signature = attribute("function_type").unwrap_or_default();
        let arguments = signature.strip_prefix('(');
        let arguments = arguments.and_then(|rest| parts(&rest[..balanced(rest, b")")?]));
        let arguments = arguments.ok_or_else(|| wrong("a function without a type"))?;
        let listed = |text: &'t str, begin: char, end: char| {
            let inside = text.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
            inside.unwrap_or_default()
        };
        let marks = attribute("arg_attrs").map(|text| listed(text, '[', ']')).and_then(parts);
        let interface = attribute("heir.interface").map(|text| listed(text, '{', '}')).and_then(assignments);
        let interface: BTreeMap<_, _> = interface.unwrap_or_default().into_iter().collect();
        let roles = interface.get("roles").map(|text| listed(text, '[', ']')).and_then(parts);
        let roles = roles.unwrap_or_default().into_iter().map(|role| role.trim_matches('"')).collect();
        let index = interface.get("index").map(|text| types.integer(text)).transpose()?;
        let at = operation.name;
        let body = operation.regions.into_iter().next().unwrap_or_default();
        if body.arguments.len() != arguments.len() {
            return Err(types
                .source
                .error(at, format!("`{name}` has arguments that its type does not have")));
        }
        Ok(Self { name, at, body, arguments, marks: marks.unwrap_or_default(), roles, index })
    }

    fn has_role(&self, role: &str) -> bool {
        self.roles.contains(&role)
    }

    fn any(&self, is: &dyn Fn(&Operation<'_>) -> bool) -> bool {
        any(&self.body, is)
    }
}

/// Whether any operation of a block, or of a region in it, is so.
fn any(block: &Block<'_>, is: &dyn Fn(&Operation<'_>) -> bool) -> bool {
    block
        .operations
        .iter()
        .any(|operation| is(operation) || operation.regions.iter().any(|inner| any(inner, is)))
}

impl<'t> Program<'t> {
    /// Reads a text of the generic form. `file` is its name in errors.
    ///
    /// # Errors
    /// Returns the first error: of syntax, of a scheme other than CKKS, or of a file without a function to
    /// evaluate. Operations are checked when they are evaluated.
    pub fn read(file: &'t str, text: &'t str) -> Result<Self, Diagnostic> {
        let source = Source { file, text };
        let generic = text::read(source, operations::find)?;
        let mut types = Types::new(source, generic.aliases);
        let scheme = Scheme::read(&types, &generic.module)?;
        types.set_ring(scheme.q.clone(), scheme.degree());
        let mut functions = BTreeMap::new();
        for operation in generic.module.regions.into_iter().flat_map(|region| region.operations) {
            let function = Function::read(&types, operation)?;
            if let Some(other) = functions.insert(function.name, function) {
                return Err(source.error(other.at, format!("a second function `{}`", other.name)));
            }
        }
        let entry = entry(&functions).ok_or_else(|| {
            let message = "no function to evaluate: expected one with the role `entry` or `server.evaluate`";
            source.error(generic.module.name, message)
        })?;
        let arguments = arguments(&types, &functions[entry])?;
        let is_bootstrap = |operation: &Operation<'_>| operation.name == "ckks.bootstrap";
        let bootstraps = functions.values().any(|function| function.any(&is_bootstrap));
        Ok(Self {
            types,
            scheme,
            functions,
            entry,
            arguments,
            values: generic.values,
            bootstraps,
            rows: &operations::ROWS,
        })
    }

    /// The name of the function.
    pub fn name(&self) -> &'t str {
        self.entry
    }

    /// The title of an import.
    pub fn title(&self, import: &Import) -> String {
        let set = &import.generated.set;
        let (n, q, p) = (set.degree().get(), set.levels(), set.p().len());
        format!("{} of HEIR, n = {n}, {q} moduli q, {p} special moduli", self.entry)
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// The program as a circuit. A given `n` replaces the degree of the file: with a smaller one, parameters
    /// are for tests. `clear` has numbers of clear arguments by their names, in the order of rows.
    ///
    /// # Errors
    /// Returns the first error: a degree or moduli that no set has, numbers that fit no argument, or an
    /// operation that is unknown, or that the circuit refuses.
    pub fn import(&self, n: Option<u64>, clear: &BTreeMap<String, Vec<f64>>) -> Result<Import, Diagnostic> {
        for name in clear.keys() {
            let is_clear = |argument: &&Argument| matches!(argument.kind, ArgumentKind::Clear { .. });
            let mut known = self.arguments.iter().filter(is_clear);
            if !known.clone().any(|argument| argument.name == *name) {
                let names: Vec<&str> = known.by_ref().map(|argument| &*argument.name).collect();
                let help = match &names[..] {
                    [] => "the program has no clear argument".to_owned(),
                    names => format!("the clear arguments are {}", names.join(", ")),
                };
                return Err(Diagnostic::new(format!("unknown argument `{name}`"))
                    .in_file(self.types.source.file)
                    .with_help(help));
            }
        }
        let set = self.scheme.set(&self.types, self.entry, (n, self.bootstraps))?;
        let mut circuit = Circuit::new(self.entry, &set);
        circuit.stage(STAGE, self.scheme.q.len());
        let mut evaluation = Evaluation::new(self, Some(circuit));
        let function = &self.functions[self.entry];
        let mut values = Vec::new();
        for (index, argument) in self.arguments.iter().enumerate() {
            values.push(evaluation.argument(function, index, (argument, clear.get(&argument.name)))?);
        }
        let called = evaluation.call(function, values);
        let results =
            called.map_err(|error| error.unwrap_or_else(|| self.error(function, "it calls itself")))?;
        evaluation.outputs(function, results)?;
        let (counts, worst_sum) = (std::mem::take(&mut evaluation.counts), evaluation.worst_sum);
        let generated = evaluation.into_circuit().expect("a circuit").finish();
        let is_given = |definition: &Definition| matches!(definition, Definition::Given { .. });
        let given = generated.inputs.iter().filter(|input| is_given(&input.definition));
        let given = given.map(|input| input.name.clone()).collect();
        Ok(Import { generated, counts, given, worst_sum })
    }

    fn error(&self, function: &Function<'_>, message: &str) -> Diagnostic {
        self.types.source.error(function.at, format!("`{}`: {message}", function.name))
    }

    /// The function of the client for an argument or a result.
    fn client(&self, role: &str, index: usize) -> Result<&Function<'t>, Diagnostic> {
        let is = |function: &&Function<'t>| {
            function.has_role(role)
                && function.index.and_then(|found| usize::try_from(found).ok()) == Some(index)
        };
        let found = self.functions.values().find(is);
        found.ok_or_else(|| {
            let message = format!("no function with the role `{role}` and the index {index}");
            Diagnostic::new(message).in_file(self.types.source.file)
        })
    }

    /// The slots of the ciphertexts of an encrypted argument, which repeat, as the client's function of the
    /// file packs numbers.
    ///
    /// # Errors
    /// Returns an error if the file lacks the function, or the numbers do not fit.
    pub fn pack(&self, argument: usize, numbers: &[f64]) -> Result<Vec<Vec<f64>>, Diagnostic> {
        let function = self.client("client.encrypt", argument)?;
        let mut evaluation = Evaluation::new(self, None);
        let mut values = Vec::new();
        for (index, text) in function.arguments.iter().enumerate() {
            values.push(match &*self.types.get(text)? {
                Type::Key => Value::Key,
                _ => evaluation.numbers(function, index, Some(numbers))?,
            });
        }
        let results = evaluation.call(function, values);
        let results =
            results.map_err(|error| error.unwrap_or_else(|| self.error(function, "it calls itself")))?;
        let slots = |value: &Value| match value {
            Value::Plaintext(encoded) => encoded.slots.clone(),
            _ => None,
        };
        let slots = match &results[..] {
            [Value::Tensor(tensor)] => tensor.elements.iter().map(slots).collect(),
            [one] => slots(one).map(|slots| vec![slots]),
            _ => None,
        };
        slots.ok_or_else(|| self.error(function, "its result is no ciphertext"))
    }

    /// The numbers of a result from the slots of its ciphertexts, as the client's function of the file
    /// unpacks them.
    ///
    /// # Errors
    /// Returns an error if the file lacks the function, or the slots do not fit.
    pub fn unpack(&self, result: usize, slots: &[Vec<f64>]) -> Result<Vec<f64>, Diagnostic> {
        let function = self.client("client.decrypt", result)?;
        let encoded = |slots: &Vec<f64>| {
            let (name, slots) = (String::new(), Some(slots.clone()));
            let scale_bits = self.scheme.scale_bits;
            Value::Plaintext(Rc::new(Encoded { name, slots, level: None, scale_bits }))
        };
        let mut values = Vec::new();
        for text in &function.arguments {
            values.push(match &*self.types.get(text)? {
                Type::Key => Value::Key,
                Type::Tensor { .. } => Value::vector(slots.iter().map(encoded).collect()),
                _ => slots.first().map(encoded).unwrap_or_default(),
            });
        }
        let results = Evaluation::new(self, None).call(function, values);
        let results =
            results.map_err(|error| error.unwrap_or_else(|| self.error(function, "it calls itself")))?;
        let numbers = match &results[..] {
            [Value::Tensor(tensor)] => tensor.reals(),
            [Value::Real(Some(number))] => Some(vec![*number]),
            _ => None,
        };
        numbers.ok_or_else(|| self.error(function, "its result is no tensor of numbers"))
    }
}

/// The function to evaluate: the entry, or the one on the server if the file has no other.
fn entry<'t>(functions: &BTreeMap<&'t str, Function<'t>>) -> Option<&'t str> {
    let of = |role: &str| {
        let mut found = functions.values().filter(|function| function.has_role(role));
        found.next().filter(|_| found.next().is_none()).map(|function| function.name)
    };
    of("entry").or_else(|| of("server.evaluate"))
}

fn arguments<'t>(types: &Types<'t>, function: &Function<'t>) -> Result<Vec<Argument>, Diagnostic> {
    let mut arguments = Vec::new();
    for (index, text) in function.arguments.iter().enumerate() {
        let is_zero = function.marks.get(index).is_some_and(|marks| marks.contains("client.enc_zero_arg"));
        let kind = match &*types.get(text)? {
            Type::Ciphertext(_) if is_zero => ArgumentKind::Zero,
            Type::Ciphertext(_) => ArgumentKind::Encrypted { ciphertexts: 1 },
            Type::Real { .. } => ArgumentKind::Clear { shape: Vec::new() },
            Type::Storage => ArgumentKind::Prepared,
            Type::Tensor { shape, element } => {
                let fixed: Option<Vec<usize>> = shape.iter().copied().collect();
                match (fixed, &**element) {
                    (Some(shape), Type::Ciphertext(_)) => {
                        ArgumentKind::Encrypted { ciphertexts: shape.iter().product() }
                    }
                    (Some(shape), Type::Real { .. }) => ArgumentKind::Clear { shape },
                    (_, _) => {
                        return Err(types
                            .source
                            .error(text, "an argument that is no ciphertext and no tensor of numbers"));
                    }
                }
            }
            Type::Integer | Type::Plaintext { .. } | Type::LinearTransform | Type::Key => {
                return Err(types
                    .source
                    .error(text, "an argument that is no ciphertext and no tensor of numbers"));
            }
        };
        arguments.push(Argument { name: format!("arg{index}"), kind });
    }
    Ok(arguments)
}

impl<'t> Evaluation<'_, 't> {
    /// Calls a function. `None` if it has another number of arguments, or is under evaluation.
    fn call(
        &mut self,
        function: &Function<'t>,
        values: Vec<Value>,
    ) -> Result<Vec<Value>, Option<Diagnostic>> {
        if values.len() != function.arguments.len() || self.calls.contains(&function.name) {
            return Err(None);
        }
        self.calls.push(function.name);
        let results = self.run(&function.body, values)?;
        self.calls.pop();
        Ok(results)
    }

    /// The value of an argument of the entry.
    fn argument(
        &mut self,
        function: &Function<'t>,
        index: usize,
        (argument, clear): (&Argument, Option<&Vec<f64>>),
    ) -> Result<Value, Diagnostic> {
        let is = self.types().get(function.arguments[index])?;
        match (&argument.kind, &*is) {
            (ArgumentKind::Zero, _) => Ok(Value::Zero(self.zero_number())),
            (ArgumentKind::Prepared, _) => Ok(self.foreign_storage()),
            (ArgumentKind::Clear { .. }, _) => self.numbers(function, index, clear.map(|clear| &clear[..])),
            (ArgumentKind::Encrypted { ciphertexts }, is) => {
                let (of, shape) = match is {
                    Type::Tensor { element, shape } => {
                        (&**element, Some(shape.iter().flatten().copied().collect()))
                    }
                    is => (is, None),
                };
                let &Type::Ciphertext(of) = of else { unreachable!("an encrypted argument is a ciphertext") };
                let mut elements = Vec::new();
                for number in 0..*ciphertexts {
                    let name = numbered(&argument.name, number, *ciphertexts);
                    let scale = self.scale(of.level, of.scale_bits);
                    let circuit = self.only_circuit();
                    let input = circuit.input_at(&name, of.level, scale);
                    let input =
                        input.map_err(|error| scheme::refused(&error, self.types(), &self.program.scheme))?;
                    elements.push(Value::Ciphertext(Rc::new(input)));
                }
                Ok(match shape {
                    Some(shape) => Value::Tensor(Rc::new(Tensor { shape, elements })),
                    None => elements.remove(0),
                })
            }
        }
    }

    /// The value of a clear argument; without numbers, the file does not have them.
    fn numbers(
        &mut self,
        function: &Function<'t>,
        index: usize,
        numbers: Option<&[f64]>,
    ) -> Result<Value, Diagnostic> {
        let text = function.arguments[index];
        let is = self.types().get(text)?;
        let (shape, element) = match &*is {
            Type::Tensor { shape, element } => {
                (shape.iter().flatten().copied().collect::<Vec<_>>(), &**element)
            }
            is => (Vec::new(), is),
        };
        let single = element.is_single();
        let count: usize = shape.iter().product();
        let rounded = |&number: &f64| if single { f64::from(number as f32) } else { number };
        let mut elements: Vec<Value> = match numbers {
            None => vec![Value::Real(None); count],
            Some(numbers) => numbers.iter().map(|number| Value::Real(Some(rounded(number)))).collect(),
        };
        let finite = |value: &Value| !matches!(value, Value::Real(Some(number)) if !number.is_finite());
        if elements.len() != count || !elements.iter().all(finite) {
            let message = format!(
                "{} numbers for the argument {index} of `{}`, expected {count}, all of them finite",
                elements.len(),
                function.name
            );
            return Err(self.source().error(text, message));
        }
        Ok(match &*is {
            Type::Tensor { .. } => Value::Tensor(Rc::new(Tensor { shape, elements })),
            _ => elements.remove(0),
        })
    }

    /// Declares the outputs.
    fn outputs(&mut self, function: &Function<'t>, results: Vec<Value>) -> Result<(), Diagnostic> {
        let wrong = || {
            let message = format!("a result of `{}` is no ciphertext", function.name);
            self.source().error(function.at, message)
        };
        let mut outputs = Vec::new();
        for (index, result) in results.into_iter().enumerate() {
            let name = format!("result{index}");
            let elements = match result {
                Value::Tensor(tensor) => tensor.elements.clone(),
                one => vec![one],
            };
            let count = elements.len();
            for (number, element) in elements.into_iter().enumerate() {
                let Value::Ciphertext(ciphertext) = element else { return Err(wrong()) };
                outputs.push((numbered(&name, number, count), ciphertext));
            }
        }
        if outputs.is_empty() {
            return Err(wrong());
        }
        for (name, ciphertext) in outputs {
            self.only_circuit().output(&name, &ciphertext).expect("a name for each output");
        }
        Ok(())
    }
}

/// The name of one of several ciphertexts.
fn numbered(name: &str, number: usize, count: usize) -> String {
    if count == 1 { name.to_owned() } else { format!("{name}_{number}") }
}
