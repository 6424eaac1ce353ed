//! Properties that hold for any input.
//!
//! Each [`Target`] has a property, a function of bytes that panics if the project breaks a promise, and
//! seeds, which are real inputs. The tests of this crate call the properties on a fixed number of damaged
//! copies of the seeds. The command calls all of them for a given time, on all cores:
//!
//! ```text
//! cargo run --release -p fuzz -- --seconds 600
//! ```
//!
//! libFuzzer, which follows coverage, calls the one that `FUZZ_TARGET` names:
//!
//! ```text
//! cargo install cargo-fuzz
//! FUZZ_TARGET=timing cargo +nightly fuzz run --fuzz-dir tests/fuzz --features libfuzzer --sanitizer none any \
//!     tests/fuzz/corpus/timing tests/fuzz/seeds/timing
//! ```

mod damage;
pub mod properties;
mod seeds;

pub use damage::Damage;
use std::path::Path;

/// A property, and the inputs from which damaged ones are made.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Panics if the property does not hold of an input.
    pub property: fn(&[u8]),
    /// Reads the seeds from the repository in a folder.
    pub seeds: fn(&Path) -> Vec<Vec<u8>>,
    /// The number of damaged inputs in a test.
    pub cases: u32,
}

/// All targets.
pub const TARGETS: [Target; 31] = [
    Target { name: "timing", property: properties::timing, seeds: seeds::timing, cases: 500 },
    Target { name: "assembler", property: properties::assembler, seeds: seeds::sources, cases: 5000 },
    Target { name: "calls", property: properties::calls, seeds: seeds::calls, cases: 3000 },
    Target { name: "writers", property: properties::writers, seeds: seeds::sources, cases: 3000 },
    Target { name: "conditions", property: properties::conditions, seeds: seeds::conditions, cases: 5000 },
    Target { name: "words", property: properties::words, seeds: seeds::words, cases: 5000 },
    Target { name: "object", property: properties::object, seeds: seeds::objects, cases: 5000 },
    Target { name: "machine", property: properties::machine, seeds: seeds::machines, cases: 5000 },
    Target { name: "sweep", property: properties::sweep, seeds: seeds::sweeps, cases: 1000 },
    Target { name: "recipe", property: properties::recipe, seeds: seeds::recipes, cases: 500 },
    Target { name: "parameter_set", property: properties::parameter_set, seeds: seeds::sets, cases: 100 },
    Target { name: "document", property: properties::document, seeds: seeds::documents, cases: 2000 },
    Target {
        name: "ring_program",
        property: properties::ring_program,
        seeds: seeds::ring_programs,
        cases: 3000,
    },
    Target { name: "manifest", property: properties::manifest, seeds: seeds::manifests, cases: 5000 },
    Target { name: "functional", property: properties::functional, seeds: seeds::words, cases: 1000 },
    Target { name: "checkers", property: properties::checkers, seeds: seeds::faults, cases: 500 },
    Target {
        name: "machine_file",
        property: properties::machine_file,
        seeds: seeds::machine_files,
        cases: 1000,
    },
    Target { name: "journal", property: properties::journal, seeds: seeds::journals, cases: 500 },
    Target { name: "record", property: properties::record, seeds: seeds::journals, cases: 50 },
    Target {
        name: "sweep_manifest",
        property: properties::sweep_manifest,
        seeds: seeds::sweep_manifests,
        cases: 100,
    },
    Target { name: "technology", property: properties::technology, seeds: seeds::technologies, cases: 1000 },
    Target { name: "claims", property: properties::claims, seeds: seeds::claims, cases: 20 },
    Target { name: "plan", property: properties::plan, seeds: seeds::plans, cases: 1000 },
    Target { name: "table", property: properties::table, seeds: seeds::tables, cases: 200 },
    Target { name: "variants", property: properties::variants, seeds: seeds::variants, cases: 100 },
    Target { name: "ring_variants", property: properties::ring_variants, seeds: seeds::variants, cases: 20 },
    Target { name: "data", property: properties::data, seeds: seeds::data, cases: 5000 },
    Target { name: "mapping", property: properties::mapping, seeds: seeds::mappings, cases: 2000 },
    Target { name: "heir", property: properties::heir, seeds: seeds::heir, cases: 200 },
    Target { name: "orion", property: properties::orion, seeds: seeds::orion, cases: 200 },
    Target { name: "trace", property: properties::trace, seeds: seeds::timing, cases: 200 },
];

/// The repository of this crate.
pub fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
