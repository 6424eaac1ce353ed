//! The built-in machines, technologies and sweeps: TOML files of the folder `configs`, as text.
//!
//! ```
//! let (name, text) = configs::MACHINES[0];
//! assert_eq!(name, "fast");
//! assert!(text.contains("inherits = \"rpu-128x128.toml\""));
//! ```

/// A file: its name without `.toml`, and its text.
pub type File = (&'static str, &'static str);

macro_rules! file {
    ($folder:literal, $name:literal) => {
        ($name, include_str!(concat!("../", $folder, "/", $name, ".toml")))
    };
}

pub mod evaluation;

/// The built-in machines.
pub const MACHINES: &[File] = &[
    file!("machines", "fast"),
    file!("machines", "large"),
    file!("machines", "narrow"),
    file!("machines", "rpu-128x128"),
    file!("machines", "rpu-128x128-gs"),
    file!("machines", "rpu-128x128-paper"),
    file!("machines", "rpu-128x128-shared-reads"),
    file!("machines", "rpu-128x128-xor"),
];

/// The technology of the paper.
pub const GF12: &str = include_str!("../tech/gf12.toml");

/// The built-in technologies.
pub const TECHNOLOGIES: &[File] = &[("gf12", GF12), file!("tech", "gf12-built"), file!("tech", "scaled-7nm")];

/// The claims behind [`GF12`].
pub const GF12_CLAIMS: &str = include_str!("../tech/gf12.claims.toml");

/// The choices that the paper leaves open, with their values.
pub const PAPER_SETTING: &str = include_str!("../paper-setting.toml");

/// The built-in sweep: Fig. 4 of the paper.
pub const FIG4: &str = include_str!("../sweeps/fig4.toml");
