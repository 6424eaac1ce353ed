//! Settings of an operation on the command line.

use crate::failure::Failure;
use b512_asm::Setting;
use codegen::Parameters;
use diagnostic::nearest;
use golden::{Kind, Operation, SettingSpec};
use lab_run::kernel::parse_u128;

/// Reads texts such as `by=0x1234` as parameters of an operation. Numbers have commas between them.
///
/// # Errors
/// Returns an error if a text is no setting of the operation, or its value is invalid.
pub(crate) fn parse(operation: Operation, texts: &[String]) -> Result<Parameters, Failure> {
    texts.iter().map(|text| setting(operation, text)).collect::<Result<_, _>>().map(Parameters::new)
}

fn setting(operation: Operation, text: &str) -> Result<(String, Setting), Failure> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(failure(format!("invalid setting `{text}`"), "write NAME=VALUE".to_owned()));
    };
    let spec = operation.lists().chain(operation.parameters()).find(|spec| spec.name == name);
    let spec = spec.ok_or_else(|| {
        failure(format!("unknown setting `{name}` of `{operation}`"), known(operation, name))
    })?;
    let value = parse_value(spec, value).ok_or_else(|| {
        let help = format!("{}: {}", spec.doc, accepted(spec.kind));
        failure(format!("invalid value `{value}` of `{name}`"), help)
    })?;
    Ok((name.to_owned(), value))
}

fn parse_value(spec: &SettingSpec, value: &str) -> Option<Setting> {
    if spec.kind == Kind::Word {
        return (!value.is_empty()).then(|| Setting::Word(value.to_owned()));
    }
    let numbers = value.split(',').map(parse_u128).collect::<Option<Vec<_>>>()?;
    Some(match numbers[..] {
        [number] if matches!(spec.kind, Kind::Number | Kind::Modulus) => Setting::Number(number),
        _ => Setting::Numbers(numbers),
    })
}

fn accepted(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => {
            "write a decimal number, or a hexadecimal one after 0x, of at most 128 bits; or one for each \
             modulus, with commas between them"
        }
        Kind::Word => "write a word",
        Kind::Modulus => "write a decimal number, or a hexadecimal one after 0x, of at most 128 bits",
        Kind::Degree | Kind::Moduli | Kind::Root | Kind::Roots(_) | Kind::Numbers => {
            "write numbers of at most 128 bits with commas between them"
        }
    }
}

/// The setting that was probably meant, or else all of them.
fn known(operation: Operation, name: &str) -> String {
    let names = || operation.lists().chain(operation.parameters()).map(|spec| spec.name);
    if let Some(near) = nearest(name, names()) {
        return format!("did you mean `{near}`?");
    }
    let list: Vec<String> = operation
        .lists()
        .chain(operation.parameters())
        .map(|spec| format!("`{}`, {}", spec.name, spec.doc))
        .collect();
    if list.is_empty() {
        format!("`{operation}` has no settings besides its degree and its moduli")
    } else {
        format!("the settings of `{operation}` are {}", list.join("; "))
    }
}

/// Adds what would be right to an error about parameters.
pub(crate) fn parameter_failure(error: &codegen::Error) -> Option<Failure> {
    let help = match error {
        codegen::Error::MissingSetting { name, .. } => format!("give --setting {name}=VALUE"),
        codegen::Error::RepeatedSetting { .. } => "give each setting once".to_owned(),
        codegen::Error::SettingCount { .. } => {
            "give one number for all moduli, or one for each modulus, in their order".to_owned()
        }
        _ => return None,
    };
    Some(failure(error.to_string(), help))
}

fn failure(message: String, help: String) -> Failure {
    Failure::Wrong { message, help: Some(help) }
}
