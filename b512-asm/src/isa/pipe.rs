//! The pipelines, and values that exist once per pipeline.

use std::ops::{Index, IndexMut};

/// Calls the macro `$callback` with the pipelines: documentation, variant, name in results, and
/// whether the pipeline executes vector instructions from a queue.
///
/// ```
/// macro_rules! names {
///     ($($(#[$doc:meta])* $variant:ident = $name:ident, $queued:literal;)*) => {
///         [$(concat!("busy_", stringify!($name))),*]
///     };
/// }
/// assert_eq!(b512_asm::for_each_pipe!(names)[1], "busy_compute");
/// ```
#[macro_export]
macro_rules! for_each_pipe {
    ($callback:ident) => {
        $callback! {
            /// Between VDM and VRF, through the vector crossbar (VBAR).
            LoadStore = load_store, true;
            /// In the LAW engines of the HPLEs.
            Compute = compute, true;
            /// Between vector registers, through the shuffle crossbar (SBAR).
            Shuffle = shuffle, true;
            /// In the front end's scalar unit, in order: scalar, address and modulus loads, and `halt`.
            Scalar = scalar, false;
        }
    };
}

macro_rules! define {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:ident, $queued:literal;)*) => {
        /// The unit that executes an instruction.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Pipe {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Pipe {
            /// Every pipeline, in the order of the table.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$variant),*];

            /// The name in results: `load_store`, `compute`, `shuffle`, `scalar`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($name),)*
                }
            }

            /// The place of execution, as a sentence.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),*).trim_ascii(),)*
                }
            }

            /// Whether the pipeline executes vector instructions, decoupled from the front end by
            /// a queue.
            pub const fn is_queued(self) -> bool {
                match self {
                    $(Self::$variant => $queued,)*
                }
            }
        }
    };
}

for_each_pipe!(define);

impl Pipe {
    /// The number of decoupled pipelines.
    const QUEUED: usize = {
        let (mut queued, mut i) = (0, 0);
        while i < Self::ALL.len() {
            queued += Self::ALL[i].is_queued() as usize;
            i += 1;
        }
        queued
    };

    /// The decoupled pipelines, in the order of the paper's queues. They come first in
    /// [`Pipe::ALL`].
    pub const VECTOR: [Self; Self::QUEUED] = {
        let (mut vector, mut i) = ([Self::ALL[0]; Self::QUEUED], 0);
        while i < Self::QUEUED {
            assert!(Self::ALL[i].is_queued(), "pipelines with a queue come first");
            vector[i] = Self::ALL[i];
            i += 1;
        }
        vector
    };

    /// The name for people: `load/store`, `compute`, `shuffle`, `scalar`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::LoadStore => "load/store",
            Self::Compute | Self::Shuffle | Self::Scalar => self.name(),
        }
    }

    /// The number in [`Pipe::ALL`]: load/store 0, compute 1, shuffle 2, scalar 3.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A value for each pipeline.
///
/// ```
/// use b512_asm::{PerPipe, Pipe};
///
/// let mut counts = PerPipe::<u64>::default();
/// counts[Pipe::Compute] += 1;
/// assert_eq!(counts.iter().filter(|(_, count)| **count > 0).count(), 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerPipe<T>([T; Pipe::ALL.len()]);

impl<T> PerPipe<T> {
    /// The values `value(pipe)`.
    #[inline]
    pub fn from_fn(mut value: impl FnMut(Pipe) -> T) -> Self {
        Self(std::array::from_fn(|i| value(Pipe::ALL[i])))
    }

    /// Applies `f` to each value.
    #[inline]
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> PerPipe<U> {
        PerPipe(self.0.map(f))
    }

    /// The pipelines and their values, in the order of [`Pipe::ALL`].
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Pipe, &T)> {
        Pipe::ALL.into_iter().zip(&self.0)
    }

    /// The values, in the order of [`Pipe::ALL`].
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }
}

impl<T> Index<Pipe> for PerPipe<T> {
    type Output = T;
    #[inline]
    fn index(&self, pipe: Pipe) -> &T {
        &self.0[pipe.index()]
    }
}

impl<T> IndexMut<Pipe> for PerPipe<T> {
    #[inline]
    fn index_mut(&mut self, pipe: Pipe) -> &mut T {
        &mut self.0[pipe.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_pipes_are_those_with_a_queue() {
        assert_eq!(Pipe::VECTOR, [Pipe::LoadStore, Pipe::Compute, Pipe::Shuffle]);
        assert_eq!(Pipe::ALL.map(Pipe::index), [0, 1, 2, 3]);
    }

    #[test]
    fn each_pipe_has_its_own_value() {
        let indices = PerPipe::from_fn(Pipe::index);
        assert!(indices.iter().all(|(pipe, &index)| index == pipe.index() && indices[pipe] == index));
    }
}
