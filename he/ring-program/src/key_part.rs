//! What the name of an input says of a key.

/// The part of a key that an input holds. A key is b = -a s + .. and a, uniform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyPart {
    /// a: a seed can replace it.
    Random,
    /// b, which hides a secret.
    Masked,
    /// Both, in an order that the name does not tell.
    Both,
}

/// The part of a key that an input holds; `None` for other inputs. A key's name contains `key` or `evk`, or
/// ends in `.b.J` or `.a.J` for a digit J, such as `galois.5.b.0`.
pub fn key_part(name: &str) -> Option<KeyPart> {
    let name = name.to_ascii_lowercase();
    let is_digit = |(part, digit): (&str, &str)| {
        (part.ends_with(".b") || part.ends_with(".a")) && digit.parse::<usize>().is_ok()
    };
    let is_key = name.contains("key") || name.contains("evk") || name.rsplit_once('.').is_some_and(is_digit);
    let has = |part: &str| name.split('.').any(|other| other == part);
    is_key.then(|| match (has("a"), has("b")) {
        (true, false) => KeyPart::Random,
        (false, true) => KeyPart::Masked,
        (true, true) | (false, false) => KeyPart::Both,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_key_tells_its_part() {
        let parts = ["evk.a.0", "evk7.b.3", "rotation_key", "a.key.b", "galois.5.A.1"].map(key_part);
        let both = Some(KeyPart::Both);
        assert_eq!(parts, [Some(KeyPart::Random), Some(KeyPart::Masked), both, both, Some(KeyPart::Random)]);
        assert_eq!(["ct.0", "ct1.1", "a", "x.a", "a.0", "x.c.0"].map(key_part), [None; 6]);
    }
}
