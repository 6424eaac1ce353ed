//! The runtime on random programs and on real traces.

mod bounds;
mod calls;
mod launches;
mod mappings;
mod profile;
mod random;
mod replay;
mod streams;
mod traces;

/// The number of cases of a test: the default, or the value of an environment variable.
pub(crate) fn cases(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number of cases"))
}
