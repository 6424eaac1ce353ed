//! The layout of the program `resnet20`: the pixels of all channels in the slots.

/// Maps of h x h pixels, of which k x k share a grid of k h x k h slots: pixel (y, x) of a grid's map (a, b)
/// is in its row k y + a, column k x + b. Grids follow each other, and all of it occurs several times, at
/// equal distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Maps {
    /// k: k x k channels are interleaved.
    pub gap: usize,
    /// h: the pixels of a side.
    pub side: usize,
    /// The grids.
    pub grids: usize,
    /// How often all of it occurs.
    pub copies: usize,
}

impl Maps {
    /// The channels that the first convolution has, and those that any layer has at least.
    pub const FEWEST: usize = 16;

    /// The baby steps of the classifier. Its 73 diagonals take 7 rotations of the operand and 9 of sums: no
    /// other power of two takes fewer.
    pub const BABIES: i64 = 8;

    /// Channels as often as the slots, a power of two, hold them.
    ///
    /// # Panics
    /// Panics if they do not hold them once.
    pub fn new(slots: usize, (gap, side): (usize, usize), channels: usize) -> Self {
        let grids = channels.div_ceil(gap * gap);
        let once = grids * (gap * side) * (gap * side);
        Self { gap, side, grids, copies: 1 << (slots / once).ilog2() }
    }

    /// The three maps of an image, the largest one of which [16](Self::FEWEST) channels take at most half of
    /// the slots.
    ///
    /// # Panics
    /// Panics if there are fewer than 32 slots.
    pub fn of_image(slots: usize) -> Self {
        let side = 1 << ((slots / (2 * Self::FEWEST)).ilog2() / 2);
        Self::new(slots, (1, side), 3)
    }

    /// The maps of a layer of some channels with these operands, at every pixel or at every second one in
    /// either direction.
    ///
    /// # Panics
    /// Panics if the slots do not hold them once.
    pub fn result(self, slots: usize, channels: usize, stride: usize) -> Self {
        Self::new(slots, (self.gap * stride, self.side / stride), channels)
    }

    /// The slots of a row of a grid.
    pub fn row(self) -> usize {
        self.gap * self.side
    }

    /// The slots of a grid.
    pub fn grid(self) -> usize {
        self.row() * self.row()
    }

    /// The slots from a row of pixels of a channel to the next.
    pub fn pixel_row(self) -> usize {
        self.gap * self.row()
    }

    /// The place of a channel's first pixel.
    pub fn place(self, channel: usize) -> usize {
        let (grid, inner) = (channel / (self.gap * self.gap), channel % (self.gap * self.gap));
        grid * self.grid() + inner / self.gap * self.row() + inner % self.gap
    }
}
