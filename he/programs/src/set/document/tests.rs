//! Sets in text.

use super::*;

fn set(text: &str) -> Result<ParameterSet, Diagnostics> {
    parse(("s", "s.toml", text), None, Variation::default())
}

/// What q leaves of the primes around a power, p has; of the largest ones, p has the first.
#[test]
fn both_lists_share_the_primes_of_a_size() {
    let entry = |around, count| format!("[{{ bits = 40, count = {count}, around = {around} }}]");
    let both = |around| {
        let text = format!(
            "n = 1024\nq = {}\np = {}\ndigits = 2\nsecurity = \"none\"\n",
            entry(around, 2),
            entry(around, 1)
        );
        set(&text).unwrap()
    };
    let near = both(true);
    assert_eq!((near.q(), near.p()), (vec![0xff_ffff_7801, 0xff_ffff_7001], vec![0x100_0000_c801]));
    let largest = both(false);
    assert!(largest.p()[0] > largest.q()[0] && largest.q()[0] > largest.q()[1]);
}

/// A class only where a table gives it.
#[test]
fn sparse_secrets_and_degrees_beyond_the_tables_have_no_class() {
    let class = |n: u64, weight: &str| {
        let text = format!(
            "n = {n}\nq = [{{ bits = 50, count = 2 }}]\np = [{{ bits = 60, count = 1 }}]\ndigits = 2\n{weight}"
        );
        set(&text).unwrap().security().to_string()
    };
    assert_eq!(class(8192, ""), "128");
    assert_eq!(class(65_536, ""), "256");
    assert_eq!(class(131_072, ""), "unclassified");
    for (weight, expected) in [(1, "none"), (63, "none"), (64, "unclassified"), (192, "unclassified")] {
        assert_eq!(class(8192, &format!("hamming_weight = {weight}\n")), expected, "{weight}");
    }
}

#[test]
fn special_moduli_may_be_less_than_a_bit_too_small() {
    let with = |p: &str| {
        let q = "[\"0x7fffffffffffffffffffffffff6801\", \"0x1000000000000000000002f001\"]";
        set(&format!("n = 1024\nq = {q}\np = [{p}]\ndigits = 2\nsecurity = \"none\"\n"))
    };
    assert!(with("\"0x7fffffffffffffffffffffffff3001\"").is_ok());
    assert!(with("{ bits = 118, count = 1 }").is_err());
}

#[test]
fn sets_have_a_limit_on_moduli() {
    let with = |count: usize| {
        set(&format!(
            "n = 1024\nq = [{{ bits = 50, count = {count} }}]\np = [{{ bits = 60, count = 1 }}]\ndigits = {count}\nsecurity = \"none\"\n"
        ))
    };
    assert_eq!(with(MOST_MODULI - 1).unwrap().levels(), MOST_MODULI - 1);
    assert!(with(MOST_MODULI).unwrap_err().to_string().contains("1025 moduli are too many"));
}

#[test]
fn sources_are_in_the_order_of_the_keys() {
    let text = "n = 1024\nq = [{ bits = 50, count = 1 }]\np = [{ bits = 60, count = 1 }]\ndigits = 1\n\
        [sources]\np = \"a paper\"\nn = \"a table\"\n";
    let text = text.replace("[sources]", "security = \"none\"\n[sources]");
    let sources = [("n", "a table"), ("p", "a paper")];
    assert_eq!(*set(&text).unwrap().sources(), sources.map(|(key, text)| (key.to_owned(), text.to_owned())));
}

/// Moduli of 50 bits, terminal ones of 22, of which two are less than one of the others.
#[test]
fn levels_have_moduli_that_the_set_has_and_more_than_the_one_below() {
    let with = |levels: &str| {
        set(&format!(
            "n = 1024\nq = [{{ bits = 50, count = 3 }}]\nterminal = [{{ bits = 22, count = 2 }}]\n\
             p = [{{ bits = 60, count = 1 }}]\ndigits = 5\nlevels = {levels}\nsecurity = \"none\"\n"
        ))
    };
    let sizes = |levels: &str| -> Vec<Vec<u32>> {
        let set = with(levels).unwrap();
        let size = |q: u128| u128::BITS - q.leading_zeros();
        (1..=set.levels()).map(|level| set.level_moduli(level).into_iter().map(size).collect()).collect()
    };
    assert_eq!(sizes("[1, [1, 2], [3, 2]]"), [vec![50], vec![22, 22, 50], vec![22, 22, 50, 50, 50]]);
    assert_eq!(sizes("[[0, 1], [1, 1], [3, 2]]"), [vec![22], vec![22, 50], vec![22, 22, 50, 50, 50]]);
    for (levels, expected) in [
        ("[[4, 0], [3, 2]]", "a level of 4 moduli of q and 0 terminal ones: there are 3 and 2"),
        ("[[0, 3], [3, 2]]", "a level of 0 moduli of q and 3 terminal ones: there are 3 and 2"),
        ("[[1, 1], [1, 1], [3, 2]]", "level 2 has no more moduli than the one below"),
        ("[1, [0, 2], [3, 2]]", "level 2 has no more moduli than the one below"),
        ("[[0, 2], 1, [3, 2]]", "level 2 has no more moduli than the one below"),
        ("[1, 3]", "the highest level lacks some of the 5 moduli"),
        ("[[2, 2]]", "the highest level lacks some of the 5 moduli"),
    ] {
        let error = with(levels).unwrap_err().to_string();
        assert!(error.contains(expected), "{levels}: {error}");
    }
}

/// Sizes at which the primes next to a power are few: 2n is 2,048.
#[test]
fn primes_next_to_a_power_may_be_too_few() {
    let with = |bits: u32, count: usize| {
        set(&format!(
            "n = 1024\nq = [{{ bits = {bits}, count = {count}, around = true }}]\n\
             p = [{{ bits = 60, count = 1 }}]\ndigits = {count}\nsecurity = \"none\"\n"
        ))
    };
    let count = alternating_primes(16, Degree::new(1024).unwrap()).count();
    assert!(count > 1 && with(16, count).is_ok());
    let error = with(16, count + 1).unwrap_err().to_string();
    assert!(error.contains(&format!("there are {count} primes next to 2^16")), "{error}");
    assert!(with(128, 1).unwrap_err().to_string().contains("the special moduli are too small"));
}
