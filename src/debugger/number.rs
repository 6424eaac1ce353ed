//! Words as text.

/// The form in which words are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// Hexadecimal, after `0x`.
    #[default]
    Hex,
    /// Decimal.
    Decimal,
    /// Decimal, with residues above q/2 as negative numbers.
    Centred,
}

impl Format {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hex => "hexadecimal",
            Self::Decimal => "decimal",
            Self::Centred => "centred",
        }
    }

    /// The next form, around.
    pub const fn next(self) -> Self {
        match self {
            Self::Hex => Self::Decimal,
            Self::Decimal => Self::Centred,
            Self::Centred => Self::Hex,
        }
    }

    /// A word as text; a residue if `modulus` is given.
    pub fn text(self, word: u128, modulus: Option<u128>) -> String {
        match (self, modulus) {
            (Self::Hex, _) => format!("{word:#x}"),
            (Self::Centred, Some(q)) if word < q && word > q / 2 => format!("-{}", q - word),
            (Self::Decimal | Self::Centred, _) => word.to_string(),
        }
    }
}

/// Words in lines: each begins with the index of its first word. As many to a line as fit `width` characters,
/// a power of two, at least one.
pub fn rows(words: &[u128], modulus: Option<u128>, format: Format, width: usize) -> Vec<String> {
    let texts: Vec<String> = words.iter().map(|&word| format.text(word, modulus)).collect();
    let longest = texts.iter().map(String::len).max().unwrap_or(0);
    let index = words.len().saturating_sub(1).to_string().len();
    let fit = (width.saturating_sub(index + 1) / (longest + 1)).max(1);
    let per_row = 1 << fit.ilog2();
    let row = |(row, texts): (usize, &[String])| {
        let texts: String = texts.iter().map(|text| format!(" {text:>longest$}")).collect();
        format!("{:>index$}:{texts}", row * per_row)
    };
    texts.chunks(per_row).enumerate().map(row).collect()
}
