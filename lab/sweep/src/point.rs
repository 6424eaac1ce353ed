//! One point of a sweep: what runs, and on which machine.

use super::data::Data;
use super::key::PointKey;
use super::parameter::Settings;
use super::task::Task;
use super::workload::Workload;
use sim::Machine;
use std::sync::Arc;

/// One point.
#[derive(Clone, Debug)]
pub struct PlannedPoint {
    /// The hash of everything that determines the result, including the model.
    pub key: PointKey,
    /// The program, or the way to generate it.
    pub task: Task,
    /// The length of a stream of runs, if one is simulated.
    pub stream: Option<u32>,
    /// The machine on which it runs.
    pub machine: Arc<Machine>,
    /// The machine for which it is scheduled.
    pub scheduled_for: Arc<Machine>,
    /// The value of each column.
    pub settings: Settings,
}

impl PlannedPoint {
    /// The task of the point. Only points with the same one are comparable.
    pub fn workload(&self) -> Workload {
        Workload::of(&self.settings)
    }
}

/// Points that are made when they are needed.
pub(super) trait Source: Sync {
    /// The point with this index, which exists.
    fn point(&self, index: usize) -> PlannedPoint;

    /// The points with which it shares work.
    fn class(&self, index: usize) -> Class;

    /// The data with which programs are checked.
    fn data(&self) -> &Data;
}

/// The points that share work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Class {
    /// Equal for points that run the same program.
    pub(super) program: u128,
    /// Equal for points on whose machines a program takes the same cycles.
    pub(super) cycles: u128,
    /// Equal for points whose machines differ in their off-chip memory only, if they run the same program.
    pub(super) kernels: u128,
    /// Equal for points on whose machines a program has the same results, or the same fault.
    pub(super) results: u128,
}
