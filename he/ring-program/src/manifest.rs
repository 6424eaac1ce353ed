//! Manifests: what a program's text does not say.
//!
//! The project's own manifest is one JSON object. Other keys are errors, apart from those of a record of a
//! trace:
//!
//! ```text
//! {"ring_dimension": 1024, "inputs": {"d": [1, 2, 3], "evk": [25, 26]}, "outputs": {"ks0": [90, 91]}}
//! ```
//!
//! The key `seeded`, which may be absent, lists the random limbs of keys that a seed can replace, by the
//! names of inputs or by ids: `"seeded": ["evk.a.0", 26]`. Of an input `KEY.a.J` all limbs are random, of
//! `KEY.b.J` none, of another key at most half, and of ciphertexts and plaintexts none. The key `title` says
//! in one line what the program is.
//!
//! The key `parameters`, which may be absent, says what is known of the [parameter set](Parameters).
//!
//! What follows may be absent too. `moduli` has the index of the modulus of each limb of an input or an
//! output in the table of the text, or 0 if the table lacks it; `keys` says what a key does, under the name
//! with which the names of its inputs begin; `regions` and, for functions, `function_regions` have the stages
//! and operations of [ranges of lines](crate::region), from the first line to the one behind the last:
//!
//! ```text
//! "moduli": {"inputs": {"ct.0": [3, 1, 2]}, "outputs": {"boot.0": [3]}},
//! "keys": {"relin": "from s^2 to s, for products"},
//! "regions": [{"lines": [0, 90], "stage": "eval-mod"}, {"lines": [10, 50], "operation": "product"}],
//! "function_regions": {"relu": [{"lines": [0, 7], "operation": "sum"}]}
//! ```
//!
//! Niobium's manifest, `fhetch_replay.json`, is recognised by its key `crypto_context`. It names other files,
//! which are read from its folder.

mod annotations;
mod niobium;

use crate::key_part::{KeyPart, key_part};
use crate::{Group, LimbId, Parameters, RingProgram, compression};
use annotations::{Annotations, LimbModuli, RegionText};
use diagnostic::document::{Format, Schema};
use diagnostic::input::{self, Content};
use diagnostic::{Code, Diagnostic, Diagnostics, Span};
use ring::Degree;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// The ids of an input or an output, in the order of its data file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedIds {
    /// The name.
    pub name: String,
    /// The ids.
    pub ids: Vec<LimbId>,
}

/// The ring degree, and the names of inputs and outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Manifest {
    /// The ring degree n, that of a [`Degree`].
    pub degree: u64,
    /// The inputs in order, as far as the manifest names them.
    pub inputs: Vec<NamedIds>,
    /// Whether these are all. If not, other limbs that the program reads before it writes them are inputs,
    /// too.
    pub inputs_are_complete: bool,
    /// The outputs in order; `None` if the manifest does not say. Then they are the limbs that the
    /// program never reads after it last writes them.
    pub outputs: Option<Vec<NamedIds>>,
    /// The limbs of inputs that are random, so that a seed on the chip can replace them; `None` if the
    /// manifest does not say. Then the names of inputs tell.
    pub seeded: Option<Vec<LimbId>>,
    /// The parameter set, if the manifest says it.
    pub parameters: Option<Parameters>,
    /// The moduli without the sentinel, if the manifest lists them.
    pub moduli: Option<Vec<u128>>,
    /// What the program is, in one line, if the manifest says.
    pub title: Option<String>,
    /// The moduli of limbs, the purposes of keys, and regions.
    annotations: Annotations,
    /// What is missing, for users.
    pub warnings: Vec<String>,
    /// The file, for errors.
    file: Arc<str>,
    text: Arc<str>,
}

