//! `rpu machine list`

use crate::failure::Failure;
use crate::files;
use crate::format::{Format, json};
use diagnostic::nearest;
use serde_json::json;
use sim::Machine;
use sim::machine::keys;
use sim::machine::table::Key;
use toml::Value;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Show only the keys that begin with this text, such as vdm; by default all except those of technologies
    #[arg(value_name = "PREFIX")]
    prefix: Option<String>,
    /// Format of the list
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    let listed = |(key, _): &(&Key, Value)| match &args.prefix {
        Some(prefix) => key.path.starts_with(prefix.as_str()),
        None => !key.path.starts_with("technology."),
    };
    let listed: Vec<_> = Machine::rpu_128x128().values().into_iter().filter(listed).collect();
    if listed.is_empty() {
        let prefix = args.prefix.as_deref().unwrap_or_default();
        let near =
            nearest(prefix, keys().flat_map(|key| [key.path, key.path.split('.').next().unwrap_or("")]));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        return Err(Failure::Wrong { message: format!("no key begins with `{prefix}`"), help });
    }
    let text = match args.format {
        Format::Table => listed.into_iter().map(entry).collect::<Vec<_>>().join("\n"),
        Format::Json => json(&listed.into_iter().map(document).collect::<Vec<_>>())?,
    };
    files::print_text(&text)
}

fn entry((key, value): (&Key, Value)) -> String {
    let provenance = key.built_in_value().provenance;
    let effects = if key.effects.is_empty() { "nothing".to_owned() } else { key.effect_names() };
    let mut text = format!("{} = {value}\n", key.path);
    let mut line = |name: &str, content: &str| {
        if !content.is_empty() {
            text += &format!("    {name:<8} {content}\n");
        }
    };
    line("meaning", key.doc.join("").trim());
    line("values", &key.kind.describe());
    line("changes", &effects);
    line("origin", &provenance);
    line(
        "missing",
        &key.not_modelled().map_or(String::new(), |because| format!("no model of its costs: {because}")),
    );
    text
}

fn document((key, value): (&Key, Value)) -> serde_json::Value {
    let provenance = key.built_in_value().provenance;
    let effects: Vec<&str> = key.effects.iter().map(|effect| effect.name()).collect();
    json!({
        "key": key.path,
        "meaning": key.doc.join("").trim(),
        "values": key.kind.describe(),
        "default": value.to_string(),
        "origin": provenance,
        "changes": effects,
        "not_modelled": key.not_modelled(),
    })
}
