//! Files that are something else.

/// What a file is that does not begin as a ring program: its name and what to do.
///
/// `line` is the first line that is neither blank nor a comment.
pub(super) fn recognise(line: &str) -> Option<(&'static str, &'static str)> {
    const INTERPRETER: (&str, &str) = (
        "a program for the FHETCH interpreter, another language with the same extension",
        "ring programs are traces that begin with `modulus_count`",
    );
    const HERACLES: &str =
        "ring programs are traces of OpenFHE's recorder, or generated; their operations are on whole limbs";
    let word: String = line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let rest = line[word.len()..].trim_start();
    match word.as_str() {
        "prime" | "primes" | "def" | "const" | "var" | "type" | "import" => Some(INTERPRETER),
        "instruction" if rest.starts_with(",scheme,") => Some(("a trace of programs for HERACLES", HERACLES)),
        "dload" | "dstore" if rest.starts_with(',') => Some(("a memory map of HERACLES", HERACLES)),
        // `13, ntt, ..`: the logarithm of the degree, and an operation.
        number if is_kernel(number, rest) => Some(("a kernel for HERACLES, in P-ISA", HERACLES)),
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

/// Whether a line is a number, a comma, a name, and a comma.
fn is_kernel(number: &str, rest: &str) -> bool {
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let name = rest.strip_prefix(',').and_then(|rest| rest.split_once(',')).map(|(name, _)| name.trim());
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    is_number && name.is_some_and(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_only_resembles_another_language_is_none_of_it() {
        for line in [
            "instruction sr_addp",
            "dload %1",
            "dstore",
            "13, add",
            "13 add, x",
            ", add, x",
            "x13, add, x",
            "13, 5, x",
            "13, Add, x",
            "13, a-b, x",
            "hello, world",
        ] {
            assert_eq!(recognise(line), None, "{line}");
        }
        assert!(is_kernel("13", ", add_1, x"));
    }
}