impl Manifest {
    /// Reads a manifest, which may be compressed with gzip or xz.
    ///
    /// # Errors
    /// Returns all errors of the file or of one that it names: it cannot be read or is invalid.
    pub fn read_file(path: &Path) -> Result<Self, Diagnostics> {
        let text = read_text(path, "manifest")?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&diagnostic::path(path), &text, folder)
    }

    /// The manifest in `text`, from the file `file`. The files that Niobium's manifest names are in `folder`.
    ///
    /// # Errors
    /// Returns all errors of the text or of a file that it names.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, Diagnostics> {
        #[derive(Deserialize)]
        struct Kind {
            crypto_context: Option<IgnoredAny>,
        }
        if text.trim().is_empty() {
            let error = Diagnostic::new("the manifest is empty").with_code(Code::Value.name()).in_file(file);
            let help = "did a command write its output over it? `rpu gen program` writes the manifest beside the program";
            return Err(error.with_help(help).into());
        }
        let kind: Kind = Self::schema().read_json(file, text)?;
        let manifest = match kind.crypto_context {
            Some(_) => niobium::parse(file, text, folder)?,
            None => Self::parse_own(file, text)?,
        };
        match Degree::new(manifest.degree) {
            Ok(_) => Ok(manifest),
            Err(error) => {
                let error = Diagnostic::new(error.to_string()).with_code(Code::Value.name());
                Err(error.at(file, text, key_span(text, 0, "ring_dimension")).into())
            }
        }
    }

    /// The JSON schema of the project's own manifests.
    pub fn schema() -> &'static Schema {
        static OWN: LazyLock<Schema> =
            LazyLock::new(|| Schema::new(Format::Manifest, include_str!("../schema/manifest.json")));
        &OWN
    }

    fn parse_own(file: &str, text: &str) -> Result<Self, Diagnostics> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Own {
            ring_dimension: u64,
            inputs: Groups,
            outputs: Groups,
            seeded: Option<Vec<NameOrId>>,
            title: Option<String>,
            parameters: Option<Parameters>,
            #[serde(default)]
            moduli: LimbModuli,
            #[serde(default)]
            keys: BTreeMap<String, String>,
            #[serde(default)]
            regions: Vec<RegionText>,
            #[serde(default)]
            function_regions: BTreeMap<String, Vec<RegionText>>,
            // A record of a trace is a manifest, too, and says more of it.
            #[serde(default, rename = "checked")]
            _checked: IgnoredAny,
            #[serde(default, rename = "counters")]
            _counters: IgnoredAny,
            #[serde(default, rename = "declared_but_partly_unread")]
            _declared_but_partly_unread: IgnoredAny,
            #[serde(default, rename = "digest")]
            _digest: IgnoredAny,
            #[serde(default, rename = "generated_with")]
            _generated_with: IgnoredAny,
            #[serde(default, rename = "input_moduli")]
            _input_moduli: IgnoredAny,
            #[serde(default, rename = "instructions")]
            _instructions: IgnoredAny,
            #[serde(default, rename = "lines")]
            _lines: IgnoredAny,
            #[serde(default, rename = "ops")]
            _ops: IgnoredAny,
            #[serde(default, rename = "recorded_data_output_sha256")]
            _recorded_data_output_sha256: IgnoredAny,
            #[serde(default, rename = "seeded_inputs")]
            _seeded_inputs: IgnoredAny,
            #[serde(default, rename = "seeded_output_sha256")]
            _seeded_output_sha256: IgnoredAny,
            #[serde(default, rename = "sha256_of_trace")]
            _sha256_of_trace: IgnoredAny,
            #[serde(default, rename = "trace")]
            _trace: IgnoredAny,
        }
        let own: Own = Self::schema().read_json(file, text)?;
        let inputs = own.inputs.0;
        let (mut errors, mut seeded) = (Diagnostics::default(), Vec::new());
        let known = Known::of(&inputs);
        let twice = inputs.iter().filter_map(|input| Some((&input.name, repeated(&input.ids)?)));
        for (name, id) in twice.take(Diagnostics::LIMIT) {
            let message = format!("the input `{name}` has the id {} twice", id.0);
            let error = Diagnostic::new(message).with_code(Code::Contradiction.name());
            let span = key_span(text, 0, "inputs");
            let span = span.as_ref().and_then(|list| key_span(text, list.end, name)).or(span);
            errors.push(error.at(file, text, span).with_help("an input has each of its limbs once"));
        }
        for limbs in own.seeded.iter().flatten() {
            if errors.is_full() {
                break;
            }
            let found = limbs.find(&known).map_err(|error| limbs.locate(error, file, text));
            seeded.extend_from_slice(errors.keep(found).unwrap_or_default());
        }
        check_random(&inputs, &seeded, file, text, &mut errors);
        let parameters = own.parameters.iter();
        let texts = parameters.flat_map(|own| [("set", &own.set), ("security", &own.security)]);
        let texts = texts.chain(own.title.iter().map(|title| ("title", title)));
        let names = inputs.iter().chain(&own.outputs.0).map(|group| ("name", &group.name));
        let keys =
            own.keys.iter().flat_map(|(name, purpose)| [("name", name), ("purpose of a key", purpose)]);
        let wrong = texts.chain(names).chain(keys).filter(|(_, value)| !diagnostic::is_line(value));
        for (what, value) in wrong.take(Diagnostics::LIMIT) {
            let message = format!("the {what} `{}` is not one line of text", diagnostic::one_line(value));
            let error = Diagnostic::new(message).with_code(Code::Value.name());
            errors.push(
                error.at(file, text, key_span(text, 0, value)).with_help("leave out what does not print"),
            );
        }
        let Own { moduli, keys, regions, function_regions, .. } = own;
        let annotations = Annotations { moduli, keys, regions, function_regions };
        errors.keep(annotations.check([&inputs, &own.outputs.0], file, text));
        errors.or(())?;
        Ok(Self {
            annotations,
            degree: own.ring_dimension,
            seeded: own.seeded.map(|_| seeded),
            inputs,
            inputs_are_complete: true,
            outputs: Some(own.outputs.0),
            parameters: own.parameters,
            moduli: None,
            title: own.title,
            warnings: Vec::new(),
            file: file.into(),
            text: text.into(),
        })
    }

    /// The manifest of a program.
    pub fn of(program: &RingProgram) -> Self {
        let named = |groups: &[Group]| {
            let named = |group: &Group| NamedIds { name: group.name.clone(), ids: program.ids(group) };
            groups.iter().map(named).collect()
        };
        Self {
            degree: program.degree().get(),
            inputs: named(program.inputs()),
            inputs_are_complete: true,
            outputs: Some(named(program.outputs())),
            seeded: program
                .seeded()
                .map(|limbs| limbs.iter().map(|&limb| program.limbs().id(limb)).collect()),
            parameters: program.parameters().cloned(),
            moduli: None,
            title: None,
            annotations: Annotations::of(program),
            warnings: Vec::new(),
            file: "".into(),
            text: "".into(),
        }
    }

    /// The manifest with what the program's meaning needs: without title, parameters, moduli of limbs,
    /// purposes of keys and regions.
    pub fn bare(self) -> Self {
        Self { title: None, parameters: None, annotations: Annotations::default(), ..self }
    }

    /// The project's own form.
    pub fn to_json(&self) -> String {
        let groups = |groups: &[NamedIds]| {
            let group = |group: &NamedIds| {
                let ids: Vec<String> = group.ids.iter().map(|id| id.0.to_string()).collect();
                let name = serde_json::Value::from(group.name.as_str());
                format!("\n    {name}: [{}]", ids.join(", "))
            };
            let groups: Vec<String> = groups.iter().map(group).collect();
            if groups.is_empty() { "{}".to_owned() } else { format!("{{{}\n  }}", groups.join(",")) }
        };
        let seeded = self.seeded.as_ref().map_or_else(String::new, |ids| {
            let ids: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
            format!(",\n  \"seeded\": [{}]", ids.join(", "))
        });
        let title = self.title.as_ref().map_or_else(String::new, |title| {
            format!("  \"title\": {},\n", serde_json::Value::from(title.as_str()))
        });
        let parameters = self.parameters.as_ref().map_or_else(String::new, |parameters| {
            let text = serde_json::to_string(parameters).expect("numbers and texts");
            format!(",\n  \"parameters\": {text}")
        });
        format!(
            "{{\n{title}  \"ring_dimension\": {},\n  \"inputs\": {},\n  \"outputs\": {}{seeded}{parameters}{}\n}}\n",
            self.degree,
            groups(&self.inputs),
            groups(self.outputs.as_deref().unwrap_or_default()),
            self.annotations.to_json()
        )
    }

    /// The name of its file; empty for the manifest of a program.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// An error in the list `name` under the key `section`.
    pub(crate) fn locate(&self, error: Diagnostic, section: &str, name: &str) -> Diagnostic {
        let section = key_span(&self.text, 0, section);
        let span = section.as_ref().and_then(|section| key_span(&self.text, section.end, name));
        error.at(&*self.file, Arc::clone(&self.text), span.or(section))
    }
}

