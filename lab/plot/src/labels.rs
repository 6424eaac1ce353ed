//! Placement of labels next to their points, so that none covers a marker, a line or another label.

/// A rectangle in pixels; `y` grows downwards.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    /// A square around a point.
    pub(super) fn around((x, y): (f64, f64), radius: f64) -> Self {
        Self { x: x - radius, y: y - radius, width: 2.0 * radius, height: 2.0 * radius }
    }

    /// The rectangle with `room` around it.
    pub(super) fn wider(&self, room: f64) -> Self {
        let (x, y) = (self.x - room, self.y - room);
        Self { x, y, width: self.width + 2.0 * room, height: self.height + 2.0 * room }
    }

    /// Whether a point lies in it.
    fn has(&self, (x, y): (f64, f64)) -> bool {
        (self.x..=self.x + self.width).contains(&x) && (self.y..=self.y + self.height).contains(&y)
    }

    /// The distance between two rectangles.
    fn distance(&self, other: &Self) -> f64 {
        let along = |a: f64, a_len: f64, b: f64, b_len: f64| (a.max(b) - (a + a_len).min(b + b_len)).max(0.0);
        along(self.x, self.width, other.x, other.width).hypot(along(
            self.y,
            self.height,
            other.y,
            other.height,
        ))
    }

    /// The area of the intersection of two rectangles.
    fn overlap(&self, other: &Self) -> f64 {
        let along = |a: f64, a_len: f64, b: f64, b_len: f64| (a + a_len).min(b + b_len) - a.max(b);
        let (x, y) = (
            along(self.x, self.width, other.x, other.width),
            along(self.y, self.height, other.y, other.height),
        );
        if x > 0.0 && y > 0.0 { x * y } else { 0.0 }
    }
}

/// The occupied areas of a page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    bounds: Rect,
    taken: Vec<Rect>,
    /// Rectangles that a label may cover if no free placement exists.
    avoided: Vec<Rect>,
    /// Those of the taken rectangles that are no line: a leader keeps off them too.
    solid: Vec<Rect>,
    /// The lines from points to their labels, of labels that [`arrange`](Self::arrange) has placed.
    leaders: Vec<Line>,
}

/// A line between two points.
type Line = [(f64, f64); 2];

/// A label that needs a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// Its point.
    pub(super) point: (f64, f64),
    /// Its width and height.
    pub(super) size: (f64, f64),
    /// The least distance from the point.
    pub(super) gap: f64,
    /// The largest distance, in gaps.
    pub(super) farthest: f64,
    /// Whether it goes before labels that are not needed.
    pub(super) needed: bool,
}

/// The placement of a label.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Placement {
    pub(super) rect: Rect,
    /// Whether it covers a line that it should avoid.
    pub(super) covers: bool,
    /// The end of a line from the point to a label that is far from it.
    pub(super) leader: Option<(f64, f64)>,
}

impl Page {
    /// An empty page; labels stay within `bounds`.
    pub(super) fn new(bounds: Rect) -> Self {
        Self { bounds, taken: Vec::new(), avoided: Vec::new(), solid: Vec::new(), leaders: Vec::new() }
    }

    /// The area in which labels stay.
    pub(super) fn bounds(&self) -> Rect {
        self.bounds
    }

    /// What a rectangle would cover of the reserved ones.
    pub(super) fn covered(&self, place: &Rect) -> f64 {
        self.taken.iter().map(|taken| taken.overlap(place)).sum()
    }

    /// Reserves a rectangle.
    pub(super) fn take(&mut self, rect: Rect) {
        self.taken.push(rect);
        self.solid.push(rect);
    }

    /// Reserves a line, `step` pixels at a time.
    pub(super) fn take_line(&mut self, from: (f64, f64), to: (f64, f64), step: f64) {
        self.taken.extend(along(from, to, step));
    }

    /// Lets labels avoid a line if they can.
    pub(super) fn avoid_line(&mut self, from: (f64, f64), to: (f64, f64), step: f64) {
        self.avoided.extend(along(from, to, step));
    }

