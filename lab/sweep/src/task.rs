//! The task of a point: its program, or the way to generate it.
//!
//! Everything that a definition says about a task is resolved here, when the sweep is planned: a modulus that
//! is no prime or a missing setting is an error with its place.

use super::data::Data;
use super::definition::{DataFile, Definition, ScheduleFor};
use super::parameter::{self, ALTERNATIVES, Form, Given, Parameter, Setting, Settings, TUNES, Values};
use b512_asm::{Program, Setting as Value};
use codegen::search::Effort;
use codegen::{Merit, ParameterFault, Parameters, PlanChoice, Request};
use diagnostic::input::{self, Content};
use diagnostic::{Code, Diagnostic, Diagnostics, counted, nearest};
use golden::{Kind, Operation};
use lab_run::kernel;
use lab_run::program::{self, ProgramFile};
use lab_run::{RingFile, program_blake3, ring_blake3};
use programs::{Options, ParameterSet, SETS, Variation, all_programs, find_program};
use ring::Degree;
use ring::prime::largest_primes;
use ring_program::RingProgram;
use runtime::Keys;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The program of a point.
#[derive(Clone, PartialEq, Debug)]
pub enum Task {
    /// A program to generate.
    Kernel(Arc<KernelTask>),
    /// A program from a file.
    Program(Arc<GivenProgram>),
    /// A ring program.
    Ring(Arc<RingTask>),
}

/// A kernel: what to compute, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelTask {
    /// The operation in its rings, with its settings.
    pub request: Request,
    /// The plan.
    pub plan: PlanChoice,
}

impl KernelTask {
    /// The task of an operation with these parameters, by their names and as texts. The paths of files are
    /// relative to the current folder.
    ///
    /// # Errors
    /// Returns an error if a kernel has no such parameter, one is given twice or missing, or a value is
    /// invalid.
    pub fn parse(operation: Operation, parameters: &[(String, String)]) -> Result<Self, Diagnostics> {
        let (definition, _) = Definition::read_parts("", "")?;
        let error = |message: String, help: String| definition.error(0..0, message, help);
        let setting = |key: &str, value| Setting { key: key.into(), key_span: 0..0, value, span: 0..0 };
        let mut settings = vec![setting("kernel", operation.name().into())];
        let mut errors = Diagnostics::default();
        for (name, text) in parameters {
            let is_of_program =
                |parameter: &&Parameter| parameter.is_of(Form::Kernel, None) && parameter.changes_program;
            let parameter = parameter::find(name).filter(is_of_program);
            if settings.iter().any(|known| *known.key == **name) {
                errors.push(error(format!("`{name}` is given twice"), "give each parameter once".into()));
            } else if let Some(parameter) = parameter {
                settings.push(setting(name, parameter.values.read(text)));
            } else {
                let help = match nearest(name, operation.parameters().map(|spec| spec.name)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => parameter::settings_of(operation),
                };
                errors.push(error(format!("unknown setting `{name}` of `{operation}`"), help));
            }
        }
        errors.or(())?;
        if ALTERNATIVES.iter().all(|key| settings.iter().any(|setting| *setting.key == **key)) {
            let [modulus, size] = ALTERNATIVES;
            return Err(error(format!("both `{modulus}` and `{size}`"), "give one of them".into()).into());
        }
        match resolve(&definition, &Data::default(), &settings.iter().collect::<Vec<_>>())?.task {
            Task::Kernel(task) => Ok(Arc::unwrap_or_clone(task)),
            Task::Program(_) | Task::Ring(_) => unreachable!("they have other parameters"),
        }
    }
}

/// A program from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct GivenProgram {
    /// The program.
    pub program: Program,
    /// Its hash, see [`program_blake3`].
    pub blake3: String,
}

/// A ring program, of a generator or from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct RingTask {
    /// What it is, in one line.
    pub title: String,
    /// The program.
    pub program: RingProgram,
    /// Its hash, see [`ring_blake3`].
    pub blake3: String,
    /// The origin of its keys.
    pub keys: Keys,
    /// What the choice of its kernels minimises.
    pub merit: Merit,
}

