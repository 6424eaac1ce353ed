//! Time accounting of a sweep.

use std::ops::AddAssign;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time of all threads, by activity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    /// Programs generated.
    pub programs: u32,
    /// Time in the code generator.
    pub generation: Duration,
    /// Programs executed on data.
    pub executions: u32,
    /// Time in the functional simulator, including drawing the data.
    pub execution: Duration,
    /// Results computed by the golden model.
    pub answers: u32,
    /// Time in the golden model.
    pub golden: Duration,
    /// Points simulated in time.
    pub points: u32,
    /// Time in the cycle model and in reports.
    pub timing: Duration,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.generation += other.generation;
        self.executions += other.executions;
        self.execution += other.execution;
        self.answers += other.answers;
        self.golden += other.golden;
        self.points += other.points;
        self.timing += other.timing;
    }
}

/// Accumulates the times.
#[derive(Default)]
pub(super) struct Meter(Mutex<Spent>);

impl Meter {
    pub(super) fn spent(self) -> Spent {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn measure<T>(&self, work: impl FnOnce() -> T, part: fn(&mut Spent) -> (&mut u32, &mut Duration)) -> T {
        let begin = Instant::now();
        let done = work();
        let elapsed = begin.elapsed();
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, time) = part(&mut spent);
        *count += 1;
        *time += elapsed;
        done
    }

    pub(super) fn generation<T>(&self, work: impl FnOnce() -> T) -> T {
        self.measure(work, |spent| (&mut spent.programs, &mut spent.generation))
    }

    pub(super) fn execution<T>(&self, work: impl FnOnce() -> T) -> T {
        self.measure(work, |spent| (&mut spent.executions, &mut spent.execution))
    }

    pub(super) fn golden<T>(&self, work: impl FnOnce() -> T) -> T {
        self.measure(work, |spent| (&mut spent.answers, &mut spent.golden))
    }

    pub(super) fn timing<T>(&self, work: impl FnOnce() -> T) -> T {
        self.measure(work, |spent| (&mut spent.points, &mut spent.timing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_add_up_by_activity() {
        let spent = |factor: u32| {
            let time = |part: u32| Duration::from_millis(u64::from(part * factor));
            Spent {
                programs: factor,
                generation: time(2),
                executions: 3 * factor,
                execution: time(4),
                answers: 5 * factor,
                golden: time(6),
                points: 7 * factor,
                timing: time(8),
            }
        };
        let mut sum = spent(1);
        sum += spent(2);
        assert_eq!(sum, spent(3));

        let meter = Meter::default();
        let wait = Duration::from_millis(1);
        (0..3).for_each(|_| meter.generation(|| std::thread::sleep(wait)));
        let spent = meter.spent();
        assert!(spent.programs == 3 && spent.generation >= 3 * wait, "{spent:?}");
        assert_eq!((spent.points, spent.timing), (0, Duration::ZERO));
    }
}
