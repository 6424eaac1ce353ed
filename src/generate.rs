//! `rpu gen`

mod program;

use crate::failure::Failure;
use crate::files;
use crate::format::{self, Format};
use crate::machine_options::MachineArgs;
use crate::outputs::check_overwritten;
use crate::rows::{self, GROUP, KernelRows, Rows};
use codegen::explain::explain;
use codegen::{PlanChoice, choose, compile};
use golden::{Operand, Operation, SettingSpec};
use lab_run::{Mode, Options, kernel, run};
use lab_sweep::KernelTask;
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    /// Operation to generate; --list prints the names
    #[arg(value_name = "KERNEL", required_unless_present = "list")]
    kernel: Option<Operation>,
    /// Print the names of the operations and plans
    #[arg(long, conflicts_with_all = ["kernel", GROUP, "setting", "machine", "overrides", "explain", "output"])]
    list: bool,
    /// Format of the list
    #[arg(long, value_enum, default_value = "table", conflicts_with = "kernel")]
    format: Format,
    #[command(flatten)]
    rows: Rows<KernelRows>,
    /// A setting of the kernel that its ring does not give; --list prints the settings. A number holds
    /// for all moduli; several numbers, with commas between them, are those of the moduli
    #[arg(long, value_name = "NAME=VALUE")]
    setting: Vec<String>,
    #[command(flatten)]
    machine: MachineArgs,
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

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if let Some(Other::Program(args)) = &args.other {
        return program::main(args);
    }
    let Some(operation) = args.kernel else { return list(args.format) };
    let option = format!("--output {}", diagnostic::path(&args.output));
    let plan = args.rows.given.iter().filter(|(name, _)| name == "plan").map(|(_, plan)| plan.into());
    check_overwritten([(option, &*args.output)], plan.chain([args.machine.file().to_owned()]))?;
    let machine = args.machine.load()?;
    let KernelTask { request, plan } = task(operation, &args.rows.given, &args.setting)?;
    check_effects(operation, &plan, &args.rows.given)?;
    let choice = choose(&request, &machine, &plan).map_err(failure)?;
    let kernel = compile(&request, &choice.recipe, &machine).map_err(failure)?;
    if args.explain {
        note!("recipe   {}\n{}", choice.origin, explain(&kernel, &machine).trim_end());
    }
    // A machine may have rules that no plan knows.
    let options = Options { mode: Mode::TimingOnly, ..Options::default() };
    run(&kernel.program, &machine, &options).map_err(|error| {
        Failure::wrong(format_args!("the machine cannot execute the kernel: {error}"), None)
    })?;
    files::write(&args.output, &files::program_file(&args.output, &kernel.program)?)
}

/// Refuses flags of which the program does not depend.
fn check_effects(operation: Operation, plan: &PlanChoice, given: &[(String, String)]) -> Result<(), Failure> {
    let is_given = |flag: &str| given.iter().any(|(name, _)| name == flag);
    let is_named = match plan {
        PlanChoice::Best | PlanChoice::Known | PlanChoice::Tuned(_) | PlanChoice::Least(..) => false,
        PlanChoice::Classical | PlanChoice::Paper | PlanChoice::Unoptimised | PlanChoice::Recipe(_) => true,
    };
    for flag in ["tune", "optimise"] {
        if is_named && is_given(flag) {
            let message = format!("`--{flag}` has no effect with this `--plan`");
            return Err(Failure::wrong(message, "it is for the plan `best`, which is searched for"));
        }
    }
    if !operation.needs_root() && is_given("root") {
        let message = format!("`--root` has no effect on `{operation}`");
        return Err(Failure::wrong(message, "leave it out: no transform is part of the operation"));
    }
    Ok(())
}

/// The task of an operation with these flags and settings.
fn task(
    operation: Operation,
    given: &[(String, String)],
    settings: &[String],
) -> Result<KernelTask, Failure> {
    Ok(KernelTask::parse(operation, &[given, &rows::settings(settings)?].concat())?)
}

/// Reports why there is no kernel.
pub(crate) fn failure(error: codegen::Error) -> Failure {
    Failure::wrong(error, None)
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