/// Reports limbs that are not random by definition. A limb of several inputs is random in each of them.
fn check_random(inputs: &[NamedIds], seeded: &[LimbId], file: &str, text: &str, errors: &mut Diagnostics) {
    let seeded: HashSet<LimbId> = seeded.iter().copied().collect();
    for NamedIds { name, ids } in inputs {
        let found = ids.iter().filter(|id| seeded.contains(id)).count();
        let (most, reason) = match key_part(name) {
            Some(KeyPart::Random) => continue,
            Some(KeyPart::Masked) => (0, "it is the part of a key that hides a secret"),
            Some(KeyPart::Both) => (ids.len() / 2, "half of a key hides a secret"),
            None => (0, "it is no key"),
        };
        if found > most {
            let message = format!(
                "a seed cannot replace {found} of {} limbs of the input `{name}`: {reason}",
                ids.len()
            );
            let error = Diagnostic::new(message).with_code(Code::Contradiction.name());
            let help = "`seeded` lists limbs of the parts a of keys: inputs `KEY.a.J`, or half of one with `key` or `evk` in its name";
            errors.push(error.at(file, text, key_span(text, 0, "seeded")).with_help(help));
        }
    }
}

/// The limbs of inputs, by name and by id.
struct Known<'i> {
    names: HashMap<&'i str, &'i [LimbId]>,
    ids: HashMap<LimbId, &'i LimbId>,
}

