//! Coefficients in NumPy's `.npy` files.
//!
//! The format is a magic number, a version, the length of a header, and the header: a Python dictionary with
//! the type of the elements, their order and the shape of the array. Then follow the elements.
//!
//! A reader of our own: the published ones evaluate the header as any Python literal, and bring a parser
//! generator and a C compiler for it.

use diagnostic::Diagnostic;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_until};
use nom::character::complete::{char, digit1, multispace0};
use nom::combinator::{map, map_opt, opt, value};
use nom::multi::separated_list0;
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

/// The first bytes of a file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// What the reader accepts.
const HELP: &str = "save an array of integers, one a coefficient, or of unsigned 64-bit integers with a last axis of \
                    two: the low and the high half of each coefficient";

/// The elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Element {
    bytes: usize,
    signed: bool,
    big_endian: bool,
}

/// The header of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Header {
    element: String,
    columns_first: bool,
    shape: Vec<u64>,
}

/// Reads coefficients: an array of integers, or one of unsigned 64-bit integers with a last axis of two, the
/// low and the high half of each coefficient. Rows of an array, such as limbs, follow each other. `name` is
/// the file's name in errors.
///
/// # Errors
/// Returns an error if the bytes are no such array, or a coefficient is negative.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Vec<u128>, Diagnostic> {
    let wrong = |message: String| Diagnostic::new(message).in_file(name).with_help(HELP);
    let (header, data) = split(bytes)
        .ok_or_else(|| wrong("invalid .npy file: no header of version 1.0, 2.0 or 3.0".to_owned()))?;
    let header = match header_of(header) {
        Ok(("", header)) => header,
        Ok(_) | Err(_) => {
            return Err(wrong(format!(
                "invalid header of a .npy file: `{}`",
                header.trim_end().replace('`', "'")
            )));
        }
    };
    let element = element_of(&header.element)
        .ok_or_else(|| wrong(format!("elements of type `{}` are no coefficients", header.element)))?;
    let shape = &header.shape[..];
    if shape.is_empty() || (shape.len() > 1 && header.columns_first) {
        let order = if header.columns_first { " in Fortran order" } else { "" };
        return Err(wrong(format!("an array of shape {shape:?}{order} has no coefficients")));
    }
    let halves = shape.len() > 1 && shape.ends_with(&[2]) && element.bytes == 8 && !element.signed;
    let bytes = shape.iter().try_fold(element.bytes as u64, |bytes, axis| bytes.checked_mul(*axis));
    if bytes != Some(data.len() as u64) {
        let size = element.bytes;
        return Err(wrong(format!(
            "the file has {} bytes for shape {shape:?} of {size} bytes each",
            data.len()
        )));
    }
    let word =
        |(index, bytes)| element.word(bytes).ok_or_else(|| wrong(format!("coefficient {index} is negative")));
    let words: Vec<u128> =
        data.chunks_exact(element.bytes).enumerate().map(word).collect::<Result<_, _>>()?;
    Ok(if halves { words.chunks_exact(2).map(|half| half[1] << 64 | half[0]).collect() } else { words })
}

/// The words as an array of unsigned 64-bit integers with these axes; with `wide`, also a last axis of two
/// for the low and the high half.
pub(crate) fn write(words: &[u128], axes: &[usize], wide: bool) -> Vec<u8> {
    let axes: Vec<String> =
        axes.iter().copied().chain(wide.then_some(2)).map(|axis| axis.to_string()).collect();
    // A tuple of one element has a comma.
    let shape = format!("({}{})", axes.join(", "), if axes.len() == 1 { "," } else { "" });
    let mut header = format!("{{'descr': '<u8', 'fortran_order': False, 'shape': {shape}, }}");
    // The data begins at a multiple of 64 bytes; the header ends with a new line.
    let before = MAGIC.len() + 2 + 2;
    let length = (before + header.len() + 1).next_multiple_of(64) - before;
    header = format!("{header:<width$}\n", width = length - 1);
    let mut bytes = Vec::with_capacity(before + length + words.len() * 16);
    bytes.extend(MAGIC);
    bytes.extend([1, 0]);
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(header.into_bytes());
    for word in words {
        let word = word.to_le_bytes();
        bytes.extend(if wide { &word[..] } else { &word[..8] });
    }
    bytes
}

