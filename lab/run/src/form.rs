//! The forms of files of coefficients.

use diagnostic::Diagnostic;
use std::path::Path;

/// The form of a file of coefficients, which the ending of its name tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `.bin`: 16 little-endian bytes for each coefficient. So is what has no name, such as a pipe.
    Binary,
    /// `.json`: a list of numbers, and of texts such as `"0x1f"`.
    List,
    /// `.npy`: a NumPy array of integers.
    Array,
}

/// The endings, in capitals or not.
const ENDINGS: [(&str, Form); 3] = [("bin", Form::Binary), ("json", Form::List), ("npy", Form::Array)];

impl Form {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Binary, Self::List, Self::Array];

    /// The form of the file at a path. `-` and files in `/dev` are pipes.
    ///
    /// # Errors
    /// Returns an error that lists the known endings if the path has none of them.
    pub fn of(path: &Path) -> Result<Self, Diagnostic> {
        let ending = path.extension().unwrap_or_default();
        if let Some((_, form)) = ENDINGS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)) {
            return Ok(*form);
        }
        if path.as_os_str() == "-" || path.starts_with("/dev") {
            return Ok(Self::Binary);
        }
        let message = format!("unknown form of the data file `{}`", diagnostic::path(path));
        let help = "a name ends in .bin for 16 little-endian bytes per coefficient, in .json for a list, or in .npy for an array";
        Err(Diagnostic::new(message).with_help(help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_endings_tell_the_form_and_others_are_refused() {
        for (path, form) in [
            ("x.bin", Form::Binary),
            ("a.csv/x.BIN", Form::Binary),
            ("x.Json", Form::List),
            ("x.y.NPY", Form::Array),
            ("-", Form::Binary),
            ("/dev/fd/63", Form::Binary),
        ] {
            assert_eq!(Form::of(Path::new(path)), Ok(form), "{path}");
        }
        for path in
            ["x", "x.csv", "x.txt", "x.npz", "x.bin.gz", "x.json ", "x.bin/y", ".bin", "x.", "./-", "x.bın"]
        {
            let error = Form::of(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(".bin") && error.contains(".json") && error.contains(".npy"), "{error}");
        }
    }
}
