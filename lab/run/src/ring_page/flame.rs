//! The flame graph of a profile: stages, operations, functions and kernels, as wide as their times.

use crate::page_parts::{amount, colour};
use crate::speedscope::WAITING;
use maud::{Markup, html};
use runtime::Profile;

/// A name within those around it.
struct Frame<'p> {
    name: &'p str,
    time_ps: u64,
    inside: Vec<Frame<'p>>,
}

/// Frames of a smaller share of the time are too narrow to see.
const LEAST: f64 = 4e-4;

/// The height of a row, in rem.
const ROW: f64 = 1.35;

pub(super) fn flame(profile: &Profile) -> Markup {
    let mut all = Frame { name: "all", time_ps: 0, inside: Vec::new() };
    for entry in &profile.entries {
        let path: Vec<&str> = entry.owner.path().into_iter().chain([entry.kernel.as_str()]).collect();
        add(&mut all, &path, entry.time_ps - entry.waiting_ps);
        let path: Vec<&str> = path.into_iter().chain([WAITING]).collect();
        add(&mut all, &path, entry.waiting_ps);
    }
    let (mut shown, mut deepest) = (Vec::new(), 0);
    place(&all, (0.0, 0, 0), all.time_ps.max(1) as f64, &mut |frame: &Frame<'_>, left, depth, colour| {
        deepest = deepest.max(depth);
        shown.push((frame.name.to_owned(), frame.time_ps, left, depth, colour));
    });
    let whole = all.time_ps.max(1) as f64;
    html! {
        h3 { "Flame graph" }
        p {
            "Stages, operations inside them, functions, kernels; the width is the time. Grey is waiting for transfers."
            span.interactive { " A click on a name makes it as wide as the page." }
        }
        div.flame style=(format!("height:{:.2}rem", ROW * (deepest + 1) as f64)) {
            @for (name, time_ps, left, depth, number) in &shown {
                @let share = *time_ps as f64 / whole;
                @let style = format!("left:{:.3}%;width:{:.3}%;top:{:.2}rem", 100.0 * left, 100.0 * share, ROW * *depth as f64);
                @let title = format!("{name}: {}, {:.1} %", amount(*time_ps as f64 / 1e6, "µs"), 100.0 * share);
                b class=(if name == WAITING { "wait".to_owned() } else { colour(*number) }) style=(style) title=(title) { (name) }
            }
        }
    }
}

/// Adds a time to a path of names.
fn add<'p>(frame: &mut Frame<'p>, path: &[&'p str], time_ps: u64) {
    if time_ps == 0 {
        return;
    }
    frame.time_ps += time_ps;
    let Some((&name, rest)) = path.split_first() else { return };
    let place = frame.inside.iter().position(|inside| inside.name == name).unwrap_or_else(|| {
        frame.inside.push(Frame { name, time_ps: 0, inside: Vec::new() });
        frame.inside.len() - 1
    });
    add(&mut frame.inside[place], rest, time_ps);
}

/// Shows a frame and those inside it: where it begins, its depth, and the number of its colour, that of the
/// outermost name.
fn place<'p>(
    frame: &Frame<'p>,
    (left, depth, number): (f64, usize, usize),
    whole: f64,
    show: &mut impl FnMut(&Frame<'p>, f64, usize, usize),
) {
    show(frame, left, depth, number);
    let mut at = left;
    for (index, inside) in frame.inside.iter().enumerate() {
        let share = inside.time_ps as f64 / whole;
        if share >= LEAST {
            place(inside, (at, depth + 1, if depth == 0 { index } else { number }), whole, show);
        }
        at += share;
    }
}
