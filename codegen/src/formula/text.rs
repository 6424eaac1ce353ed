//! Formulas as text, in SPIRAL's notation.

use super::{Diagonal, Family, Formula, Index};
use std::fmt;

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Formula {
    /// Writes the formula. `last` is the last index of the enclosing product.
    fn write(&self, f: &mut fmt::Formatter<'_>, last: u32) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[Self], sign: &str| {
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    f.write_str(sign)?;
                }
                let product = matches!(part, Self::Compose(_) | Self::Product { .. });
                if matches!(part, Self::Tensor(_) | Self::Sum(_)) || product && sign != " " {
                    f.write_str("(")?;
                    part.write(f, last)?;
                    f.write_str(")")?;
                } else {
                    part.write(f, last)?;
                }
            }
            Ok(())
        };
        match self {
            Self::Identity(n) => write!(f, "I_{n}"),
            Self::Transform(transform) => write!(f, "{transform}"),
            Self::Stride { n, m } => write!(f, "L^{n}_{m}"),
            Self::Reversal(n) => write!(f, "R^{n}_2"),
            Self::Reciprocal(n) => write!(f, "1/{n}"),
            Self::Diagonal(Diagonal { n, family, inverse }) => {
                let inverse = if *inverse { "^-1" } else { "" };
                let indexed = |f: &mut fmt::Formatter<'_>, name, index| match index {
                    Index::At(i) => write!(f, "{name}^{n}_{i}{inverse}"),
                    Index::Ascending => write!(f, "{name}^{n}_i{inverse}"),
                    Index::Descending => write!(f, "{name}^{n}_{{{last}-i}}{inverse}"),
                };
                match *family {
                    Family::Twiddle(m) => write!(f, "T^{n}_{m}{inverse}"),
                    Family::Twist => write!(f, "P^{n}{inverse}"),
                    Family::Stage(index) => indexed(f, "D", index),
                    Family::Merged(index) => indexed(f, "W", index),
                }
            }
            Self::Tensor(parts) => list(f, parts, " (x) "),
            Self::Sum(parts) => list(f, parts, " (+) "),
            Self::Compose(parts) => list(f, parts, " "),
            Self::Product { count, factor } => {
                let last = count.saturating_sub(1);
                write!(f, "prod_{{i=0}}^{{{last}}} (")?;
                factor.write(f, last)?;
                f.write_str(")")
            }
        }
    }
}
