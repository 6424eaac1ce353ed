//! The kernel that some settings describe.

use super::definition::{Definition, Setting};
use super::manifest::Settings;
use super::plan::Task;
use codegen::PlanChoice;
use codegen::search::Effort;
use diagnostic::{Code, Diagnostic, Diagnostics};
use golden::UnknownOperation;
use lab_run::kernel::{self, KernelSpec, ModulusSpec, RequestSpec, parse_u128};

/// The longest stream of runs, as on the command line.
const MAX_STREAM: u32 = 100_000;
/// The most towers of a program.
const MAX_TOWERS: u32 = 64;

/// The length of a stream, if some settings have one.
pub(super) fn stream(definition: &Definition, settings: &[&Setting]) -> Result<Option<u32>, Diagnostic> {
    let Some(setting) = settings.iter().rfind(|setting| setting.key == "stream") else { return Ok(None) };
    let runs = setting.value.as_integer().and_then(|runs| u32::try_from(runs).ok());
    let runs = runs.filter(|runs| (1..=MAX_STREAM).contains(runs)).ok_or_else(|| {
        let message = format!("invalid value {} for `stream`", setting.value);
        definition.error(setting.span.clone(), message, format!("expected 1 to {MAX_STREAM} runs"))
    })?;
    Ok(Some(runs))
}

/// The kernel of some settings, of which later ones take precedence, and its columns.
pub(super) fn generated(
    definition: &Definition,
    settings: &[&Setting],
) -> Result<(Task, Settings), Diagnostics> {
    let (spec, plan_name, tune) = kernel(definition, settings)?;
    let (request, mut columns) = (spec.request, Settings::new());
    columns.insert("kernel".into(), request.operation.name().into());
    columns.insert("n".into(), request.n.into());
    match request.modulus {
        ModulusSpec::Bits(bits) => columns.insert("modulus_bits".into(), bits.into()),
        ModulusSpec::Value(modulus) => columns.insert("modulus".into(), format!("{modulus:#x}").into()),
    };
    if settings.iter().any(|setting| setting.key == "towers") {
        columns.insert("towers".into(), request.towers.into());
    }
    columns.insert("plan".into(), plan_name.into());
    if let Some(tune) = tune {
        columns.insert("tune".into(), tune.name().into());
    }
    Ok((Task::Kernel(spec), columns))
}

/// The kernel of some settings, of which later ones take precedence, the name of its plan, and the search
/// if one is set.
fn kernel(
    definition: &Definition,
    settings: &[&Setting],
) -> Result<(KernelSpec, String, Option<Tune>), Diagnostics> {
    let modulus = ModulusSpec::Bits(128);
    let mut spec = RequestSpec { operation: golden::NTT, n: 0, modulus, root: None, towers: 1 };
    let (mut plan, mut plan_name) = (PlanChoice::Best, "best".to_owned());
    let mut tune = None;
    let mut errors = Diagnostics::default();
    let mut set = |Setting { key, value, span, .. }: &Setting| -> Result<(), Diagnostics> {
        let wrong = |help: String| {
            let message = format!("invalid value {value} for `{key}`");
            definition.error(span.clone(), message, help)
        };
        let integer = || value.as_integer().and_then(|value| u32::try_from(value).ok());
        match key.as_str() {
            "kernel" => {
                let operation = value.as_str().unwrap_or_default().parse();
                spec.operation =
                    operation.map_err(|error: UnknownOperation| wrong(error.help().to_owned()))?;
            }
            "n" => {
                let n = integer().filter(|n| n.is_power_of_two() && *n >= 2);
                spec.n = n.ok_or_else(|| wrong("expected a power of two, such as 65536".into()))?;
            }
            "modulus_bits" => {
                let bits = integer().filter(|bits| (2..=128).contains(bits));
                spec.modulus = ModulusSpec::Bits(bits.ok_or_else(|| wrong("expected 2 to 128 bits".into()))?);
            }
            "modulus" => {
                let modulus = value.as_str().and_then(parse_u128);
                let modulus = modulus.or_else(|| value.as_integer().and_then(|value| value.try_into().ok()));
                let help = "write a number, in quotes if it has more than 63 bits: \"0x1000...\"";
                spec.modulus = ModulusSpec::Value(modulus.ok_or_else(|| wrong(help.into()))?);
            }
            "towers" => {
                let towers = integer().filter(|towers| (1..=MAX_TOWERS).contains(towers));
                let help = || format!("expected 1 to {MAX_TOWERS} towers");
                spec.towers = towers.ok_or_else(|| wrong(help()))?;
            }
            "stream" => {}
            "tune" => {
                let named = |known: &&(Tune, &str)| Some(known.1) == value.as_str();
                let (found, _) = TUNES
                    .iter()
                    .find(named)
                    .ok_or_else(|| wrong("expected \"off\", \"quick\" or \"full\"".into()))?;
                tune = Some(*found);
            }
            _ => {
                plan_name =
                    value.as_str().ok_or_else(|| wrong("expected a name in quotes".into()))?.to_owned();
                plan = kernel::plan(&plan_name, &definition.path(&plan_name)).map_err(|errors| {
                    // The name of a file that cannot be read is an error of the definition.
                    errors.map(|error| match error.code == Some(Code::Unreadable.name()) {
                        true => definition
                            .error(span.clone(), error.message, error.help.unwrap_or_default())
                            .with_code(Code::Unreadable.name()),
                        false => error,
                    })
                })?;
            }
        }
        Ok(())
    };
    for setting in settings {
        errors.keep(set(setting));
    }
    errors.or(())?;
    if spec.n == 0 {
        let help = "set `n = 65536`, or vary it in [grid]; or name a `program`";
        return Err(definition.error(0..0, "missing `n`", help).into());
    }
    if let (ModulusSpec::Value(_), 2..) = (spec.modulus, spec.towers)
        && let Some(setting) = settings.iter().rfind(|setting| setting.key == "modulus")
    {
        let help = "set `modulus_bits`: each tower has a modulus of its own";
        return Err(definition.error(setting.span.clone(), "one modulus for several towers", help).into());
    }
    if let (PlanChoice::Best, Some(tune)) = (&plan, tune) {
        plan = tune.choice();
    }
    Ok((KernelSpec { request: spec, plan }, plan_name, tune))
}

/// The search for plan `best`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tune {
    Off,
    Quick,
    Full,
}

/// The values of `tune`.
const TUNES: [(Tune, &str); 3] = [(Tune::Off, "off"), (Tune::Quick, "quick"), (Tune::Full, "full")];

impl Tune {
    fn choice(self) -> PlanChoice {
        match self {
            Self::Off => PlanChoice::Known,
            Self::Quick => PlanChoice::Best,
            Self::Full => PlanChoice::Tuned(Effort::FULL),
        }
    }

    fn name(self) -> &'static str {
        TUNES.iter().find(|(tune, _)| *tune == self).map_or("", |(_, name)| name)
    }
}
