//! JSON schemas of this crate's TOML formats.

use crate::fit::Claims;
use crate::setting::Space;
use lab_sweep::schema::Format;

/// The formats of the fits.
pub const FORMATS: &[Format] = &[
    Format {
        name: "claims",
        files: "claims about a technology: `rpu fit FILE`",
        schema: || Claims::schema().value().clone(),
    },
    Format {
        name: "setting",
        files: "the readings of the paper: `rpu fit --setting`",
        schema: || Space::schema().value().clone(),
    },
];
