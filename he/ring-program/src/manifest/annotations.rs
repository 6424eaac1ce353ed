//! What a manifest says of limbs, keys and lines: the moduli of limbs, the purposes of keys, and regions.

use super::{Manifest, NamedIds};
use crate::{Group, Region, RegionKind, RingProgram};
use diagnostic::document::{Document, Item};
use diagnostic::{Code, Diagnostic, Diagnostics, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a manifest says of limbs, keys and lines, all of which may be absent.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Annotations {
    pub(super) moduli: LimbModuli,
    /// What each key does, by the name with which its inputs begin.
    pub(super) keys: BTreeMap<String, String>,
    /// The regions of the program's own lines.
    pub(super) regions: Vec<RegionText>,
    /// The regions of the lines of functions, by name.
    pub(super) function_regions: BTreeMap<String, Vec<RegionText>>,
}

/// The index of each limb's modulus in the text's table, in the order of the ids, by the name of the input or
/// the output; 0 for a limb that no line reads, of a modulus that the table lacks.
#[derive(Clone, PartialEq, Eq, Default, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct LimbModuli {
    #[serde(default)]
    inputs: BTreeMap<String, Vec<u64>>,
    #[serde(default)]
    outputs: BTreeMap<String, Vec<u64>>,
}

/// A region in a manifest: `{"lines": [0, 90], "stage": "eval-mod"}`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RegionText {
    /// The first line, and the one behind the last.
    lines: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
}

impl RegionText {
    fn of(Region { lines, kind, name }: &Region) -> Self {
        let name_of = |of: RegionKind| (*kind == of).then(|| name.to_string());
        Self {
            lines: [lines.start, lines.end],
            stage: name_of(RegionKind::Stage),
            operation: name_of(RegionKind::Operation),
        }
    }

    fn region(&self) -> Option<Region> {
        let (kind, name) = match (&self.stage, &self.operation) {
            (Some(name), None) => (RegionKind::Stage, name),
            (None, Some(name)) => (RegionKind::Operation, name),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let [start, end] = self.lines;
        Some(Region { lines: start..end, kind, name: name.as_str().into() })
    }
}

impl Annotations {
    /// What a program has of them.
    pub(super) fn of(program: &RingProgram) -> Self {
        let moduli = |groups: &[Group]| {
            let indices = |group: &Group| {
                let moduli = group.moduli.as_ref()?;
                Some((
                    group.name.clone(),
                    moduli.iter().map(|modulus| modulus.map_or(0, |modulus| modulus.get() as u64)).collect(),
                ))
            };
            groups.iter().filter_map(indices).collect()
        };
        let texts = |program: &RingProgram| program.regions().as_slice().iter().map(RegionText::of).collect();
        let of_functions =
            program.functions().iter().filter(|function| !function.body().regions().is_empty());
        Self {
            moduli: LimbModuli { inputs: moduli(program.inputs()), outputs: moduli(program.outputs()) },
            keys: program.keys().clone(),
            regions: texts(program),
            function_regions: of_functions
                .map(|function| (function.name().to_owned(), texts(function.body())))
                .collect(),
        }
    }

    /// Their keys in a manifest, each after a comma.
    pub(super) fn to_json(&self) -> String {
        let lines = |entries: Vec<String>, indent: &str| entries.join(&format!(",\n{indent}"));
        let mut text = String::new();
        let LimbModuli { inputs, outputs } = &self.moduli;
        let lists = [("inputs", inputs), ("outputs", outputs)].map(|(name, lists)| {
            let entry = |(name, list): (&String, &Vec<u64>)| {
                let list: Vec<String> = list.iter().map(u64::to_string).collect();
                format!("{}: [{}]", json(name), list.join(", "))
            };
            let entries: Vec<String> = lists.iter().map(entry).collect();
            (!entries.is_empty())
                .then(|| format!("\"{name}\": {{\n      {}\n    }}", lines(entries, "      ")))
        });
        let lists: Vec<String> = lists.into_iter().flatten().collect();
        if !lists.is_empty() {
            let _ = write!(text, ",\n  \"moduli\": {{\n    {}\n  }}", lines(lists, "    "));
        }
        if !self.keys.is_empty() {
            let entries =
                self.keys.iter().map(|(name, purpose)| format!("{}: {}", json(name), json(purpose)));
            let _ = write!(text, ",\n  \"keys\": {{\n    {}\n  }}", lines(entries.collect(), "    "));
        }
        let list = |regions: &[RegionText], indent: &str| lines(regions.iter().map(json).collect(), indent);
        if !self.regions.is_empty() {
            let _ = write!(text, ",\n  \"regions\": [\n    {}\n  ]", list(&self.regions, "    "));
        }
        if !self.function_regions.is_empty() {
            let entry = |(name, regions): (&String, &Vec<RegionText>)| {
                format!("{}: [\n      {}\n    ]", json(name), list(regions, "      "))
            };
            let entries = self.function_regions.iter().map(entry).collect();
            let _ = write!(text, ",\n  \"function_regions\": {{\n    {}\n  }}", lines(entries, "    "));
        }
        text
    }

