//! What every division of a key switch offers.

use crate::multi::cluster::Cluster;
use gpu_ref::{Batch, Error};

/// The data of a division, and its steps.
pub(crate) trait Steps<W> {
    /// A device's limbs of the polynomial, `[own limb][N]`.
    fn input(&self, rank: usize) -> &Batch<W>;

    /// A device's limbs of the result, `[2][own limb][N]`.
    fn output(&self, rank: usize) -> &Batch<W>;

    /// A complete switch from input to output.
    fn switch(&mut self, cluster: &Cluster) -> Result<(), Error>;
}
