//! The cycle model: rule by rule, over random programs, and against its stepped twin.

mod agreement;
mod ideal;
mod invariants;
mod random;
mod rules;