    /// Finds the free position for a label of `size` that is nearest to `point`, at least `gap` away, and
    /// reserves it. Diagonal positions come first, because they avoid axis-parallel lines. If all positions
    /// cover an avoided line, it is the nearest one of these. The distance is at most `farthest` gaps.
    pub(super) fn place(
        &mut self,
        point: (f64, f64),
        size: (f64, f64),
        gap: f64,
        farthest: f64,
    ) -> Option<Placement> {
        const DIRECTIONS: [(f64, f64); 8] = [
            (1.0, -1.0),
            (-1.0, 1.0),
            (1.0, 1.0),
            (-1.0, -1.0),
            (1.0, 0.0),
            (-1.0, 0.0),
            (0.0, -1.0),
            (0.0, 1.0),
        ];
        let at = |far: f64| {
            DIRECTIONS.into_iter().map(move |(right, down)| {
                // For diagonal positions, the nearest point is the corner, else the middle of an
                // edge.
                let gap = if right != 0.0 && down != 0.0 { gap * far * 0.7 } else { gap * far };
                Rect {
                    x: point.0 + right * gap + (right - 1.0) / 2.0 * size.0,
                    y: point.1 + down * gap + (down - 1.0) / 2.0 * size.1,
                    width: size.0,
                    height: size.1,
                }
            })
        };
        let candidates = || {
            let distances = [1.0, 1.5, 2.2, 3.0, 4.0, 6.0, 9.0, 13.0].into_iter();
            let distances = distances.take_while(|far| *far <= farthest);
            let places = distances.flat_map(|far| at(far).map(move |rect| (far, rect)));
            places.filter(|(_, rect)| self.is_free(rect))
        };
        let covers = |rect: &Rect| self.avoided.iter().any(|avoided| avoided.overlap(rect) > 0.0);
        let free = candidates().find(|(_, rect)| !covers(rect));
        let covers = free.is_none();
        let (far, rect) = free.or_else(|| candidates().next())?;
        // The nearest point of the label.
        let end = (point.0.clamp(rect.x, rect.x + rect.width), point.1.clamp(rect.y, rect.y + rect.height));
        let leader = (far > NEAR).then_some(end);
        self.take(rect);
        if let Some(end) = leader {
            self.avoid_line(point, end, gap / 4.0);
        }
        Some(Placement { rect, covers, leader })
    }

    /// Places many labels at once: what one of them needs moves another. In each round the labels choose one
    /// after the other, first those that have had the worst places so far: squeaky wheel optimisation. At the
    /// end each one moves to the best place beside all others.
    pub(super) fn arrange(&self, wishes: &[Wish]) -> Vec<Option<Placement>> {
        let mut order: Vec<usize> = (0..wishes.len()).collect();
        order.sort_by_key(|&i| !wishes[i].needed);
        let mut blame = vec![0.0; wishes.len()];
        let mut best = (f64::INFINITY, vec![None; wishes.len()]);
        for _ in 0..ROUNDS {
            let mut page = self.clone();
            let mut places = vec![None; wishes.len()];
            let mut sum = 0.0;
            for &i in &order {
                let cost = match page.cheapest(&wishes[i]) {
                    Some((cost, placement)) => {
                        places[i] = Some(placement);
                        cost
                    }
                    None if wishes[i].needed => MISSING,
                    None => 1.0,
                };
                sum += cost;
                blame[i] += cost;
            }
            if sum < best.0 {
                best = (sum, places);
            }
            order.sort_by(|&a, &b| {
                wishes[b].needed.cmp(&wishes[a].needed).then(f64::total_cmp(&blame[b], &blame[a]))
            });
        }
        let mut places = best.1;
        for _ in 0..SETTLE {
            for i in 0..wishes.len() {
                places[i] = None;
                let mut page = self.clone();
                for (wish, place) in wishes.iter().zip(&places) {
                    place.iter().for_each(|place| page.put(wish.point, *place));
                }
                places[i] = page.cheapest(&wishes[i]).map(|(_, placement)| placement);
            }
        }
        places
    }

    /// Reserves a label with its leader.
    fn put(&mut self, point: (f64, f64), placement: Placement) {
        self.take(placement.rect);
        self.leaders.extend(placement.leader.map(|end| [point, end]));
    }

