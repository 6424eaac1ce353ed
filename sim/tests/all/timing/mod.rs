//! The cycle model: each rule, random programs, and agreement with the stepped model.

mod agreement;
mod dominance;
mod ideal;
mod invariants;
mod overtaking;
mod queries;
mod rules;
