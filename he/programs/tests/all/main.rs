//! Generated ring programs compute their formulas, with the counts of their sources.

mod bootstrap;
mod bytes;
mod circuits;
mod golden;
mod heir;
mod levels;
mod orion;
mod refused;
mod regions;
mod resnet20;
