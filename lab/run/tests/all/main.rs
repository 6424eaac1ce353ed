//! Runs, their documents, and what shows and compares them.

mod crosscheck;
mod diff;
mod execute;
mod page;
mod profile;
mod samples;
mod table;
