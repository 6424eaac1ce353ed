//! Forwarding of stored vectors to their loads.

mod by_hand;
mod random;
