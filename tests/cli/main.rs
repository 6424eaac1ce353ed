//! The command line as scripts and people use it.

mod common;
mod programs;
mod refuse;
mod reproduce;
mod sweep;
