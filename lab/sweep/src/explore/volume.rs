//! Hypervolumes: how much a front achieves, in one number.

/// The volume of what is at least as large as some point, and smaller than the bound, in all coordinates. It
/// is summed over slices between the last coordinates of points. The bound has a coordinate or more.
pub(super) fn hypervolume(points: &[&[f64]], bound: &[f64]) -> f64 {
    let last = bound.len() - 1;
    let mut points: Vec<&[f64]> = points.iter().copied().filter(|point| point[last] < bound[last]).collect();
    points.sort_by(|a, b| a[last].total_cmp(&b[last]));
    if last == 0 {
        return points.first().map_or(0.0, |least| bound[0] - least[0]);
    }
    let ends = points.iter().skip(1).map(|next| next[last]).chain([bound[last]]);
    let slice = |(count, end): (usize, f64)| {
        let height = end - points[count - 1][last];
        if height > 0.0 { height * hypervolume(&points[..count], &bound[..last]) } else { 0.0 }
    };
    (1..).zip(ends.take(points.len())).map(slice).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_of_boxes_are_counted_once() {
        assert_eq!(hypervolume(&[], &[4.0, 4.0]), 0.0);
        let steps = [&[1.0, 3.0][..], &[2.0, 2.0], &[3.0, 1.0]];
        assert_eq!(hypervolume(&steps, &[4.0, 4.0]), 6.0);
        // Worse than another one, equal to one, and beyond the bound.
        let more = [&steps[..], &[&[3.0, 3.0], &[2.0, 2.0], &[0.0, 5.0], &[5.0, 0.0]]].concat();
        assert_eq!(hypervolume(&more, &[4.0, 4.0]), 6.0);
        // Two boxes with the edges (3, 2, 1) and (1, 2, 3) have a cube of 1 x 2 x 1 in common.
        let boxes = [&[1.0, 2.0, 3.0][..], &[3.0, 2.0, 1.0]];
        assert_eq!(hypervolume(&boxes, &[4.0, 4.0, 4.0]), 10.0);
        assert_eq!(hypervolume(&[&[1.0]], &[4.0]), 3.0);
    }
}