/// The header's text and the data of a file.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    if version[1] != 0 {
        return None;
    }
    let (length, rest) = match version[0] {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (u16::from_le_bytes(*length) as usize, rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// A value of the dictionary.
enum Entry {
    Element(String),
    ColumnsFirst(bool),
    Shape(Vec<u64>),
}

fn header_of(text: &str) -> IResult<&str, Header> {
    let comma = || delimited(multispace0::<&str, _>, char(','), multispace0);
    let number = map_opt(digit1, |digits: &str| diagnostic::number(digits.as_bytes()).ok()?.try_into().ok());
    let boolean = alt((value(true, tag("True")), value(false, tag("False"))));
    let shape = delimited(
        (char('('), multispace0),
        terminated(separated_list0(comma(), number), (multispace0, opt(char(',')), multispace0)),
        char(')'),
    );
    let key = |name: &'static str| (preceded(multispace0, quoted(name)), multispace0, char(':'), multispace0);
    let entry = alt((
        map(preceded(key("descr"), string), Entry::Element),
        map(preceded(key("fortran_order"), boolean), Entry::ColumnsFirst),
        map(preceded(key("shape"), shape), Entry::Shape),
    ));
    let entries = terminated(separated_list0(comma(), entry), (multispace0, opt(char(','))));
    let mut dictionary = delimited((multispace0, char('{')), entries, (multispace0, char('}'), multispace0));
    let (rest, entries) = dictionary.parse(text)?;
    let (mut element, mut columns_first, mut shape) = (None, None, None);
    for entry in entries {
        let is_second = match entry {
            Entry::Element(own) => element.replace(own).is_some(),
            Entry::ColumnsFirst(own) => columns_first.replace(own).is_some(),
            Entry::Shape(own) => shape.replace(own).is_some(),
        };
        if is_second {
            return Err(wrong_keys(text));
        }
    }
    match (element, columns_first, shape) {
        (Some(element), Some(columns_first), Some(shape)) => {
            Ok((rest, Header { element, columns_first, shape }))
        }
        _ => Err(wrong_keys(text)),
    }
}

/// A header in which a key is missing or occurs twice.
fn wrong_keys(text: &str) -> nom::Err<nom::error::Error<&str>> {
    nom::Err::Failure(nom::error::Error::new(text, nom::error::ErrorKind::Permutation))
}

/// A name in quotes of either kind.
fn quoted<'t>(
    name: &'static str,
) -> impl Parser<&'t str, Output = &'t str, Error = nom::error::Error<&'t str>> {
    alt((delimited(char('\''), tag(name), char('\'')), delimited(char('"'), tag(name), char('"'))))
}

fn string(text: &str) -> IResult<&str, String> {
    let quoted = alt((
        delimited(char('\''), take_until("'"), char('\'')),
        delimited(char('"'), take_until("\""), char('"')),
    ));
    map(quoted, str::to_owned).parse(text)
}

/// The integers of a type such as `<u8`: order, kind and number of bytes.
fn element_of(text: &str) -> Option<Element> {
    let mut characters = text.chars();
    let big_endian = match characters.next()? {
        '<' | '|' | '=' => false,
        '>' => true,
        _ => return None,
    };
    let signed = match characters.next()? {
        'u' => false,
        'i' => true,
        _ => return None,
    };
    let bytes = characters.as_str().parse().ok().filter(|bytes| [1, 2, 4, 8].contains(bytes))?;
    Some(Element { bytes, signed, big_endian })
}