    /// The best place of a label beside those placed before it, with what it costs in gaps of distance, and
    /// reserves it.
    fn cheapest(&mut self, wish: &Wish) -> Option<(f64, Placement)> {
        let Wish { point, size, gap, farthest, .. } = *wish;
        let distances = DISTANCES.into_iter().take_while(|far| *far <= farthest);
        let turns = distances.flat_map(|far| (0..DIRECTIONS).map(move |turn| (far, turn)));
        let places = turns.map(|(far, turn)| {
            let angle = std::f64::consts::TAU * f64::from(turn) / f64::from(DIRECTIONS);
            // The nearest point of the label lies in this direction: its corner on diagonals, else a point of
            // an edge.
            let (right, down) = (angle.cos(), -angle.sin());
            let shift = |along: f64| ((2.0 * along).clamp(-1.0, 1.0) - 1.0) / 2.0;
            let rect = Rect {
                x: point.0 + gap * far * right + shift(right) * size.0,
                y: point.1 + gap * far * down + shift(down) * size.1,
                width: size.0,
                height: size.1,
            };
            (far, rect)
        });
        let free = places.filter(|(_, rect)| self.is_free(rect));
        let costs = free.map(|(far, rect)| {
            let end =
                (point.0.clamp(rect.x, rect.x + rect.width), point.1.clamp(rect.y, rect.y + rect.height));
            let leader = (far > BESIDE).then_some(end);
            let covers = self.avoided.iter().any(|avoided| avoided.overlap(&rect) > 0.0);
            let mut cost = far - 1.0 + if covers { 1.0 } else { 0.0 };
            cost += CROSSED * self.leaders.iter().filter(|leader| crosses(**leader, &rect)).count() as f64;
            let others = || self.solid.iter().filter(|solid| !solid.has(point));
            if leader.is_some() {
                cost += CROSSED * others().filter(|solid| crosses([point, end], solid)).count() as f64;
                cost += 2.0 * self.leaders.iter().filter(|other| cross([point, end], **other)).count() as f64;
            } else if others().any(|solid| solid.distance(&rect) < 0.5 * gap) {
                // It seems to be the other one's.
                cost += 1.5;
            }
            (cost, Placement { rect, covers, leader })
        });
        let best = costs.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        self.put(point, best.1);
        Some(best)
    }

    fn is_free(&self, place: &Rect) -> bool {
        let inside = self.bounds.overlap(place) >= place.width * place.height * 0.999;
        inside && self.taken.iter().all(|taken| taken.overlap(place) == 0.0)
    }
}

/// The distance in gaps above which a line joins a label to its point.
const NEAR: f64 = 2.0;

/// The distance in gaps above which a line joins a label to its point, where many stand close.
const BESIDE: f64 = 1.5;
/// The distances that [`Page::arrange`] tries, in gaps, and its directions.
const DISTANCES: [f64; 9] = [1.0, 1.4, 2.0, 2.8, 3.8, 5.0, 6.5, 8.5, 11.0];
const DIRECTIONS: u32 = 24;
/// What a leader over a label or a marker costs, in gaps of distance.
const CROSSED: f64 = 5.0;
/// The rounds of [`Page::arrange`], the rounds at its end, and what a needed label without a place costs.
const ROUNDS: u32 = 60;
const SETTLE: u32 = 3;
const MISSING: f64 = 100.0;

/// Whether a line goes through a rectangle.
fn crosses(line: Line, rect: &Rect) -> bool {
    let [(x0, y0), (x1, y1)] = line;
    // The part of the line, from 0 to 1, that lies between two parallels.
    let between = |from: f64, to: f64, low: f64, high: f64| {
        if from == to {
            return if (low..=high).contains(&from) { (0.0, 1.0) } else { (1.0, 0.0) };
        }
        let (a, b) = ((low - from) / (to - from), (high - from) / (to - from));
        (a.min(b), a.max(b))
    };
    let across = between(x0, x1, rect.x, rect.x + rect.width);
    let down = between(y0, y1, rect.y, rect.y + rect.height);
    across.0.max(down.0).max(0.0) < across.1.min(down.1).min(1.0)
}

/// Whether two lines cross.
fn cross([a, b]: Line, [c, d]: Line) -> bool {
    let side = |from: (f64, f64), to: (f64, f64), at: (f64, f64)| {
        (to.0 - from.0) * (at.1 - from.1) - (to.1 - from.1) * (at.0 - from.0)
    };
    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}