impl<'i> Known<'i> {
    fn of(inputs: &'i [NamedIds]) -> Self {
        Self {
            names: inputs.iter().map(|input| (input.name.as_str(), input.ids.as_slice())).collect(),
            ids: inputs.iter().flat_map(|input| &input.ids).map(|id| (*id, id)).collect(),
        }
    }
}

/// The first id that occurs for the second time.
fn repeated(ids: &[LimbId]) -> Option<LimbId> {
    let mut seen = HashSet::new();
    ids.iter().copied().find(|id| !seen.insert(*id))
}

/// A part of the list `seeded`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the name of an input or the id of a limb")]
enum NameOrId {
    Id(u64),
    Name(String),
}

impl NameOrId {
    /// The limbs of inputs that it means.
    fn find<'i>(&self, known: &Known<'i>) -> Result<&'i [LimbId], Diagnostic> {
        let (found, what) = match self {
            Self::Name(name) => (known.names.get(name.as_str()).copied(), format!("the name `{name}`")),
            Self::Id(id) => {
                (known.ids.get(&LimbId(*id)).map(|id| std::slice::from_ref(*id)), format!("the id {id}"))
            }
        };
        found.ok_or_else(|| {
            let error = Diagnostic::new(format!("no input has {what}")).with_code(Code::Contradiction.name());
            error.with_help("`seeded` lists names of `inputs`, or ids of their limbs")
        })
    }

    /// An error in this part.
    fn locate(&self, error: Diagnostic, file: &str, text: &str) -> Diagnostic {
        let list = key_span(text, 0, "seeded");
        let part = match (self, &list) {
            (Self::Name(name), Some(list)) => key_span(text, list.end, name),
            (Self::Id(_), _) | (_, None) => None,
        };
        error.at(file, text, part.or(list))
    }
}

/// The span of a key in a JSON text, after some position. Best effort: the first equal string.
fn key_span(text: &str, from: usize, key: &str) -> Option<Span> {
    let quoted = serde_json::Value::from(key).to_string();
    let start = from + text[from..].find(&quoted)?;
    Some(start..start + quoted.len())
}

/// The text of a file.
fn read_text(path: &Path, what: &str) -> Result<String, Diagnostic> {
    let bytes = compression::open(path).and_then(|file| input::read_all(file, Content::Document));
    let text = bytes.and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    text.map_err(|error| {
        Diagnostic::new(format!("cannot read the {what}: {error}"))
            .with_code(Code::Unreadable.name())
            .in_file(diagnostic::path(path))
    })
}

/// A JSON object of lists of ids, in the order of the text.
struct Groups(Vec<NamedIds>);

impl<'de> Deserialize<'de> for Groups {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Groups;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of names and lists of ids")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Groups, A::Error> {
                let (mut groups, mut known) = (Vec::new(), HashSet::new());
                while let Some(name) = map.next_key::<String>()? {
                    if !known.insert(name.clone()) {
                        return Err(serde::de::Error::custom(format!("duplicate name `{name}`")));
                    }
                    let ids: Vec<u64> = map.next_value()?;
                    groups.push(NamedIds { name, ids: ids.into_iter().map(LimbId).collect() });
                }
                Ok(Groups(groups))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}