impl Element {
    /// The value of one element; `None` if it is negative.
    fn word(self, bytes: &[u8]) -> Option<u128> {
        let mut little = [0; 16];
        little[..bytes.len()].copy_from_slice(bytes);
        if self.big_endian {
            little[..bytes.len()].reverse();
        }
        let negative = self.signed && little[self.bytes - 1] >> 7 != 0;
        (!negative).then(|| u128::from_le_bytes(little))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as NumPy writes it.
    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn arrays_survive_and_begin_at_a_multiple_of_64_bytes() {
        for wide in [false, true] {
            let words = if wide { vec![0, u128::MAX, 1 << 64] } else { vec![0, 7, u128::from(u64::MAX)] };
            for axes in [&[3][..], &[1, 3]] {
                let bytes = write(&words, axes, wide);
                assert_eq!(bytes.len() % 64, words.len() * if wide { 16 } else { 8 });
                assert_eq!(read("x.npy", &bytes), Ok(words.clone()));
            }
        }
        // The header has any length modulo 64, and no more blanks than it needs.
        for axes in 1..=64 {
            let bytes = write(&[7], &vec![1; axes], false);
            let (header, data) = split(&bytes).unwrap();
            assert!(data.len() == 8 && bytes.len() % 64 == 8 && header.ends_with('\n'), "{axes}");
            assert!(header.len() - header.trim_end().len() <= 64, "{axes}");
        }
        let text = write(&[1], &[1], false);
        assert!(text[10..].starts_with(b"{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }  "));
    }

    #[test]
    fn integers_of_all_kinds_are_read() {
        let header = |element: &str, shape: &str| {
            format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}, }}          \n")
        };
        let read =
            |element: &str, shape: &str, data: &[u8]| read("x.npy", &file(&header(element, shape), data));
        assert_eq!(read("|u1", "(3,)", &[1, 2, 255]), Ok(vec![1, 2, 255]));
        assert_eq!(read(">u4", "(1,)", &[0, 0, 1, 2]), Ok(vec![258]));
        assert_eq!(read("<i2", "( 1 , )", &[2, 1]), Ok(vec![258]));
        assert_eq!(read("<u8", "(0,)", &[]), Ok(vec![]));
        let fortran = header("|u1", "(2,)").replace("False", "True");
        assert_eq!(super::read("x.npy", &file(&fortran, &[1, 2])), Ok(vec![1, 2]));
        let two: Vec<u8> = [5u64, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(read("<u8", "(2,)", &two), Ok(vec![5, 1]));
        // Versions 2 and 3 have longer lengths.
        for version in [2, 3] {
            let mut longer = file(&header("|u1", "(1,)"), &[7]);
            longer[6] = version;
            longer.splice(10..10, [0, 0]);
            assert_eq!(super::read("x.npy", &longer), Ok(vec![7]));
        }
        let halves: Vec<u8> = [5u64, 1].iter().flat_map(|half| half.to_le_bytes()).collect();
        assert_eq!(read("<u8", "(1, 2)", &halves), Ok(vec![1 << 64 | 5]));
    }

    #[test]
    fn other_files_are_refused() {
        let error = |bytes: &[u8]| read("x.npy", bytes).unwrap_err().to_string();
        let header = |element: &str, shape: &str| {
            file(&format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}}}\n"), &[255; 8])
        };
        for (bytes, message) in [
            (b"PK".to_vec(), "x.npy: invalid .npy file: no header of version"),
            (file("{'descr': '<u8', 'shape': (1,)}", &[]), "x.npy: invalid header of a .npy file"),
            (b"\x93NUMPY\x09\x09\x00\x00".to_vec(), "x.npy: invalid .npy file: no header of version"),
            (file("{'descr': 8}", &[]), "x.npy: invalid header of a .npy file: `{'descr': 8}`"),
            (header("<f8", "(1,)"), "x.npy: elements of type `<f8` are no coefficients"),
            (header("<i8", "(1,)"), "x.npy: coefficient 0 is negative"),
            (header("<u8", "(01,)"), "x.npy: invalid header of a .npy file"),
            (
                file("{'descr': '<u8', 'fortran_order': False, 'shape': (1,)} 2\n", &[0; 8]),
                "x.npy: invalid header of a .npy file",
            ),
            (header("<u8", "()"), "x.npy: an array of shape [] has no coefficients"),
            (
                file("{'descr': '<u8', 'fortran_order': True, 'shape': (1, 1)}", &[0; 8]),
                "x.npy: an array of shape [1, 1] in Fortran order has no coefficients",
            ),
            (header("<u8", "(2,)"), "x.npy: the file has 8 bytes for shape [2] of 8 bytes each"),
            (
                header("<u8", "(4611686018427387904, 4)"),
                "x.npy: the file has 8 bytes for shape [4611686018427387904, 4]",
            ),
        ] {
            assert!(error(&bytes).starts_with(message), "{}", error(&bytes));
        }
    }
}