/// Squares along a line.
fn along(from: (f64, f64), to: (f64, f64), step: f64) -> impl Iterator<Item = Rect> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = (dx.hypot(dy) / step).ceil().max(1.0);
    (0..=steps as u32).map(move |i| {
        let t = f64::from(i) / steps;
        Rect::around((from.0 + t * dx, from.1 + t * dy), step / 2.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_off_each_other_and_off_lines() {
        let mut page = Page::new(Rect { x: 0.0, y: 0.0, width: 300.0, height: 300.0 });
        page.take_line((0.0, 150.0), (300.0, 150.0), 2.0);
        let places: Vec<Rect> = (0..12)
            .filter_map(|i| page.place((100.0 + 8.0 * f64::from(i), 150.0), (60.0, 12.0), 8.0, 4.0))
            .map(|place| place.rect)
            .collect();
        assert!(places.len() >= 6, "only {} labels found a place", places.len());
        for (i, a) in places.iter().enumerate() {
            assert!(places[..i].iter().all(|b| a.overlap(b) == 0.0));
            assert!(a.y + a.height <= 149.0 || a.y >= 151.0, "{a:?} covers the line");
        }
    }

    #[test]
    fn labels_avoid_lines_that_they_may_cover_and_are_joined_to_far_points() {
        let empty = Page::new(Rect { x: 0.0, y: 0.0, width: 300.0, height: 300.0 });
        let (point, size, gap) = ((150.0, 150.0), (60.0, 12.0), 8.0);
        let first = empty.clone().place(point, size, gap, 4.0).unwrap();
        assert_eq!((first.covers, first.leader), (false, None));
        // A line through the first placement.
        let mut page = empty.clone();
        page.avoid_line((150.0, 140.0), (300.0, 140.0), 2.0);
        let second = page.place(point, size, gap, 4.0).unwrap();
        assert!(!second.covers && second.rect != first.rect);
        // Lines everywhere.
        let mut page = empty.clone();
        (0..60).for_each(|i| page.avoid_line((0.0, 5.0 * f64::from(i)), (300.0, 5.0 * f64::from(i)), 2.0));
        let covering = page.place(point, size, gap, 4.0).unwrap();
        assert!(covering.covers && covering.rect == first.rect);
        // All near placements are occupied.
        let mut page = empty;
        page.take(Rect::around(point, 2.1 * gap));
        let far = page.place(point, size, gap, 4.0).unwrap();
        let end = far.leader.expect("a line to the label");
        assert!((end.0 - point.0).hypot(end.1 - point.1) > 2.0 * gap * 0.7);
    }

    #[test]
    fn labels_make_room_for_each_other() {
        // A row of points: labels beside each one would cover the next.
        let wishes: Vec<Wish> = (0..9)
            .map(|i| Wish {
                point: (30.0 + 30.0 * f64::from(i), 75.0),
                size: (60.0, 12.0),
                gap: 8.0,
                farthest: 9.0,
                needed: true,
            })
            .collect();
        let mut page = Page::new(Rect { x: 0.0, y: 0.0, width: 300.0, height: 150.0 });
        wishes.iter().for_each(|wish| page.take(Rect::around(wish.point, 5.0)));
        let places: Vec<_> = page.arrange(&wishes).into_iter().map(|place| place.expect("a place")).collect();
        assert_eq!(page.arrange(&wishes), places.iter().copied().map(Some).collect::<Vec<_>>());
        for (i, a) in places.iter().enumerate() {
            let leader = a.leader.map(|end| [wishes[i].point, end]);
            for b in places.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, b)| b) {
                assert_eq!(a.rect.overlap(&b.rect), 0.0);
                assert!(!leader.is_some_and(|leader| crosses(leader, &b.rect)), "{a:?} crosses {b:?}");
            }
        }
    }

    #[test]
    fn a_label_without_room_is_left_out() {
        let page = Page::new(Rect { x: 0.0, y: 0.0, width: 50.0, height: 50.0 });
        let wish = |width: f64| Wish {
            point: (25.0, 25.0),
            size: (width, 12.0),
            gap: 5.0,
            farthest: 4.0,
            needed: true,
        };
        let places = page.arrange(&[wish(60.0), wish(20.0)]);
        assert!(places[0].is_none() && places[1].is_some());
        assert!(page.arrange(&[]).is_empty());
    }

    #[test]
    fn lines_cross() {
        let rect = Rect { x: 1.0, y: 1.0, width: 2.0, height: 1.0 };
        assert!(crosses([(0.0, 0.0), (4.0, 2.0)], &rect) && crosses([(2.0, 0.0), (2.0, 3.0)], &rect));
        assert!(!crosses([(0.0, 0.0), (0.5, 3.0)], &rect) && !crosses([(2.0, 2.5), (2.0, 3.0)], &rect));
        assert!(cross([(0.0, 0.0), (2.0, 2.0)], [(0.0, 2.0), (2.0, 0.0)]));
        assert!(!cross([(0.0, 0.0), (2.0, 2.0)], [(3.0, 0.0), (5.0, 1.0)]));
    }

    #[test]
    fn a_full_page_has_no_place() {
        let mut page = Page::new(Rect { x: 0.0, y: 0.0, width: 50.0, height: 50.0 });
        assert_eq!(page.place((25.0, 25.0), (60.0, 12.0), 5.0, 4.0), None);
        page.take(Rect { x: 0.0, y: 0.0, width: 50.0, height: 50.0 });
        assert_eq!(page.place((25.0, 25.0), (10.0, 10.0), 5.0, 4.0), None);
    }
}
