//! Placement of labels beside their points, so that none covers a marker, a line or another label.

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
}

impl Page {
    /// An empty page; labels stay within `bounds`.
    pub(super) fn new(bounds: Rect) -> Self {
        Self { bounds, taken: Vec::new() }
    }

    /// Reserves a rectangle.
    pub(super) fn take(&mut self, rect: Rect) {
        self.taken.push(rect);
    }

    /// Reserves a line, `step` pixels at a time.
    pub(super) fn take_line(&mut self, from: (f64, f64), to: (f64, f64), step: f64) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let steps = (dx.hypot(dy) / step).ceil().max(1.0);
        for i in 0..=steps as u32 {
            let t = f64::from(i) / steps;
            self.take(Rect::around((from.0 + t * dx, from.1 + t * dy), step / 2.0));
        }
    }

    /// Finds the free position for a label of `size` that is nearest to `point`, at least `gap`
    /// away, and reserves it. Diagonal positions come first, because they avoid axis-parallel
    /// lines.
    pub(super) fn place(&mut self, point: (f64, f64), size: (f64, f64), gap: f64) -> Option<Rect> {
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
        let candidates = [1.0, 1.5, 2.2, 3.0, 4.0].into_iter().flat_map(|far| {
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
        });
        let place = candidates.into_iter().find(|place| self.is_free(place))?;
        self.take(place);
        Some(place)
    }

    fn is_free(&self, place: &Rect) -> bool {
        let inside = self.bounds.overlap(place) >= place.width * place.height * 0.999;
        inside && self.taken.iter().all(|taken| taken.overlap(place) == 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_off_each_other_and_off_lines() {
        let mut page = Page::new(Rect { x: 0.0, y: 0.0, width: 300.0, height: 300.0 });
        page.take_line((0.0, 150.0), (300.0, 150.0), 2.0);
        let places: Vec<Rect> = (0..12)
            .filter_map(|i| page.place((100.0 + 8.0 * f64::from(i), 150.0), (60.0, 12.0), 8.0))
            .collect();
        assert!(places.len() >= 6, "only {} labels found a place", places.len());
        for (i, a) in places.iter().enumerate() {
            assert!(places[..i].iter().all(|b| a.overlap(b) == 0.0));
            assert!(a.y + a.height <= 149.0 || a.y >= 151.0, "{a:?} covers the line");
        }
    }

    #[test]
    fn a_full_page_has_no_place() {
        let mut page = Page::new(Rect { x: 0.0, y: 0.0, width: 50.0, height: 50.0 });
        assert_eq!(page.place((25.0, 25.0), (60.0, 12.0), 5.0), None);
        page.take(Rect { x: 0.0, y: 0.0, width: 50.0, height: 50.0 });
        assert_eq!(page.place((25.0, 25.0), (10.0, 10.0), 5.0), None);
    }
}
