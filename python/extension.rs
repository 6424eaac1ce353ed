//! Nothing but a user of the library, so that `check.sh` can build it: see `Cargo.toml`.

extern crate _rpu;
