//! The automorphism of the ring that maps X to X^g, for an odd g.
//!
//! It permutes the values of a polynomial, and the coefficients up to signs. Rotations of ciphertexts are
//! automorphisms by powers of 5; conjugation is the automorphism by 2n - 1.
//!
//! Next to a transform, it needs no kernel: the transform of x with the root psi^g equals the transform of
//! x(X^g) with the root psi.

use crate::arithmetic::bit_reverse;
use crate::signature::settings::{MODULUS, N};
use crate::signature::{Kind, Operand, SettingSpec, Signature};
#[cfg(test)]
use crate::tests::Case;
use crate::{GoldenError, Settings};

const G: SettingSpec = SettingSpec { name: "g", kind: Kind::Exponent, doc: "exponent g, odd and below 2n" };
const ORDER: SettingSpec = SettingSpec {
    name: "order",
    kind: Kind::Choice(&["evaluation", "coefficients"]),
    doc: "`evaluation`, values in bit-reversed order, or `coefficients`, in natural order",
};

pub(crate) const SIGNATURE: Signature = Signature {
    name: "automorphism",
    definition: "y(X) = x(X^g) mod X^n + 1, of values in bit-reversed order or of coefficients",
    inputs: &[Operand::residues("x")],
    outputs: &[Operand::residues("y")],
    settings: &[N, MODULUS, G, ORDER],
    by_transforms: false,
};

pub(crate) fn evaluate(settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<u128>, GoldenError> {
    let (x, n, g) = (inputs[0], settings.degree(), settings.number("g") as usize);
    if settings.word("order") == "evaluation" {
        // Place i holds the value at psi^e with e = 2 bitrev(i) + 1, and y(psi^e) = x(psi^(g e)).
        let bits = n.ilog2();
        let source = |i| (g * (2 * bit_reverse(i, bits) + 1) % (2 * n) - 1) / 2;
        return Ok((0..n).map(|i| x[bit_reverse(source(i), bits)]).collect());
    }
    let mut y = vec![0; n];
    for (i, &coefficient) in x.iter().enumerate() {
        // X^n = -1.
        let power = g * i % (2 * n);
        let negative = power >= n && coefficient != 0;
        y[power % n] = if negative { settings.number("modulus") - coefficient } else { coefficient };
    }
    Ok(y)
}

#[cfg(test)]
pub(crate) fn textbook(case: &Case<'_>) -> Vec<u128> {
    let g = case.claim.number("g").unwrap() as usize;
    let index = |exponent| (0..case.n).find(|&i| case.odd(i) == exponent % (2 * case.n)).unwrap();
    case.each(|i| case.word(0, index(g * case.odd(i))))
}

#[cfg(test)]
mod tests {
    use crate::{AUTOMORPHISM, NTT, evaluate};
    use b512_asm::Setting;

    /// The definition, through both orders: the transform of x(X^g), and the permuted transform of x.
    #[test]
    fn both_orders_are_one_map() {
        let (n, q, psi) = (16, 97, 19);
        let x: Vec<u128> = (0..n).map(|i| (i * i * 31 + 96) % q).collect();
        let transform = |x: &[u128]| NTT.result(&[x], n as usize, q, psi).unwrap();
        for g in (1..2 * n).step_by(2) {
            let map = |order: &str, x: &[u128]| {
                let mut claim = AUTOMORPHISM.in_ring(n as u32, q, 0);
                claim.settings.push(("g".into(), Setting::Number(g)));
                claim.settings.push(("order".into(), Setting::Word(order.into())));
                evaluate(&claim, &[x]).unwrap().concat()
            };
            assert_eq!(transform(&map("coefficients", &x)), map("evaluation", &transform(&x)), "g = {g}");
            // x(psi) at psi^g, by Horner's rule.
            let power = (0..g).fold(1, |power, _| power * psi % q);
            let value = x.iter().rev().fold(0, |value, &c| (value * power + c) % q);
            assert_eq!(map("evaluation", &transform(&x))[0], value, "g = {g}");
            let with_other_root = NTT.result(&[&x], n as usize, q, power).unwrap();
            assert_eq!(with_other_root, map("evaluation", &transform(&x)), "g = {g}");
        }
    }

    #[test]
    fn invalid_settings_are_named() {
        let error = |g, order: &str| {
            let mut claim = AUTOMORPHISM.in_ring(4, 97, 0);
            claim.settings.push(("g".into(), Setting::Number(g)));
            claim.settings.push(("order".into(), Setting::Word(order.into())));
            evaluate(&claim, &[&[0; 4]]).unwrap_err().to_string()
        };
        assert_eq!(error(2, "evaluation"), "invalid exponent g = 2 (g must be odd and below 2n = 8)");
        assert_eq!(error(9, "evaluation"), "invalid exponent g = 9 (g must be odd and below 2n = 8)");
        let orders = "unknown order `slots` (`order` is `evaluation` or `coefficients`)";
        assert_eq!(error(3, "slots"), orders);
    }
}
