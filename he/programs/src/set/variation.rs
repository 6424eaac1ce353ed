//! Other numbers in place of a set's: choices that leave the task of a program.

use super::contents::{Contents, Entry};
use toml::Spanned;

/// Numbers in place of those of a set. Messages keep their scale, and a bootstrap leaves the same moduli.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Variation {
    /// Digits of a key.
    pub digits: Option<usize>,
    /// Matrices of CoeffToSlot, each with a modulus of the size of the set's last one for them.
    pub coeff_to_slot_matrices: Option<usize>,
    /// Matrices of SlotToCoeff, with as many moduli for each as in the set.
    pub slot_to_coeff_matrices: Option<usize>,
}

/// What a set cannot have.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) help: &'static str,
}

impl Variation {
    /// Changes a set's contents. `true` if it changed them, so that P follows: see [`resized_special`].
    pub(super) fn apply(self, contents: &mut Contents) -> Result<bool, Fault> {
        let mut has_changed = false;
        if let Some(digits) = self.digits.filter(|digits| digits != contents.digits.get_ref()) {
            *contents.digits.get_mut() = digits;
            has_changed = true;
        }
        if let Some(count) = self.coeff_to_slot_matrices {
            let Some(bootstrap) = contents.bootstrap.as_mut().map(Spanned::get_mut) else {
                return Err(no_bootstrap("CoeffToSlot"));
            };
            let own = std::mem::replace(&mut bootstrap.coeff_to_slot, count);
            let above = bootstrap.normalisation;
            has_changed |= resize(contents, above, (own, count), "CoeffToSlot")?;
        }
        if let Some(count) = self.slot_to_coeff_matrices {
            let Some(bootstrap) = contents.bootstrap.as_mut().map(Spanned::get_mut) else {
                return Err(no_bootstrap("SlotToCoeff"));
            };
            let own = bootstrap.slot_to_coeff;
            let matrices = bootstrap.slot_to_coeff_matrices.as_mut().map(Spanned::get_mut);
            let each = matrices.as_ref().map_or(1, |matrices| **matrices / own.max(1)).max(1);
            if !count.is_multiple_of(each) {
                return Err(Fault {
                    message: format!("{count} matrices of SlotToCoeff, of which {each} share a modulus"),
                    help: "choose a multiple of the matrices that share a modulus in the set",
                });
            }
            if let Some(matrices) = matrices {
                *matrices = count;
            }
            bootstrap.slot_to_coeff = count / each;
            let above = bootstrap.normalisation + bootstrap.coeff_to_slot + bootstrap.eval_mod.get_ref();
            has_changed |= resize(contents, above, (own, count / each), "SlotToCoeff")?;
        }
        Ok(has_changed)
    }
}

fn no_bootstrap(stage: &str) -> Fault {
    Fault {
        message: format!("matrices of {stage} for a set without a bootstrap"),
        help: "choose a set with the table [bootstrap], such as lattigo-n16qp1546",
    }
}

/// Gives `count` moduli in place of `own` to the part of q below the `above` highest ones.
fn resize(
    contents: &mut Contents,
    above: usize,
    (own, count): (usize, usize),
    stage: &str,
) -> Result<bool, Fault> {
    if own == count {
        return Ok(false);
    }
    let fault = |message: String, help| Err(Fault { message, help });
    if !contents.roots.is_empty() {
        return fault(
            format!("{count} matrices of {stage} for a set that gives a root for each modulus"),
            "leave `roots` out of the set",
        );
    }
    if contents.levels.is_some() {
        return fault(
            format!("{count} matrices of {stage} for a set that states its levels"),
            "give the set the moduli and the levels of other matrices",
        );
    }
    let q = contents.q.get_mut();
    let moduli: usize = q.iter().map(|entry| entry.get_ref().count()).sum();
    let Some(end) = moduli.checked_sub(above).filter(|&end| end > own) else {
        return fault(
            format!("{count} matrices of {stage} for a set without room for its own {own}"),
            "give the set a modulus below those of its bootstrap",
        );
    };
    if count > own {
        let at = entry_of(q, end - 1);
        let Entry::Primes { count: primes, .. } = q[at].get_mut() else {
            return fault(
                format!("{count} matrices of {stage} for a set that names the {own} moduli of its own"),
                "give the set sizes of moduli in place of numbers, or choose fewer matrices",
            );
        };
        *primes = primes.saturating_add(count - own);
    }
    for last in (end - own.saturating_sub(count)..end).rev() {
        remove(q, last);
    }
    Ok(true)
}