/// A task as its settings give it.
pub(super) struct Resolved {
    pub(super) task: Task,
    /// The length of a stream of runs, if one is simulated.
    pub(super) stream: Option<u32>,
    /// The settings in columns.
    pub(super) columns: Settings,
}

/// The task of some settings, of which later ones take precedence.
pub(super) fn resolve(
    definition: &Definition,
    data: &Data,
    settings: &[&Setting],
) -> Result<Resolved, Diagnostics> {
    // A modulus takes the place of a size that was set before, and the other way round.
    let is_modulus = |setting: &Setting| ALTERNATIVES.contains(&&*setting.key);
    let modulus = settings.iter().rfind(|setting| is_modulus(setting)).map(|setting| &setting.key);
    let in_force = |setting: &&Setting| !is_modulus(setting) || Some(&setting.key) == modulus;
    let settings: Vec<&Setting> = settings.iter().copied().filter(in_force).collect();
    let reader = Reader { definition, data, given: Given::of(&settings) };
    let form = reader.form();
    reader.check(form)?;
    let (task, mut columns) = match form {
        Form::Kernel => reader.kernel()?,
        Form::File => reader.file()?,
        Form::Ring => reader.ring()?,
        Form::RingFile => reader.ring_file()?,
    };
    for Setting { key, value, .. } in reader.given.all() {
        columns.insert(key.to_string(), parameter::column(key, value));
    }
    let stream = reader.given.stream.and_then(|setting| integer(setting).try_into().ok());
    Ok(Resolved { task, stream, columns })
}

/// The task of a ring program.
fn ring_task(
    title: String,
    program: RingProgram,
    keys: Option<&Setting>,
    optimise: Option<&Setting>,
) -> Task {
    let named = Keys::ALL.into_iter().find(|known| known.name() == text(keys));
    let blake3 = ring_blake3(&program);
    let (keys, merit) = (named.unwrap_or_default(), merit(optimise));
    Task::Ring(Arc::new(RingTask { title, program, blake3, keys, merit }))
}

/// What a choice of recipes minimises.
fn merit(optimise: Option<&Setting>) -> Merit {
    text(optimise).parse().unwrap_or_default()
}

/// A whole number whose range has been checked.
fn integer(setting: &Setting) -> u64 {
    setting.value.as_integer().and_then(|value| u64::try_from(value).ok()).unwrap_or_default()
}

/// A text; empty without one.
fn text(setting: Option<&Setting>) -> &str {
    setting.and_then(|setting| setting.value.as_str()).unwrap_or_default()
}

/// The place of the first of some settings that is there.
fn place<'s>(settings: impl IntoIterator<Item = Option<&'s Setting>>) -> Range<usize> {
    settings.into_iter().flatten().next().map_or(0..0, |setting| setting.span.clone())
}

struct Reader<'d> {
    definition: &'d Definition,
    data: &'d Data,
    given: Given<'d>,
}

