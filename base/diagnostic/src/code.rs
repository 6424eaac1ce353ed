//! Kinds of error, each with a code such as `D001` and a longer explanation, and the codes for documents:
//! machines, technologies, sweeps, plans, parameter sets and the like.

/// Declares the kinds of error of one family as `Code`, with their names, titles and explanations.
#[macro_export]
macro_rules! codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $title:literal;)*) => {
        /// The kinds of error.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = $title] #[doc = ""] $(#[doc = $doc])* $variant,)*
        }

        impl Code {
            /// Every code, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The code as displayed, such as `D001`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The error in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// The full explanation: the title, and a text of several lines.
            pub fn explanation(self) -> String {
                let lines: &[&str] = match self { $(Self::$variant => &[$($doc),*],)* };
                $crate::explanation(self.name(), self.title(), lines)
            }
        }

        impl std::fmt::Display for Code {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        #[test]
        fn codes_are_numbered_without_gaps() {
            for (&code, number) in Code::ALL.iter().zip(1..) {
                assert_eq!(code.name()[1..].parse(), Ok(number));
                assert!(code.explanation().lines().count() > 2, "{code} has no explanation");
            }
        }
    };
}

/// The explanation of a code from the lines of its documentation, as rustdoc sees them.
#[doc(hidden)]
pub fn explanation(name: &str, title: &str, lines: &[&str]) -> String {
    let mut text = format!("{name}: {title}\n\n");
    let mut indent = "";
    for line in lines {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if line.starts_with("```") {
            indent = if indent.is_empty() { "    " } else { "" };
        } else {
            text.push_str(if line.is_empty() { "" } else { indent });
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

codes! {
    /// The text is not TOML, or not JSON, or it has a key twice. The error points at the first character that
    /// cannot be read. In TOML, texts are in quotes, sections in brackets, and each key has its own line:
    ///
    /// ```text
    /// name = "mine"
    /// [vdm]
    /// banks = 64
    /// ```
    Syntax = "D001", "invalid syntax";

    /// The format has no such key. `rpu machine schema FORMAT` prints the keys of a format as a JSON schema,
    /// and `rpu machine list` prints the keys of machines with their meaning. Editors complete keys in
    /// a file that names its schema in the first line:
    ///
    /// ```text
    /// #:schema configs/schemas/machine.json
    /// ```
    UnknownKey = "D002", "unknown key";

    /// A key without a default is missing. Machines and technologies may inherit it from another file with
    /// `inherits = "FILE"`.
    MissingKey = "D003", "missing key";

    /// The value has the wrong type, is out of range, or is not one of the allowed words. The help says what
    /// is allowed.
    Value = "D004", "invalid value";

    /// The keys of the file belong to another format: a machine was given as a sweep, for example.
    OtherFormat = "D005", "file of another format";

    /// Two values are valid, each for itself, but not together: a key has two values, lists differ in length,
    /// or a rule over several keys is broken.
    Contradiction = "D006", "values that contradict each other";

    /// A file cannot be read that another one, or the command line, names.
    Unreadable = "D007", "unreadable file";
}
