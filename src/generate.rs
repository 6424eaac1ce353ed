//! `rpu gen`

mod program;

use crate::failure::Failure;
use crate::files;
use crate::format::{self, Format};
use crate::machine_options::MachineArgs;
use crate::numbers::degree;
use crate::settings;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use codegen::explain::explain;
use codegen::search::Effort;
use codegen::{Merit, Parameters, Request, choose, compile};
use golden::{Operand, Operation, SettingSpec};
use lab_run::kernel::{self, RequestError, RingsSpec, parse_u128};
use ring::Error as RingError;
use serde_json::json;
use sim::Machine;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    /// Operation to generate; --list prints the names
    #[arg(value_name = "KERNEL", required_unless_present = "list")]
    kernel: Option<Operation>,
    /// Print the names of the operations and plans
    #[arg(long, conflicts_with_all = ["kernel", "n", "modulus", "towers", "modulus_bits", "root", "setting", "plan", "optimise", "explain", "output"])]
    list: bool,
    /// Format of the list
    #[arg(long, value_enum, default_value = "table", requires = "list")]
    format: Format,
    /// Ring degree, a power of two
    #[arg(long, value_name = "N", value_parser = degree, required_unless_present = "list")]
    n: Option<u32>,
    /// Modulus, or several separated by commas: one program for as many rings, with symbols x0, x1,
    /// ... in place of x
    #[arg(long, value_name = "Q", value_parser = number, value_delimiter = ',', conflicts_with = "modulus_bits")]
    modulus: Vec<u128>,
    /// Use the largest prime of this size that is 1 mod 2n
    #[arg(long, value_name = "BITS", default_value_t = 128)]
    modulus_bits: u32,
    /// Use this many of the largest primes, one ring for each
    #[arg(long, value_name = "COUNT", default_value_t = 1, conflicts_with = "modulus")]
    towers: usize,
    /// Primitive 2n-th root of unity for each modulus; by default the smallest
    #[arg(long, value_name = "PSI", value_parser = number, value_delimiter = ',')]
    root: Vec<u128>,
    /// A setting of the kernel that its ring does not give; --list prints the settings. A number holds
    /// for all moduli; several numbers, with commas between them, are those of the moduli
    #[arg(long, value_name = "NAME=VALUE")]
    setting: Vec<String>,
    #[command(flatten)]
    machine: MachineArgs,
    /// Plan: best, kl, pease, paper, unoptimised, or a plan's TOML file
    #[arg(long, value_name = "PLAN", default_value = "best")]
    plan: String,
    /// What plan `best` minimises
    #[arg(long, value_name = "MERIT", value_parser = merits(), default_value = "cycles")]
    optimise: Merit,
    /// Explain the plan on standard error
    #[arg(long)]
    explain: bool,
    /// File to write: an object if its name ends in .o, else text
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// What else there is to generate.
#[derive(clap::Subcommand)]
enum Other {
    /// Generate a ring program, and its manifest beside it
    Program(program::Args),
}

fn merits() -> impl TypedValueParser<Value = Merit> {
    PossibleValuesParser::new(Merit::ALL.map(Merit::name)).try_map(|name| name.parse())
}

fn number(text: &str) -> Result<u128, String> {
    parse_u128(text)
        .ok_or_else(|| "write a decimal number, or a hexadecimal one after 0x, of at most 128 bits".into())
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if let Some(Other::Program(args)) = &args.other {
        return program::main(args);
    }
    let (Some(operation), Some(n)) = (args.kernel, args.n) else { return list(args.format) };
    let machine = args.machine.load()?;
    let plan = kernel::plan(&args.plan, Path::new(&args.plan))?;
    let plan = kernel::minimising(plan, args.optimise, Some(Effort::QUICK));
    let parameters = settings::parse(operation, &args.setting)?;
    let request = request(args, operation, n, parameters, &machine)?;
    let choice = choose(&request, &machine, &plan).map_err(failure)?;
    let kernel = compile(&request, &choice.recipe, &machine).map_err(failure)?;
    if args.explain {
        note!("recipe   {}\n{}", choice.origin, explain(&kernel, &machine).trim_end());
    }
    files::write(&args.output, &files::program_file(&args.output, &kernel.program)?)
}

