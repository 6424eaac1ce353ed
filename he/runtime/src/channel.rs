//! The channel to the off-chip memory, one transfer at a time.

use sim::hbm::Span;
use sim::machine::Hbm;

/// The channel. A transfer takes the first gap that is long enough, since the order of transfers is
/// planned before the run.
#[derive(Debug)]
pub(crate) struct Channel<'m> {
    hbm: &'m Hbm,
    /// Idle intervals before `free_ns`, in order.
    gaps: Vec<Span>,
    free_ns: f64,
    busy_ns: f64,
}

/// Gaps that are remembered. Older ones are before the time of any new transfer in practice.
const GAPS: usize = 64;

impl<'m> Channel<'m> {
    pub(crate) fn new(hbm: &'m Hbm) -> Self {
        Self { hbm, gaps: Vec::new(), free_ns: 0.0, busy_ns: 0.0 }
    }

    /// The time in which the channel was busy.
    pub(crate) fn busy_ns(&self) -> f64 {
        self.busy_ns
    }

    /// Transfers bytes that are ready at `ready_ns`. Returns the time from the first word on the channel
    /// to the arrival of the last.
    pub(crate) fn transfer(&mut self, bytes: u64, ready_ns: f64) -> Span {
        if bytes == 0 {
            return Span { begin_ns: ready_ns, end_ns: ready_ns };
        }
        let length_ns = self.hbm.occupancy_ns(bytes);
        self.busy_ns += length_ns;
        let begin_ns = self.take_gap(length_ns, ready_ns).unwrap_or_else(|| {
            let begin_ns = self.free_ns.max(ready_ns);
            self.remember(self.gaps.len(), self.free_ns, begin_ns);
            self.free_ns = begin_ns + length_ns;
            begin_ns
        });
        Span { begin_ns, end_ns: begin_ns + length_ns + self.hbm.latency_ns }
    }

    fn take_gap(&mut self, length_ns: f64, ready_ns: f64) -> Option<f64> {
        let begin_ns = |gap: &Span| gap.begin_ns.max(ready_ns);
        let place = self.gaps.iter().position(|gap| begin_ns(gap) + length_ns <= gap.end_ns)?;
        let (gap, begin_ns) = (self.gaps[place], begin_ns(&self.gaps[place]));
        self.gaps.remove(place);
        self.remember(place, begin_ns + length_ns, gap.end_ns);
        self.remember(place, gap.begin_ns, begin_ns);
        Some(begin_ns)
    }

    fn remember(&mut self, place: usize, begin_ns: f64, end_ns: f64) {
        if end_ns > begin_ns {
            self.gaps.insert(place, Span { begin_ns, end_ns });
            if self.gaps.len() > GAPS {
                self.gaps.remove(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_takes_the_first_gap_that_is_long_enough() {
        let mut hbm = sim::Machine::rpu_128x128().hbm;
        hbm.gb_per_s = 1.0;
        hbm.latency_ns = 5.0;
        let unit = hbm.occupancy_ns(1);
        let mut channel = Channel::new(&hbm);
        let mut begin = |bytes, ready: f64| channel.transfer(bytes, ready * unit).begin_ns / unit;
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(begin(10, 100.0), 100.0));
        assert!(near(begin(60, 0.0), 0.0), "before the first");
        assert!(near(begin(60, 0.0), 110.0), "the gap is too short now");
        assert!(near(begin(30, 70.0), 70.0));
        assert!(near(begin(10, 0.0), 60.0), "a part of the gap is left");
        let last = channel.transfer(1, 0.0);
        assert!(near(last.begin_ns, 170.0 * unit) && near(last.end_ns, 171.0 * unit + 5.0));
        assert!(near(channel.busy_ns(), 171.0 * unit));
    }
}
