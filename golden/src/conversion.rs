//! Fast conversion between residue number systems, which several operations share.

use crate::arithmetic::{big, words};
use crate::claim::{ClaimFault, Settings};
use crate::error::GoldenError;
use crate::signature::{Kind, SettingSpec};
use crate::transform::{Root, forward, inverse};
use diagnostic::counted;
use num_bigint::{BigInt, BigUint};

/// The moduli that the operands are residues of.
pub(crate) const FROM: SettingSpec =
    SettingSpec { name: "from", kind: Kind::Moduli, doc: "moduli s_i of the source, pairwise coprime" };
/// The moduli of the results.
pub(crate) const TO: SettingSpec =
    SettingSpec { name: "to", kind: Kind::Moduli, doc: "moduli q_j of the results" };
/// The roots of the source.
pub(crate) const FROM_ROOTS: SettingSpec = SettingSpec {
    name: "from_roots",
    kind: Kind::Roots("from"),
    doc: "a primitive 2n-th root of unity for each modulus of the source",
};
/// The roots of the results.
pub(crate) const TO_ROOTS: SettingSpec = SettingSpec {
    name: "to_roots",
    kind: Kind::Roots("to"),
    doc: "a primitive 2n-th root of unity for each modulus of the results",
};
/// The representatives of the scaled residues.
pub(crate) const VARIANT: SettingSpec = SettingSpec {
    name: "variant",
    kind: Kind::Word,
    doc: "`plain` takes scaled residues from 0 to s_i - 1, `centred` those nearest to 0",
};
/// The plaintext modulus.
pub(crate) const T: SettingSpec =
    SettingSpec { name: "t", kind: Kind::Number, doc: "plaintext modulus, coprime to the source; 1 in CKKS" };

/// The representatives of scaled residues modulo s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Variant {
    /// 0 to s - 1.
    Plain,
    /// -(s - 1)/2 to (s - 1)/2.
    Centred,
}

impl Variant {
    /// The value of [`VARIANT`], which [`check_variant`] has accepted.
    pub(crate) fn of(settings: &Settings<'_>) -> Self {
        if settings.word(VARIANT.name) == "plain" { Self::Plain } else { Self::Centred }
    }
}

/// Checks [`VARIANT`].
pub(crate) fn check_variant(settings: &Settings<'_>) -> Vec<ClaimFault> {
    let word = settings.word(VARIANT.name);
    if ["plain", "centred"].contains(&word) {
        return Vec::new();
    }
    let fault = ClaimFault::new(settings.part(VARIANT.name), format!("unknown variant `{word}`"));
    vec![fault.help("the variants are `plain` and `centred`")]
}

/// Checks that the moduli of a list are pairwise coprime, and coprime to `others`.
pub(crate) fn check_coprime(settings: &Settings<'_>, list: &str, others: &[u128]) -> Vec<ClaimFault> {
    let own = settings.numbers(list);
    for (i, &modulus) in own.iter().enumerate() {
        let rivals = own[..i].iter().chain(others);
        if let Some(other) = rivals.copied().find(|&other| gcd(other, modulus) != 1) {
            let message = format!("{modulus:#x} and {other:#x} have a common factor");
            let help =
                format!("the moduli of `{list}` must be pairwise coprime, and coprime to what they divide");
            return vec![ClaimFault::new(settings.part(list), message).help(help)];
        }
    }
    Vec::new()
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A residue number system.
pub(crate) struct System {
    moduli: Vec<BigUint>,
    /// The product of all moduli.
    product: BigUint,
    /// For each modulus, the product of the others.
    cofactors: Vec<BigUint>,
}

impl System {
    /// The system of pairwise coprime moduli.
    pub(crate) fn new(moduli: &[u128]) -> Self {
        let moduli = big(moduli);
        let product: BigUint = moduli.iter().product();
        let cofactors = moduli.iter().map(|modulus| &product / modulus).collect();
        Self { moduli, product, cofactors }
    }

    /// The integers from 0 to S - 1 with these residues.
    pub(crate) fn integers(&self, residues: &[Vec<BigUint>]) -> Vec<BigUint> {
        let overflowing = self.overflowing(residues, Variant::Plain);
        reduce(&overflowing, &self.product)
    }

    /// The integers `x + u S` that a fast conversion makes of the residues of x, one for each
    /// coefficient: the sum of the scaled residues `y_i = x_i (S/s_i)^-1 mod s_i` times S/s_i. With plain
    /// residues, x is from 0 to S - 1 and u is from 0 to one less than the number of moduli.
    pub(crate) fn overflowing(&self, residues: &[Vec<BigUint>], variant: Variant) -> Vec<BigInt> {
        let mut sums = vec![BigInt::ZERO; residues[0].len()];
        for ((modulus, cofactor), residues) in self.moduli.iter().zip(&self.cofactors).zip(residues) {
            let inverse = cofactor.modinv(modulus).expect("the moduli are pairwise coprime");
            for (sum, residue) in sums.iter_mut().zip(residues) {
                let scaled = residue * &inverse % modulus;
                let above = variant == Variant::Centred && &scaled * 2u32 > *modulus;
                let scaled = BigInt::from(scaled) - if above { modulus.clone().into() } else { BigInt::ZERO };
                *sum += scaled * BigInt::from(cofactor.clone());
            }
        }
        sums
    }
}

/// Integers modulo q.
pub(crate) fn reduce(integers: &[BigInt], q: &BigUint) -> Vec<BigUint> {
    let q = BigInt::from(q.clone());
    let residue = |integer: &BigInt| ((integer % &q + &q) % &q).to_biguint().expect("it is not negative");
    integers.iter().map(residue).collect()
}

/// The roots of a list of moduli.
///
/// # Errors
/// Returns an error if one is not a primitive 2n-th root of unity.
pub(crate) fn roots(settings: &Settings<'_>, moduli: &str, roots: &str) -> Result<Vec<Root>, GoldenError> {
    let pairs = settings.numbers(moduli).iter().zip(settings.numbers(roots));
    pairs.map(|(&modulus, &root)| Root::of(settings.degree(), modulus, root)).collect()
}

/// The residues of `values`, given as transforms.
fn coefficients(values: &[&[u128]], roots: &[Root]) -> Vec<Vec<BigUint>> {
    values.iter().zip(roots).map(|(values, root)| inverse(&big(values), root)).collect()
}

/// The transforms modulo `to` of the polynomial whose transforms modulo the source are `values`.
pub(crate) fn raise(settings: &Settings<'_>, values: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
    let from = roots(settings, FROM.name, FROM_ROOTS.name)?;
    let to = roots(settings, TO.name, TO_ROOTS.name)?;
    let system = System::new(settings.numbers(FROM.name));
    let integers = system.overflowing(&coefficients(values, &from), Variant::Plain);
    Ok(to.iter().map(|root| words(forward(&reduce(&integers, &root.q), root))).collect())
}

/// The divisor of a division: the setting with its moduli, that with their roots, and the variant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    pub(crate) moduli: &'static str,
    pub(crate) roots: &'static str,
    pub(crate) variant: Variant,
}

