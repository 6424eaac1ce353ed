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
        Self { bounds, taken: Vec::new(), avoided: Vec::new() }
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

    fn is_free(&self, place: &Rect) -> bool {
        let inside = self.bounds.overlap(place) >= place.width * place.height * 0.999;
        inside && self.taken.iter().all(|taken| taken.overlap(place) == 0.0)
    }
}

/// The distance in gaps above which a line joins a label to its point.
const NEAR: f64 = 2.0;

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
    fn a_full_page_has_no_place() {
        let mut page = Page::new(Rect { x: 0.0, y: 0.0, width: 50.0, height: 50.0 });
        assert_eq!(page.place((25.0, 25.0), (60.0, 12.0), 5.0, 4.0), None);
        page.take(Rect { x: 0.0, y: 0.0, width: 50.0, height: 50.0 });
        assert_eq!(page.place((25.0, 25.0), (10.0, 10.0), 5.0, 4.0), None);
    }
}
