//! Settings of an operation on the command line.

use crate::failure::Failure;
use b512_asm::Setting;
use codegen::{ParameterFault, Parameters};
use diagnostic::nearest;
use golden::{Kind, Operation};
use lab_run::kernel::parse_u128;

/// Reads texts such as `by=0x1234` as parameters of an operation. Numbers of several rings have commas between them.
///
/// # Errors
/// Returns an error if a text is no setting of the operation, or its value is invalid.
pub(crate) fn parse(operation: Operation, texts: &[String]) -> Result<Parameters, Failure> {
    texts.iter().map(|text| setting(operation, text)).collect::<Result<_, _>>().map(Parameters::by_ring)
}

fn setting(operation: Operation, text: &str) -> Result<(String, Vec<Setting>), Failure> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(failure(format!("invalid setting `{text}`"), "write NAME=VALUE".to_owned()));
    };
    let spec = operation.parameters().find(|spec| spec.name == name);
    let spec = spec.ok_or_else(|| {
        failure(format!("unknown setting `{name}` of `{operation}`"), known(operation, name))
    })?;
    let values = parse_values(spec.kind, value).ok_or_else(|| {
        let help = format!("{}: {}", spec.doc, accepted(spec.kind));
        failure(format!("invalid value `{value}` of `{name}`"), help)
    })?;
    Ok((name.to_owned(), values))
}

fn parse_values(kind: Kind, value: &str) -> Option<Vec<Setting>> {
    match kind {
        Kind::Choice(_) => (!value.is_empty()).then(|| vec![Setting::Word(value.to_owned())]),
        Kind::Number | Kind::Exponent | Kind::Degree | Kind::Modulus | Kind::Root => {
            value.split(',').map(|number| parse_u128(number).map(Setting::Number)).collect()
        }
    }
}

fn accepted(kind: Kind) -> String {
    match kind {
        Kind::Choice(_) => format!("write {}", kind.range()),
        Kind::Number | Kind::Exponent | Kind::Degree | Kind::Modulus | Kind::Root => {
            "write a decimal number, or a hexadecimal one after 0x, of at most 128 bits; or one for each \
             modulus, with commas between them"
                .to_owned()
        }
    }
}

/// The setting that was probably meant, or else all of them.
fn known(operation: Operation, name: &str) -> String {
    if let Some(near) = nearest(name, operation.parameters().map(|spec| spec.name)) {
        return format!("did you mean `{near}`?");
    }
    let list: Vec<String> =
        operation.parameters().map(|spec| format!("`{}`, {}", spec.name, spec.doc)).collect();
    if list.is_empty() {
        format!("`{operation}` has no settings besides its degree and its moduli")
    } else {
        format!("the settings of `{operation}` are {}", list.join("; "))
    }
}

/// Adds what would be right to an error about parameters.
pub(crate) fn parameter_failure(error: &codegen::Error) -> Option<Failure> {
    let codegen::Error::Parameters(fault) = error else { return None };
    let help = match fault {
        ParameterFault::Missing { name, .. } => format!("give --setting {name}=VALUE"),
        ParameterFault::Repeated { .. } => "give each setting once".to_owned(),
        ParameterFault::Count { .. } => {
            "give one number for all moduli, or one for each modulus, in their order".to_owned()
        }
        // Its message lists the settings.
        ParameterFault::Unknown { .. } => return None,
    };
    Some(failure(error.to_string(), help))
}

fn failure(message: String, help: String) -> Failure {
    Failure::Wrong { message, help: Some(help) }
}
