//! The noise of a key switch.

/// The variance of a coefficient of the errors in keys: the square of 3.2, as in the homomorphic encryption
/// standard.
const ERROR_VARIANCE: f64 = 3.2 * 3.2;

/// What determines the noise.
pub(crate) struct KeySwitchNoise<'s> {
    /// The degree.
    pub(crate) n: f64,
    /// The expected number of nonzero coefficients of the secret, each 1 or -1.
    pub(crate) weight: f64,
    /// The number of moduli and log2 of the product of each digit.
    pub(crate) digits: &'s [(usize, f64)],
    /// The number of special moduli, and log2 of their product.
    pub(crate) special: (usize, f64),
    /// The plaintext modulus, or 1.
    pub(crate) t: f64,
}

impl KeySwitchNoise<'_> {
    /// log2 of the root of the mean square of an error's coefficient.
    ///
    /// A conversion of a moduli, of the product D, gives D times a sum of a numbers that are uniform from 0
    /// to 1: the polynomial d, whose coefficients have the mean square D^2 (a/12 + a^2/4). The error after
    /// the division by P is the sum over the digits of d e, with the error e of the key, divided by P; and
    /// the rounding r_0 + r_1 s of both results, where a coefficient of r_0 and r_1 is a sum of as many such
    /// numbers as there are special moduli.
    pub(crate) fn log2(&self) -> f64 {
        let mean_square = |terms: usize| terms as f64 / 12.0 + (terms as f64).powi(2) / 4.0;
        let (special, log2_p) = self.special;
        let products = self.digits.iter().map(|&(moduli, log2_d)| {
            self.n * ERROR_VARIANCE * mean_square(moduli) * (2.0 * (log2_d - log2_p)).exp2()
        });
        let rounding = mean_square(special) * (1.0 + self.weight);
        self.t.log2() + (products.sum::<f64>() + rounding).log2() / 2.0
    }
}
