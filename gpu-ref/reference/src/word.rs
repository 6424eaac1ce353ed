//! Word types of coefficients.

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

/// A coefficient's type: `u32`, `u64` or `u128`.
pub trait Word: bytemuck::Pod + Ord + std::fmt::Debug + Send + Sync + sealed::Sealed {
    /// Word size in bits.
    const BITS: u32;

    /// The value, extended to 128 bits.
    fn widen(self) -> u128;

    /// The low bits of `value`.
    fn narrow(value: u128) -> Self;
}

macro_rules! words {
    ($($word:ty),*) => {$(
        impl Word for $word {
            const BITS: u32 = <$word>::BITS;

            fn widen(self) -> u128 {
                self.into()
            }

            fn narrow(value: u128) -> Self {
                value as Self
            }
        }
    )*};
}
words!(u32, u64, u128);