/// P with this number of moduli: the first ones of a set's own, or more of the last one's size, if it has a
/// size.
pub(super) fn resized_special(own: &[Spanned<Entry>], count: usize) -> Option<Vec<Spanned<Entry>>> {
    let mut p = own.to_vec();
    let moduli: usize = p.iter().map(|entry| entry.get_ref().count()).sum();
    for last in (count..moduli).rev() {
        remove(&mut p, last);
    }
    if count > moduli {
        match p.last_mut()?.get_mut() {
            Entry::Primes { count: primes, .. } => *primes += count - moduli,
            Entry::Modulus(_) => return None,
        }
    }
    Some(p)
}

/// The entry with the modulus of this index.
fn entry_of(entries: &[Spanned<Entry>], mut index: usize) -> usize {
    let has = |entry: &Spanned<Entry>| {
        let count = entry.get_ref().count();
        let is_here = index < count;
        index = index.saturating_sub(count);
        is_here
    };
    entries.iter().position(has).expect("an index of a modulus")
}

/// Takes the modulus of this index out. Of primes of one size, any is as good as another.
fn remove(entries: &mut Vec<Spanned<Entry>>, index: usize) {
    let at = entry_of(entries, index);
    match entries[at].get_mut() {
        Entry::Primes { count, .. } => *count -= 1,
        Entry::Modulus(_) => drop(entries.remove(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParameterSet;
    use crate::set::SETS;

    fn varied(name: &str, variation: Variation) -> Result<ParameterSet, String> {
        let set = ParameterSet::built_in_with(name, Some(1024), variation).expect("a built-in set");
        set.map_err(|error| error.to_string())
    }

    /// The text of a built-in set with some parts replaced.
    fn altered(name: &str, parts: &[(&str, &str)]) -> String {
        let text = SETS.iter().find(|(known, _)| *known == name).expect("a built-in set").1;
        parts.iter().fold(text.to_owned(), |text, (part, other)| {
            assert!(text.contains(part), "{part}");
            text.replacen(part, other, 1)
        })
    }

    /// Digits, matrices of CoeffToSlot, and of SlotToCoeff.
    fn numbers(digits: usize, coeff_to_slot: usize, slot_to_coeff: usize) -> Variation {
        Variation {
            digits: Some(digits),
            coeff_to_slot_matrices: Some(coeff_to_slot),
            slot_to_coeff_matrices: Some(slot_to_coeff),
        }
    }

    #[test]
    fn the_numbers_of_a_set_change_nothing() {
        let own = varied("lattigo-n16qp1546", Variation::default()).unwrap();
        assert_eq!(varied("lattigo-n16qp1546", numbers(5, 4, 3)).unwrap(), own);
        let shared = varied("lattigo-n15qp768", Variation::default()).unwrap();
        let matrices = shared.bootstrap().unwrap().slot_to_coeff_matrices;
        let same = Variation { slot_to_coeff_matrices: Some(matrices), ..Variation::default() };
        assert_eq!(varied("lattigo-n15qp768", same).unwrap(), shared);
    }

    #[test]
    fn matrices_share_moduli_as_in_the_set() {
        let text = altered(
            "lattigo-n16qp1546",
            &[("slot_to_coeff = 3", "slot_to_coeff = 3\nslot_to_coeff_matrices = 6")],
        );
        let variation = Variation { slot_to_coeff_matrices: Some(4), ..Variation::default() };
        let set = ParameterSet::parse_with(("s", "s.toml", &text), Some(1024), variation).unwrap();
        let bootstrap = set.bootstrap().unwrap();
        assert_eq!((bootstrap.slot_to_coeff, bootstrap.slot_to_coeff_matrices), (2, 4));
    }

    /// The levels that are left, the moduli of EvalMod and the scale stay; P is the least that exceeds each
    /// digit.
    #[test]
    fn a_bootstrap_with_other_numbers_leaves_the_same_levels() {
        let own = varied("lattigo-n16qp1546", Variation::default()).unwrap();
        let sizes =
            |moduli: &[u128]| -> Vec<f64> { moduli.iter().map(|&q| (q as f64).log2().round()).collect() };
        for (digits, coeff_to_slot, slot_to_coeff) in [(5, 3, 3), (5, 4, 2), (4, 6, 4), (9, 4, 3), (11, 2, 1)]
        {
            let set = varied("lattigo-n16qp1546", numbers(digits, coeff_to_slot, slot_to_coeff)).unwrap();
            let bootstrap = set.bootstrap().unwrap();
            assert_eq!((bootstrap.coeff_to_slot, bootstrap.slot_to_coeff), (coeff_to_slot, slot_to_coeff));
            assert_eq!(bootstrap.slot_to_coeff_matrices, slot_to_coeff);
            let left = own.levels() - own.bootstrap().unwrap().depth();
            assert_eq!(set.levels() - bootstrap.depth(), left);
            let q = sizes(&set.q());
            assert_eq!(q[..left], sizes(&own.q())[..left]);
            assert_eq!(q[left..left + slot_to_coeff], vec![39.0; slot_to_coeff]);
            assert_eq!(q[left + slot_to_coeff..][..8], [60.0; 8]);
            assert_eq!(q[left + slot_to_coeff + 8..], vec![56.0; coeff_to_slot]);
            let bits = |moduli: &[u128]| moduli.iter().map(|&q| (q as f64).log2()).sum::<f64>();
            let (q, p) = (set.q(), set.p());
            let largest = q.chunks(q.len().div_ceil(digits)).map(bits).fold(0.0, f64::max);
            assert!(bits(&p) >= largest && bits(&p[1..]) < largest, "{digits}: {p:?}");
        }
    }

    #[test]
    fn p_has_the_first_moduli_of_the_set_or_more_of_the_last_ones_size() {
        let text = "n = 1024\nq = [{ bits = 50, count = 20 }]\np = [{ bits = 60, count = 1 }, { bits = 45, count = 3 }]\n\
            digits = 4\nsecurity = \"none\"\n";
        let with = |p: &str, digits: usize| {
            let text = text.replace("{ bits = 60, count = 1 }, { bits = 45, count = 3 }", p);
            let variation = Variation { digits: Some(digits), ..Variation::default() };
            let set = ParameterSet::parse_with(("s", "s.toml", &text), None, variation);
            let size = |p: u128| u128::BITS - p.leading_zeros();
            set.map(|set| set.p().into_iter().map(size).collect::<Vec<u32>>())
                .map_err(|error| error.to_string())
        };
        let two_sizes = "{ bits = 60, count = 1 }, { bits = 45, count = 3 }";
        for (p, digits, expected) in [
            (two_sizes, 20, vec![60]),
            (two_sizes, 10, vec![60, 45]),
            (two_sizes, 7, vec![60, 45, 45]),
            (two_sizes, 5, vec![60, 45, 45, 45, 45]),
            (two_sizes, 1, [vec![60], vec![45; 21]].concat()),
            ("{ bits = 60, count = 1 }", 10, vec![60, 60]),
            ("{ bits = 60, count = 1 }, \"0xffffff7001\"", 10, vec![60, 40]),
        ] {
            assert_eq!(with(p, digits), Ok(expected), "{p}, {digits} digits");
        }
        let error = with("{ bits = 60, count = 1 }, \"0xffffff7001\"", 5).unwrap_err();
        assert!(error.contains("the special moduli are too small"), "{error}");
    }

    #[test]
    fn numbers_that_a_set_cannot_have_are_errors() {
        let matrices = |count| Variation { slot_to_coeff_matrices: Some(count), ..Variation::default() };
        let error = |name, variation| varied(name, variation).unwrap_err();
        assert!(error("ark", matrices(2)).contains("a set without a bootstrap"));
        assert!(error("lattigo-n15qp768", matrices(3)).contains("of which 2 share a modulus"));
        assert!(error("sharp-36", matrices(2)).contains("a set that states its levels"));
        let small = altered(
            "lattigo-n16qp1546",
            &[
                ("{ bits = 60, count = 1, around = true },", ""),
                ("{ bits = 40, count = 9, around = true },", ""),
            ],
        );
        let error_of = |text: &str, variation| {
            ParameterSet::parse_with(("s", "s.toml", text), Some(1024), variation).unwrap_err().to_string()
        };
        let expected = "2 matrices of SlotToCoeff for a set without room for its own 3";
        assert!(error_of(&small, matrices(2)).contains(expected));
        let digits = |count| Variation { digits: Some(count), ..Variation::default() };
        assert!(error("lattigo-n16qp1546", digits(11)).contains("cannot be divided into 11 digits"));
        assert!(error("lattigo-n16qp1546", digits(0)).contains("cannot be divided into 0 digits"));
        // A secret of few coefficients is secure up to log2 QP; the digits of this one need too large a P.
        let secure = ParameterSet::built_in_with("lattigo-n16qp1546", None, digits(2)).unwrap();
        assert!(secure.unwrap_err().to_string().contains("the set is not secure"));
    }
}
