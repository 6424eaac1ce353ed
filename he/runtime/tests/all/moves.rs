//! Times in other orders of the launches: what a search finds, where [`least_in_any_order_ns`](crate::bounds::least_in_any_order_ns)
//! is the least that there could be.

use ring_program::RingProgram;
use runtime::lift::Launch;
use runtime::{Flow, Keys, Launches, Plan, Runtime, Timeline};
use sim::Machine;

/// The fastest timeline in orders in which each launch has moved once: to directly behind what it depends on, or to directly before what
/// depends on it, if the program does not take longer then. A move that gains nothing makes room for others.
pub(crate) fn moved(program: &RingProgram, machine: &Machine, runtime: &Runtime<'_>) -> Timeline {
    let flow = Flow::of(program);
    let time = |launches: &Launches| {
        let (flow, kernels, keys) = (&flow, runtime.kernels(), Keys::Streamed);
        Plan { program, flow, launches, kernels, machine, keys, record: false }.timeline()
    };
    let mut launches = runtime.launches().clone();
    let mut best = time(&launches).expect("the program fits in its own order");
    // The launches by their places at the beginning.
    let mut order: Vec<usize> = (0..launches.launches.len()).collect();
    for launch in 0..order.len() {
        let from = order.iter().position(|&other| other == launch).expect("each launch has a place");
        let mut kept = None;
        for to in ends(&launches, from).into_iter().filter(|&to| to != from) {
            move_one(&mut launches.launches, from, to);
            if let Ok(timeline) = time(&launches)
                && timeline.total_ns <= best.total_ns
                && (kept.is_none() || timeline.total_ns < best.total_ns)
            {
                (best, kept) = (timeline, Some(to));
            }
            move_one(&mut launches.launches, to, from);
        }
        if let Some(to) = kept {
            move_one(&mut launches.launches, from, to);
            move_one(&mut order, from, to);
        }
    }
    best
}

/// The first and the last place of a launch among the others.
fn ends(launches: &Launches, place: usize) -> [usize; 2] {
    let all = &launches.launches;
    let reads = |reader: &Launch, maker: &Launch| {
        launches.sources(reader).iter().any(|read| launches.results(maker).contains(read))
    };
    let maker = (0..place).rev().find(|&other| reads(&all[place], &all[other]));
    let reader = (place + 1..all.len()).find(|&other| reads(&all[other], &all[place]));
    [maker.map_or(0, |maker| maker + 1), reader.unwrap_or(all.len()) - 1]
}

fn move_one<T>(items: &mut [T], from: usize, to: usize) {
    if from < to {
        items[from..=to].rotate_left(1);
    } else {
        items[to..=from].rotate_right(1);
    }
}
