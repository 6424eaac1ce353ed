//! The formats of documents, recognised by their keys.

use super::Item;
use crate::Span;

/// A format of documents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A machine.
    Machine,
    /// A technology.
    Technology,
    /// A sweep, or a space to explore.
    Sweep,
    /// A plan.
    Plan,
    /// A task of a library.
    Library,
    /// A parameter set of ring programs.
    Set,
    /// Printed numbers that a technology is fitted to.
    Claims,
    /// The readings of the paper.
    Setting,
    /// The manifest of a ring program.
    Manifest,
    /// The mapping of a ring program to a machine.
    Mapping,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 10] = [
        Self::Machine,
        Self::Technology,
        Self::Sweep,
        Self::Plan,
        Self::Library,
        Self::Set,
        Self::Claims,
        Self::Setting,
        Self::Manifest,
        Self::Mapping,
    ];

    /// The name, an argument of `rpu machine schema`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Technology => "technology",
            Self::Sweep => "sweep",
            Self::Plan => "plan",
            Self::Library => "library",
            Self::Set => "set",
            Self::Claims => "claims",
            Self::Setting => "setting",
            Self::Manifest => "manifest",
            Self::Mapping => "mapping",
        }
    }

    /// The name with its article.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Machine => "a machine",
            Self::Technology => "a technology",
            Self::Sweep => "a sweep",
            Self::Plan => "a plan",
            Self::Library => "a task of a library",
            Self::Set => "a parameter set",
            Self::Claims => "a list of claims",
            Self::Setting => "a list of readings",
            Self::Manifest => "a manifest",
            Self::Mapping => "a mapping",
        }
    }

    /// The option or command that takes a file of the format.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Machine => {
                "use it with `rpu run --machine FILE`, or name it in a sweep: `machine = \"FILE\"`"
            }
            Self::Technology => "name it in a machine: `technology = \"FILE\"`",
            Self::Sweep => "run it with `rpu sweep FILE`",
            Self::Plan => "use it with `rpu gen --plan FILE`, or name it in a sweep: `plan = \"FILE\"`",
            Self::Library => "it belongs to the folder of a library: `rpu tune --library FOLDER`",
            Self::Set => "use it with `rpu gen program NAME --set FILE`",
            Self::Claims => "use it with `rpu fit FILE`",
            Self::Setting => "`rpu fit --setting` reads it",
            Self::Manifest => "use it with `rpu run FILE.fhetch --manifest FILE`",
            Self::Mapping => "use it with `rpu run FILE.fhetch --mapping FILE`",
        }
    }

    /// The keys that occur in this format only, at the top of a document.
    pub const fn own_keys(self) -> &'static [&'static str] {
        match self {
            Self::Machine => &["hple", "vdm", "vrf", "vbar", "sbar", "frontend", "ideal", "isa"],
            // Claims have the same keys and more; a machine has them in a section.
            Self::Technology => &[],
            Self::Sweep => &["grid", "zip", "list", "kernel", "program", "explore", "schedule_for"],
            Self::Plan => &["plans", "tuning", "forwarding", "stagger"],
            Self::Library => &["entry", "operation"],
            Self::Set => &["q", "p"],
            Self::Claims => &["given", "tied", "fit"],
            Self::Setting => &["choice", "training"],
            Self::Manifest => &["ring_dimension", "outputs"],
            Self::Mapping => &["batch", "recipes", "elementwise"],
        }
    }

    /// The first key of a document that belongs to another format, and that format; `None` if the document
    /// has a key of this format, or no key of another one.
    pub fn foreign(self, root: &Item<'_>) -> Option<(Span, String, Self)> {
        let owner = |key: &str| Self::ALL.into_iter().find(|format| format.own_keys().contains(&key));
        let mut owned = root.fields().iter().filter_map(|field| Some((field, owner(&field.key)?)));
        let (field, format) = owned.next()?;
        let foreign = format != self && owned.all(|(_, format)| format != self);
        foreign.then(|| (field.span.clone(), field.key.to_string(), format))
    }
}
