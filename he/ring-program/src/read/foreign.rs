//! Files that are something else.

/// What a file is that does not begin as a ring program: its name and what to do.
///
/// `line` is the first line that is neither blank nor a comment.
pub(super) fn recognise(line: &str) -> Option<(&'static str, &'static str)> {
    const INTERPRETER: (&str, &str) = (
        "a program for the FHETCH interpreter, another language with the same extension",
        "ring programs are traces that begin with `modulus_count`",
    );
    let word: String = line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let rest = line[word.len()..].trim_start();
    match word.as_str() {
        "prime" | "primes" | "def" | "const" | "var" | "type" | "import" => Some(INTERPRETER),
        "" if rest.starts_with("//") || rest.starts_with("/*") => Some(INTERPRETER),
        "" if rest.starts_with('{') => {
            Some(("JSON", "a manifest accompanies a ring program and cannot replace it"))
        }
        "" if rest.starts_with('.') => {
            Some(("a B512 program", "ring programs are traces that begin with `modulus_count`"))
        }
        _ => None,
    }
}