impl Reader<'_> {
    fn error(&self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        self.definition.error(span, message, help)
    }

    /// The form of the program: a parameter set makes a ring program, and so does a name that no operation
    /// has.
    fn form(&self) -> Form {
        let name = text(self.given.kernel);
        if self.given.program.is_some() {
            let is_ring = RingFile::is_meant(Path::new(text(self.given.program)));
            if is_ring { Form::RingFile } else { Form::File }
        } else if self.given.set.is_some()
            || (find_program(name).is_some() && name.parse::<Operation>().is_err())
        {
            Form::Ring
        } else {
            Form::Kernel
        }
    }

    /// Checks that each parameter is one of the task, and that it allows its value.
    fn check(&self, form: Form) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::default();
        let programs = Values::Names(all_programs().map(|program| program.name).collect());
        let mut name = Some(golden::DEFAULT.name());
        if let Some(kernel) = self.given.kernel {
            // Without a valid name, it is not known which of the others it takes.
            name = errors
                .keep(
                    match form {
                        Form::Ring => self.check_value(kernel, &programs),
                        Form::Kernel | Form::File | Form::RingFile => Ok(()),
                    }
                    .and_then(|()| {
                        self.check_value(kernel, &parameter::find("kernel").expect("a row").values)
                    }),
                )
                .map(|()| text(Some(kernel)));
        }
        for setting in
            self.given.all().filter(|setting| &*setting.key != "kernel" || self.given.program.is_some())
        {
            let Some(parameter) = parameter::find(&setting.key) else { continue };
            if !parameter.is_of(form, name) {
                errors.push(self.misplaced(setting, parameter, form, name.unwrap_or_default()));
            } else {
                errors.keep(self.check_value(setting, &parameter.values));
            }
        }
        if form == Form::Kernel && !errors.is_empty() {
            errors.keep(self.plan(self.given.plan, self.given.tune, self.given.optimise));
        }
        errors.or(())
    }

    fn check_value(&self, setting: &Setting, values: &Values) -> Result<(), Diagnostic> {
        if values.allow(&setting.value) {
            return Ok(());
        }
        let message = format!("invalid value {} for `{}`", setting.value, setting.key);
        Err(self.error(setting.span.clone(), message, values.help(&setting.value)))
    }

    /// The error of a parameter that programs of this form do not take.
    fn misplaced(&self, setting: &Setting, parameter: &Parameter, form: Form, name: &str) -> Diagnostic {
        let what = match form {
            _ if parameter.forms.contains(&form) => format!("not of `{name}`"),
            Form::Kernel => format!("and `{name}` is a kernel"),
            Form::File => "and `program` names a file".to_owned(),
            Form::Ring => format!("and `{name}` is a ring program"),
            Form::RingFile => "and `program` names a ring program".to_owned(),
        };
        let message = format!("`{}` is of {}, {what}", setting.key, parameter.takers());
        let help = match (form, name.parse::<Operation>()) {
            (Form::Kernel, Ok(operation)) if parameter.forms.contains(&form) => {
                parameter::settings_of(operation)
            }
            (Form::File | Form::RingFile, _) => {
                format!(
                    "leave `{}` out, or name what to generate with `kernel` in place of `program`",
                    setting.key
                )
            }
            (Form::Kernel | Form::Ring, _) => format!("leave `{}` out", setting.key),
        };
        self.error(setting.key_span.clone(), message, help)
    }

    /// A kernel, and the columns of its defaults.
    fn kernel(&self) -> Result<(Task, Settings), Diagnostics> {
        let &Given {
            kernel,
            program: _,
            manifest: _,
            set: _,
            n,
            keys: _,
            modulus_bits,
            modulus,
            root,
            towers,
            stream: _,
            plan,
            tune,
            optimise,
            digits: _,
            coeff_to_slot_matrices: _,
            slot_to_coeff_matrices: _,
            ref others,
        } = &self.given;
        self.check_no_data(
            "set `program`, or leave the data out: generated programs are checked on data from the seed",
        )?;
        let operation = kernel.map_or(Ok(golden::DEFAULT), |kernel| text(Some(kernel)).parse());
        let operation: Operation = operation
            .map_err(|_| self.error(place([kernel]), "unknown kernel", "`rpu gen --list` has all"))?;
        let Some(degree) = n else {
            let help = "set the ring degree: `n = 65536` in a file, `-p n=65536` on the command line";
            return Err(self.error(0..0, "missing `n`", help).into());
        };
        let of = |setting: Option<&Setting>| setting.map(|setting| parameter::numbers(&setting.value));
        let (given, roots) = (of(modulus).unwrap_or_default(), of(root).unwrap_or_default());
        let count = towers.map(|towers| integer(towers) as usize);
        let moduli = if given.is_empty() { count.unwrap_or(1) } else { given.len() };
        let moduli_text = || counted(moduli, "modulus", "moduli");
        if let Some(towers) = count.filter(|&towers| towers != moduli) {
            let message = format!("{} for {}", moduli_text(), counted(towers, "tower", "towers"));
            let help = "leave `towers` out, or set `modulus_bits` in place of `modulus`";
            return Err(self.error(place([modulus]), message, help).into());
        }
        if ![0, moduli].contains(&roots.len()) {
            let message = format!("{} for {}", counted(roots.len(), "root", "roots"), moduli_text());
            let help = "give a root for each modulus, in their order, or leave `root` out";
            return Err(self.error(place([root]), message, help).into());
        }
        let parameters = self.parameters(operation, kernel, others)?;
        let request = Degree::new(integer(degree)).and_then(|degree| {
            let bits = modulus_bits.map_or(128, integer) as u32;
            let primes = || largest_primes(bits, degree, moduli);
            let moduli = if given.is_empty() { primes()? } else { given };
            Request::in_rings(operation, degree, &moduli, &roots)
        });
        let request = request.map_err(|error| {
            let (culprit, help) = match error {
                ring::Error::NotARoot { .. } | ring::Error::NoTransform { .. } => {
                    (root, "leave `root` out: the smallest is found")
                }
                ring::Error::NotPrime(_) | ring::Error::Modulus(_) | ring::Error::NoRoots { .. } => (
                    modulus,
                    "leave `modulus` out, or set `modulus_bits`: the largest prime that fits is found",
                ),
                ring::Error::NoPrime { .. } => (modulus_bits, "set `modulus_bits` to up to 128"),
                ring::Error::TooFewPrimes { .. } => {
                    (towers, "set `modulus_bits` to up to 128, or fewer towers")
                }
                ring::Error::Degree(_) => (n, "choose a power of two, such as 1024 or 65536"),
                ring::Error::EmptyBasis
                | ring::Error::Degrees { .. }
                | ring::Error::NotCoprime { .. }
                | ring::Error::Implementation { .. } => (kernel, "choose other moduli"),
            };
            self.error(place([culprit, modulus, modulus_bits, n]), error.to_string(), help)
        })?;
        let request = request.with(parameters);
        request.check_parameters().map_err(|error| {
            let message = error.to_string();
            let named = |setting: &&&Setting| message.contains(&format!(" {} = ", setting.key));
            let culprit = others.iter().find(named).copied().or(kernel);
            let is_count = matches!(error, codegen::Error::Parameters(ParameterFault::Count { .. }));
            let help = if is_count {
                "give one number for all moduli, or one for each modulus, in their order".to_owned()
            } else {
                parameter::settings_of(operation)
            };
            self.error(place([culprit]), message, help)
        })?;
        let task = KernelTask { request, plan: self.plan(plan, tune, optimise)? };
        let mut columns = Settings::new();
        columns.insert("kernel".into(), operation.name().into());
        if modulus.is_none() {
            columns.insert("modulus_bits".into(), 128.into());
        }
        columns.insert("plan".into(), "best".into());
        Ok((Task::Kernel(Arc::new(task)), columns))
    }

    /// The settings of an operation, of which each must be there.
    fn parameters(
        &self,
        operation: Operation,
        kernel: Option<&Setting>,
        others: &[&Setting],
    ) -> Result<Parameters, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut values = Vec::new();
        for spec in operation.parameters() {
            let Some(setting) = others.iter().find(|setting| &*setting.key == spec.name) else {
                let message = format!("`{operation}` needs `{}`: {}", spec.name, spec.doc);
                let (name, range) = (spec.name, spec.kind.range());
                let help = format!("set `{name}`: {range}; with `--setting {name}=..` for `rpu gen`");
                errors.push(self.error(place([kernel]), message, help));
                continue;
            };
            let value = match spec.kind {
                Kind::Choice(_) => vec![Value::Word(text(Some(setting)).to_owned())],
                Kind::Number | Kind::Exponent | Kind::Degree | Kind::Modulus | Kind::Root => {
                    parameter::numbers(&setting.value).into_iter().map(Value::Number).collect()
                }
            };
            values.push((spec.name.to_owned(), value));
        }
        errors.or(Parameters::by_ring(values))
    }

    /// The plan; `tune` is the search for plan `best`, `optimise` what it minimises.
    fn plan(
        &self,
        plan: Option<&Setting>,
        tune: Option<&Setting>,
        optimise: Option<&Setting>,
    ) -> Result<PlanChoice, Diagnostics> {
        let name = plan.map_or("best", |plan| text(Some(plan)));
        let choice = kernel::plan(name, &self.definition.path(name)).map_err(|errors| {
            // The name of a file that cannot be read is an error of the definition.
            errors.map(|error| match error.code == Some(Code::Unreadable.name()) {
                true => self
                    .error(place([plan]), error.message, error.help.unwrap_or_default())
                    .with_code(Code::Unreadable.name()),
                false => error,
            })
        })?;
        let effort = match TUNES.iter().position(|known| *known == text(tune)) {
            Some(0) => None,
            Some(2) => Some(Effort::FULL),
            _ => Some(Effort::QUICK),
        };
        Ok(kernel::minimising(choice, merit(optimise), effort))
    }

    /// A program from a file.
    fn file(&self) -> Result<(Task, Settings), Diagnostics> {
        let setting = self.given.program.expect("the form of a file");
        let error = |message: String, help: &str| self.error(setting.span.clone(), message, help);
        let path = text(Some(setting));
        let bytes = program::read(&self.definition.path(path))
            .map_err(|cause| error(cause.message, "name an object file or assembly text"))?;
        let program = ProgramFile::parse(path, bytes).map_err(|errors| {
            errors.iter().next().cloned().unwrap_or_else(|| error("invalid program".into(), ""))
        })?;
        let program = program.program;
        self.data.check(self.definition, &program)?;
        let blake3 = program_blake3(&program);
        Ok((Task::Program(Arc::new(GivenProgram { program, blake3 })), Settings::new()))
    }

    /// A ring program of a generator, and the columns of its defaults.
    fn ring(&self) -> Result<(Task, Settings), Diagnostics> {
        let &Given {
            kernel,
            program: _,
            manifest: _,
            set,
            n,
            keys,
            modulus_bits: _,
            modulus: _,
            root: _,
            towers: _,
            stream: _,
            plan: _,
            tune: _,
            optimise,
            digits,
            coeff_to_slot_matrices,
            slot_to_coeff_matrices,
            ref others,
        } = &self.given;
        self.check_ring()?;
        let name = text(kernel);
        let Some(generator) = find_program(name) else {
            let help = "name a program, such as \"hmult\"";
            return Err(self.error(place([set]), "missing `kernel`", help).into());
        };
        let numbers = [digits, coeff_to_slot_matrices, slot_to_coeff_matrices];
        let parameter_set = self.set(kernel, set, n, numbers)?;
        let mut options = Options::default();
        for setting in others {
            let option = generator.all_options().find(|option| option.name == &*setting.key);
            let checked = option.map_or(Ok(()), |option| option.check(&setting.text()));
            let help = format!("leave `{}` out, or choose another value", setting.key);
            checked.map_err(|error| self.error(setting.span.clone(), error, help))?;
            options.set(&setting.key, setting.text());
        }
        let program = programs::generate(&generator, &parameter_set, &options).map_err(|error| {
            let given = |name: &&str| self.given.all().find(|setting| &*setting.key == *name);
            let culprits = error.options().iter().map(given).chain([set]).collect::<Vec<_>>();
            self.error(place(culprits), error.to_string(), error.help(|option| format!("`{option}`")))
        })?;
        let title = programs::title(&generator, &parameter_set, &options);
        let mut columns = Settings::new();
        columns.insert("n".into(), parameter_set.degree().get().into());
        columns.insert("dataflow".into(), options.dataflow().name.into());
        columns.insert("keys".into(), Keys::default().name().into());
        Ok((ring_task(title, program, keys, optimise), columns))
    }

    /// A ring program from a file.
    fn ring_file(&self) -> Result<(Task, Settings), Diagnostics> {
        self.check_ring()?;
        let &Given { program, manifest, n, keys, optimise, .. } = &self.given;
        let manifest = manifest.map(|manifest| self.definition.path(text(Some(manifest))));
        let path = self.definition.path(text(program));
        // The name of a file that cannot be read is an error of the definition.
        let unreadable =
            [(program, &path)].into_iter().chain(manifest.as_ref().map(|path| (self.given.manifest, path)));
        for (setting, path) in unreadable {
            if let Err(error) = input::open(path) {
                let message = format!("cannot read `{}`: {error}", text(setting));
                return Err(self
                    .error(place([setting]), message, "name a file, relative to this one")
                    .into());
            }
        }
        let RingFile { program, title, .. } = RingFile::read(&path, manifest.as_deref(), n.map(integer))?;
        let columns = Settings::from_iter([("keys".to_owned(), Keys::default().name().into())]);
        Ok((ring_task(title, program, keys, optimise), columns))
    }

    /// Checks what a definition says beside the parameters of a ring program.
    fn check_ring(&self) -> Result<(), Diagnostic> {
        if self.definition.schedule_for != ScheduleFor::Machine {
            let message = "a ring program has kernels of its own for each machine";
            return Err(self.error(0..0, message, "leave `schedule_for` out"));
        }
        self.check_no_data("leave the data out: ring programs are timed, not run on data")
    }

    /// Refuses data for a program that takes none.
    fn check_no_data(&self, help: &str) -> Result<(), Diagnostic> {
        let error =
            |file: &DataFile| self.error(file.span.clone(), "data without a program that takes it", help);
        self.definition.data.first().map(error).map_or(Ok(()), Err)
    }

    /// The parameter set: a built-in one, or a file, with other `numbers` of digits and matrices.
    fn set(
        &self,
        kernel: Option<&Setting>,
        set: Option<&Setting>,
        n: Option<&Setting>,
        numbers: [Option<&Setting>; 3],
    ) -> Result<ParameterSet, Diagnostics> {
        let n = n.map(integer);
        let [digits, coeff_to_slot_matrices, slot_to_coeff_matrices] =
            numbers.map(|setting| setting.map(|setting| integer(setting) as usize));
        let variation = Variation { digits, coeff_to_slot_matrices, slot_to_coeff_matrices };
        // The set's own errors have their places; those of numbers that it cannot have are the definition's.
        let at_number = |errors: Diagnostics| match numbers.into_iter().flatten().next() {
            Some(number) => errors.map(|error| {
                let help = error.help.unwrap_or_default();
                self.error(number.span.clone(), format!("{}: {}", text(set), error.message), help)
            }),
            None => errors,
        };
        let names = || SETS.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
        let Some(setting) = set else {
            let help = format!("add `set = \"{}\"`, for example; the sets are {}", SETS[0].0, names());
            return Err(self.error(place([kernel]), "a ring program without a parameter set", help).into());
        };
        let name = text(set);
        if let Some(set) = ParameterSet::built_in_with(name, n, variation) {
            return set.map_err(at_number);
        }
        let path = self.definition.path(name);
        let text = input::read_text(&path, Content::Document).map_err(|error| {
            let help = format!("the sets are {}; or give the path of a TOML file", names());
            let message = if error.kind() == ErrorKind::NotFound {
                format!("invalid value {} for `set`", setting.value)
            } else {
                format!("cannot read `{name}`: {error}")
            };
            self.error(setting.span.clone(), message, help)
        })?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = diagnostic::path(&path);
        ParameterSet::parse_with((&stem, &file, &text), n, variation).map_err(at_number)
    }
}
