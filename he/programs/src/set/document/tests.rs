//! Sets in text.

use super::*;

/// The order of Lattigo 6.2 at n = 65,536 and n = 1,024, from the moduli of its own parameters.
#[test]
fn primes_around_a_power_are_in_the_order_of_lattigo() {
    let first = |bits, n, count| -> Vec<u128> {
        alternating_primes(bits, Degree::new(n).unwrap()).take(count).collect()
    };
    let at_65536 =
        [0x100_0014_0001, 0xff_ffe8_0001, 0xff_ffc4_0001, 0x100_003e_0001, 0x100_0050_0001, 0xff_ffb2_0001];
    assert_eq!(first(40, 65_536, 6), at_65536);
    let at_1024 = [
        0xff_ffff_7801,
        0xff_ffff_7001,
        0x100_0000_c801,
        0x100_0000_d801,
        0xff_fffe_f801,
        0xff_fffe_e801,
        0xff_fffe_d001,
        0xff_fffe_7001,
        0xff_fffd_f001,
    ];
    assert_eq!(first(40, 1024, 9), at_1024);
    assert_eq!(first(60, 1024, 1), [0xfff_ffff_ffff_c001]);
}

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
