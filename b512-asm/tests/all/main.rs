//! The assembler, through its public interface.

mod files;
mod kernels;
mod object;
mod reference;
mod round_trip;