    /// The errors that need no program: regions of no kind or of two, purposes of keys without inputs, and
    /// lists of moduli that have not one for each limb.
    pub(super) fn check(
        &self,
        [inputs, outputs]: [&[NamedIds]; 2],
        file: &str,
        text: &str,
    ) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::default();
        let LimbModuli { inputs: of_inputs, outputs: of_outputs } = &self.moduli;
        for (section, lists, groups) in [("inputs", of_inputs, inputs), ("outputs", of_outputs, outputs)] {
            for (name, list) in lists {
                let path = [Place::Key("moduli"), Place::Key(section), Place::Key(name)];
                let what = &section[..section.len() - 1];
                let error = match groups.iter().find(|group| group.name == *name) {
                    None => Diagnostic::new(format!("no {what} has the name `{name}`")),
                    Some(group) if group.ids.len() != list.len() => {
                        let [limbs, moduli] =
                            [(group.ids.len(), "limb", "limbs"), (list.len(), "modulus", "moduli")]
                                .map(|(count, one, many)| diagnostic::counted(count, one, many));
                        Diagnostic::new(format!("the {what} `{name}` has {limbs}, but {moduli}"))
                    }
                    Some(_) => continue,
                };
                let error = error.with_code(Code::Contradiction.name()).at(file, text, span(text, &path));
                errors.push(error.with_help(format!(
                    "`moduli` lists an index of the text's table for each limb of an {what}"
                )));
            }
        }
        for key in self.keys.keys() {
            let is_of_key = |input: &NamedIds| {
                input.name.strip_prefix(&**key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if !inputs.iter().any(is_of_key) {
                let error = Diagnostic::new(format!("no input is of the key `{key}`"));
                let path = [Place::Key("keys"), Place::Key(key)];
                let error = error.with_code(Code::Contradiction.name()).at(file, text, span(text, &path));
                errors.push(error.with_help("a key's inputs have its name, or begin with it and a dot"));
            }
        }
        for (function, regions) in self.all_regions() {
            for (index, region) in regions.iter().enumerate() {
                if region.region().is_none() {
                    let error =
                        Diagnostic::new("a region is a stage or an operation").with_code(Code::Value.name());
                    let error = error.at(file, text, span(text, &Self::path(function, index)));
                    errors
                        .push(error.with_help("write `\"stage\": NAME` or `\"operation\": NAME`, not both"));
                }
            }
        }
        errors.or(())
    }

    /// The regions of the text, and of each function by name.
    fn all_regions(&self) -> impl Iterator<Item = (Option<&str>, &[RegionText])> {
        let own = [(None, &*self.regions)];
        own.into_iter().chain(self.function_regions.iter().map(|(name, regions)| (Some(&**name), &**regions)))
    }

    fn path(function: Option<&str>, index: usize) -> Vec<Place<'_>> {
        match function {
            None => vec![Place::Key("regions"), Place::Index(index)],
            Some(name) => vec![Place::Key("function_regions"), Place::Key(name), Place::Index(index)],
        }
    }
}

/// A step to a part of a document.
#[derive(Clone, Copy, Debug)]
enum Place<'p> {
    Key(&'p str),
    Index(usize),
}

/// The bytes of a part of a JSON text, or of the last part around it that the text has.
fn span(text: &str, path: &[Place<'_>]) -> Option<Span> {
    let document = Document::json("", text).ok()?;
    let mut item = document.root();
    for place in path {
        let next: Option<&Item<'_>> = match *place {
            Place::Key(key) => item.get(key),
            Place::Index(index) => item.items().get(index),
        };
        match next {
            Some(next) => item = next,
            None => break,
        }
    }
    Some(item.span.clone())
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and texts")
}

impl Manifest {
    /// Gives a program what the manifest says of its limbs, keys and lines.
    ///
    /// # Errors
    /// Returns a modulus that the program's table does not have, a function that it does not have, or a
    /// region that its text cannot have.
    pub(crate) fn annotate(&self, program: &mut RingProgram) -> Result<(), Diagnostic> {
        let LimbModuli { inputs, outputs } = &self.annotations.moduli;
        let table = &program.moduli;
        for (section, groups, lists) in
            [("inputs", &mut program.inputs, inputs), ("outputs", &mut program.outputs, outputs)]
        {
            for (name, list) in lists {
                let Some(group) = groups.iter_mut().find(|group| group.name == *name) else { continue };
                let mut moduli = Vec::new();
                for (at, &index) in list.iter().enumerate() {
                    let modulus = table.index(index);
                    if index > 0 && modulus.is_none() {
                        let path =
                            [Place::Key("moduli"), Place::Key(section), Place::Key(name), Place::Index(at)];
                        let error = self.error_at(&path, format!("the program has no modulus m[{index}]"));
                        let help =
                            format!("its table has m[1] to m[{}]; 0 is a modulus beside it", table.len());
                        return Err(error.with_help(help));
                    }
                    moduli.push(modulus);
                }
                group.moduli = Some(moduli);
            }
        }
        program.keys.clone_from(&self.annotations.keys);
        for (function, regions) in self.annotations.all_regions() {
            let index = match function {
                None => None,
                Some(name) => Some(program.function_index(name).ok_or_else(|| {
                    let path = [Place::Key("function_regions"), Place::Key(name)];
                    let error = self.error_at(&path, format!("the program has no function `{name}`"));
                    error.with_help("regions of a program without functions are under `regions`")
                })?),
            };
            let regions = regions.iter().filter_map(RegionText::region).collect();
            program.set_regions(index, regions).map_err(|fault| {
                self.error_at(&Annotations::path(function, fault.index), fault.to_string())
                    .with_help(fault.help)
            })?;
        }
        Ok(())
    }

    fn error_at(&self, path: &[Place<'_>], message: String) -> Diagnostic {
        let error = Diagnostic::new(message).with_code(Code::Contradiction.name());
        error.at(&*self.file, self.text.clone(), span(&self.text, path))
    }
}
