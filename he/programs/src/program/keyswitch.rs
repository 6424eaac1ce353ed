//! `keyswitch`: the switch of one polynomial to another key.

use super::Generator;
use crate::Error;
use crate::circuit::Circuit;
use crate::option::Options;

/// The switch of one polynomial to another key.
pub(super) const KEY_SWITCH: Generator = Generator {
    name: "keyswitch",
    definition: "ks0 + ks1 s' is d s plus an error: d with the key evk.b.J, evk.a.J of s for s'",
    options: &[],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit, _: &Options) -> Result<(), Error> {
    let input = c.polynomial("d");
    let [first, second] = c.switch_polynomial(input);
    c.output_polynomial("ks0", first);
    c.output_polynomial("ks1", second);
    Ok(())
}
