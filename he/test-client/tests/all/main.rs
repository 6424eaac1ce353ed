//! Encrypted computations keep their messages.

mod applications;
mod bootstrap;
mod ciphertexts;
mod circuits;
mod heir;
mod orion;
