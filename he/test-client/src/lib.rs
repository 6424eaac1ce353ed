//! The client's side of homomorphic encryption: keys, encoding, encryption, decryption.
//!
//! It is for tests and examples of ring programs, and **not secure**: keys come from a seed, the random
//! numbers are not cryptographic, and parameters are small. [`NOT_SECURE`] says so in all output.
//!
//! * A [`Client`] has the secret key of a [`ParameterSet`](programs::ParameterSet). It makes keys for the
//!   generated programs, encrypts and decrypts.
//! * [`ckks`] and [`bgv`] encode slots.
//! * [`Rpu`] runs generated programs on a simulated machine.
//! * [`scenario`] has two whole computations, [`bootstrap`] a bootstrap with the bits that each stage keeps;
//!   [`digits`], [`logistic_regression`] and [`resnet20`] are applications; [`orion`] runs networks of Orion.
//!
//! ```
//! use num_complex::Complex64;
//! use test_client::{Client, ckks};
//!
//! let set = programs::ParameterSet::built_in("ark", Some(512)).expect("a built-in set")?;
//! let (scale, mut client) = (2f64.powi(40), Client::new(set, 1)?);
//! let slots: Vec<Complex64> = (0..256).map(|slot| Complex64::from(f64::from(slot) / 256.0)).collect();
//! let ciphertext = client.encrypt(&ckks::encode(&slots, scale));
//! let decrypted = ckks::decode(&client.phase(&ciphertext), scale);
//! assert!(ckks::correct_bits(&decrypted, &slots) > 30.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bgv;
pub mod bootstrap;
pub mod ckks;
pub mod digits;
mod keys;
pub mod logistic_regression;
mod material;
pub mod orion;
pub mod resnet20;
mod rpu;
pub mod scenario;

pub use keys::{Ciphertext, Client, SwitchKey};
pub use rpu::{Arguments, Rpu, RpuError, Step};

/// The notice that belongs to all output with keys.
pub const NOT_SECURE: &str = "test parameters, not secure";

/// The exponent 5^rotation mod 2n of the automorphism that rotates the slots.
pub fn rotation_exponent(degree: ring::Degree, rotation: i64) -> u64 {
    let order = 2 * degree.get();
    let steps = rotation.rem_euclid(degree.get() as i64 / 2);
    (0..steps).fold(1, |power, _| power * 5 % order)
}