/// The request in the rings of the given moduli and roots, or of the largest primes.
fn request(
    args: &Args,
    operation: Operation,
    n: u32,
    parameters: Parameters,
    machine: &Machine,
) -> Result<Request, Failure> {
    let rings = RingsSpec {
        n,
        moduli: args.modulus.clone(),
        modulus_bits: args.modulus_bits,
        towers: args.towers,
        roots: args.root.clone(),
    };
    kernel::request(operation, &rings, parameters, machine).map_err(|error| {
        let help = match &error {
            RequestError::Ring(error) => return ring_failure(*error),
            RequestError::NoTowers => "--towers is the number of rings, at least 1".to_owned(),
            RequestError::TooManyTowers { n, words, .. } => match words / n {
                0 | 1 => "leave --towers out, or set `vdm.size_mib`".to_owned(),
                room => format!("give --towers up to {room}, or set `vdm.size_mib`"),
            },
            RequestError::Roots { .. } => {
                "give a root for each modulus with --root, in their order, or leave it out".to_owned()
            }
        };
        Failure::Wrong { message: error.to_string(), help: Some(help) }
    })
}

/// Reports why there is no kernel, with what would be right.
pub(crate) fn failure(error: codegen::Error) -> Failure {
    match error {
        codegen::Error::Ring(error) => ring_failure(error),
        error => settings::parameter_failure(&error).unwrap_or_else(|| Failure::wrong(error, None)),
    }
}

/// Reports parameters that define no ring or transform, with valid ones.
pub(crate) fn ring_failure(error: RingError) -> Failure {
    let help = match error {
        RingError::Degree(_) => "choose a power of two, such as 1024 or 65536",
        RingError::NotPrime(_) | RingError::Modulus(_) | RingError::NoRoots { .. } => {
            "leave --modulus out, or give --modulus-bits: the largest prime that fits is found"
        }
        RingError::NotARoot { .. } | RingError::NoTransform { .. } => {
            "leave --root out: the smallest root is found"
        }
        RingError::NoPrime { .. } | RingError::TooFewPrimes { .. } => "give --modulus-bits up to 128",
        RingError::EmptyBasis | RingError::Degrees { .. } => "give moduli for one ring degree",
        RingError::NotCoprime { .. } => "give each prime modulus once",
        RingError::Implementation { .. } => "choose another implementation",
    };
    Failure::wrong(error, help)
}

/// Prints the operations and the plans.
fn list(format: Format) -> Result<(), Failure> {
    match format {
        Format::Table => files::print(list_text().as_bytes()),
        Format::Json => files::print(format::json(&list_document())?.as_bytes()),
    }
}

fn list_text() -> String {
    let mut text = String::from("Kernels\n");
    for operation in golden::OPERATIONS {
        text += &format!("  {operation:<12} {}\n", operation.definition());
        for SettingSpec { name, kind, doc } in operation.parameters() {
            text += &format!("  {:<12} --setting {name}=..: {}, {doc}\n", "", kind.name());
        }
    }
    text += "\nPlans of the transforms\n";
    for (name, description) in kernel::PLANS {
        text += &format!("  {name:<12} {description}\n");
    }
    text
}

/// Lists every operation with its operands, settings and definition.
fn list_document() -> serde_json::Value {
    let operands = |operands: &[Operand]| -> Vec<_> {
        operands
            .iter()
            .map(|operand| json!({ "name": operand.name, "range": operand.range.name() }))
            .collect()
    };
    let setting = |SettingSpec { name, kind, doc }: &SettingSpec| {
        json!({
            "name": name,
            "kind": kind.name(),
            "range": kind.range(),
            "parameter": kind.is_parameter(),
            "description": doc,
        })
    };
    let kernel = |operation: &Operation| {
        json!({
            "name": operation.name(),
            "definition": operation.definition(),
            "inputs": operands(operation.inputs()),
            "outputs": operands(operation.outputs()),
            "settings": operation.settings().iter().map(setting).collect::<Vec<_>>(),
        })
    };
    let plan = |(name, description): &(&str, &str)| json!({ "name": name, "description": description });
    json!({
        "kernels": golden::OPERATIONS.iter().map(kernel).collect::<Vec<_>>(),
        "plans": kernel::PLANS.iter().map(plan).collect::<Vec<_>>(),
    })
}
