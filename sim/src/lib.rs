//! The Ring Processing Unit: machine description, functional execution and cycle model.

pub mod area;
pub mod energy;
pub mod machine;
pub mod tech;
pub mod timing;

pub use area::Area;
pub use energy::{Energy, Events};
pub use machine::{ConfigError, FitError, Machine, MachineFile, Override};
pub use tech::Technology;
