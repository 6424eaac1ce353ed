//! Experiments with CUDA transforms: what four papers claim, the fastest recipes, and several devices.
//!
//! [`claims`] has the speedups that the papers claim, as pairs of variants; `--example ablation` measures all
//! of them. [`variants`] has the papers' own recipes, and [`sequence`] their graphs of launches. `--example
//! bench` times the strategies of `gpu_ref`, `--example tune` searches for a faster recipe of the fastest,
//! and `--example multi` divides work among devices, as [`multi`] does. [`pages`] makes the tables of
//! `reports/gpu` from their output.

#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod claims;
pub mod measure;
pub mod multi;
pub mod pages;
pub mod sequence;
pub mod variants;
