//! Charts and fronts.

mod bars;
mod charts;
mod pareto;
mod print;
mod texts;
