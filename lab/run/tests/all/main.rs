//! Runs, their documents, and what shows and compares them.

mod crosscheck;
mod diff;
mod execute;
mod page;
mod profile;
mod ring_file;
mod samples;
mod table;