/// `(x - t z)/S` modulo each modulus of `to`, in transforms. S is the product of the divisor's moduli, and
/// z is the conversion of `p/t`. The operands are the residues x, then p.
pub(crate) fn divide(
    settings: &Settings<'_>,
    divisor: Divisor,
    t: u128,
    inputs: &[&[u128]],
) -> Result<Vec<Vec<u128>>, GoldenError> {
    let to = roots(settings, TO.name, TO_ROOTS.name)?;
    let from = roots(settings, divisor.moduli, divisor.roots)?;
    let (x, p) = inputs.split_at(to.len());
    let mut p = coefficients(p, &from);
    for (p, root) in p.iter_mut().zip(&from) {
        let over_t = (BigUint::from(t) % &root.q).modinv(&root.q).expect("t is coprime to the source");
        p.iter_mut().for_each(|p| *p = &*p * &over_t % &root.q);
    }
    let system = System::new(settings.numbers(divisor.moduli));
    let integers = system.overflowing(&p, divisor.variant);
    let quotient = |(x, root): (&&[u128], &Root)| {
        let q = &root.q;
        let z = forward(&reduce(&integers, q), root);
        let inverse = (&system.product % q).modinv(q).expect("the divisor is coprime to the results' moduli");
        let each = |(x, z): (&u128, BigUint)| (BigUint::from(*x) + q * t - z * t) % q * &inverse % q;
        words(x.iter().zip(z).map(each).collect())
    };
    Ok(x.iter().zip(&to).map(quotient).collect())
}

/// Checks the settings of a division.
pub(crate) fn check_division(
    settings: &Settings<'_>,
    divisor: &str,
    roots: &str,
    t: u128,
) -> Result<(), Vec<ClaimFault>> {
    let mut faults = check_roots(settings, divisor, roots);
    faults.extend(check_roots(settings, TO.name, TO_ROOTS.name));
    faults.extend(check_coprime(settings, divisor, settings.numbers(TO.name)));
    if let Some(modulus) = settings.numbers(divisor).iter().find(|&&modulus| gcd(t, modulus) != 1) {
        let fault =
            ClaimFault::new(settings.part(T.name), format!("t = {t} has no inverse modulo {modulus:#x}"));
        faults.push(fault.help("t must be coprime to the moduli that are divided by"));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Checks that each modulus of a list has a root.
pub(crate) fn check_roots(settings: &Settings<'_>, moduli: &str, roots: &str) -> Vec<ClaimFault> {
    let (given, wanted) = (settings.numbers(roots).len(), settings.numbers(moduli).len());
    if given == wanted {
        return Vec::new();
    }
    let message = format!(
        "`{roots}` has {}, but `{moduli}` has {}",
        counted(given, "root", "roots"),
        counted(wanted, "modulus", "moduli")
    );
    vec![ClaimFault::new(settings.part(roots), message)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extreme residues and the overflows that they force.
    #[test]
    fn overflows_are_known() {
        let moduli = [97u128, 101, 65537];
        let system = System::new(&moduli);
        let integers = |x: &BigUint| {
            let residues: Vec<Vec<BigUint>> = system.moduli.iter().map(|s| vec![x % s]).collect();
            [Variant::Plain, Variant::Centred]
                .map(|variant| system.overflowing(&residues, variant)[0].clone())
        };
        let overflow = |x: &BigUint| {
            (integers(x)[0].clone() - BigInt::from(x.clone())) / BigInt::from(system.product.clone())
        };
        assert_eq!(overflow(&BigUint::ZERO), BigInt::ZERO);
        // All scaled residues are s_i - 1.
        let largest = system.cofactors.iter().sum::<BigUint>();
        let largest = &system.product - largest % &system.product;
        assert_eq!(overflow(&largest), BigInt::from(2));
        for x in 0u32..1000 {
            let x = BigUint::from(x) * 641_929u32 % &system.product;
            let [plain, centred] = integers(&x);
            let product = BigInt::from(system.product.clone());
            assert!(plain >= BigInt::ZERO && plain < &product * 3);
            assert_eq!((&plain - BigInt::from(x.clone())) % &product, BigInt::ZERO);
            assert_eq!((&centred - BigInt::from(x)) % &product, BigInt::ZERO);
            assert!(&centred * 2 < &product * 3 && -&centred * 2 < &product * 3);
        }
    }
}
