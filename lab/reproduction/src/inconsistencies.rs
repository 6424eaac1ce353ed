//! Contradictions between the paper's own numbers: arithmetic on printed values.

use super::table::significant;

/// The list, one or two sentences each.
pub(super) fn list() -> Vec<String> {
    let s = |value: f64| significant(value, 3);
    let clock = 1.68;
    // Cycles of the paper's formula, and of the multipliers only, at 64K on 128 HPLEs.
    let (n, log_n, hples) = (65536.0, 16.0, 128.0);
    let formula = n * log_n / hples;
    let multipliers = n / 2.0 * log_n / hples;
    let words = |words: f64| 16384.0 * 16.0 * words / 512.0 * 1e-3;
    let program_16k = 1.5;
    let interval_2 = 1.16 * 1.38 * formula;
    vec![
        format!(
            "VI-D: 49.18 µJ in 6.7 µs are {} W, not the printed 7.44 W, which imply {} µs.",
            s(49.18 / 6.7),
            s(49.18 / 7.44)
        ),
        format!(
            "VI-D: the shares of the energy add up to {}%; the instruction memory, the front end and the SDM must account for the rest.",
            significant(66.7 + 19.3 + 10.5 + 2.3 + 1.0, 4)
        ),
        format!(
            "VI-G: HBM2 at 16K is said to become 0.041 µs \"faster than NTT\". The next sentences, and the sizes, imply the \
             opposite: three words an element (data, twiddle factors, result) take {} µs, which is 0.041 µs more than \
             the {} µs of which 0.041 µs are 2.77%.",
            significant(words(3.0), 4),
            significant(0.041 / 0.0277, 3)
        ),
        format!(
            "VI-G: \"HBM load and store\" are the loading of data and the storing of results: two words per element, {} µs \
             at 16K, well below the runtime of {program_16k} µs. The printed 0.041 µs requires a third word.",
            significant(words(2.0), 4)
        ),
        format!(
            "VI-G: n log2 n / (HPLEs * clock) is called the ideal time on the allotted multipliers. A transform has n/2 \
             log2 n butterflies with one multiplication each, so 128 multipliers need {multipliers} cycles at 64K \
             ({} µs), half of the formula's {formula}. The formula is not a lower bound, and relative to the multipliers the 1.38 is 2.76.",
            s(multipliers / clock * 1e-3)
        ),
        format!(
            "VII: F1's throughput per area is said to be 2 times the RPU's. With the numbers of the same paragraph, 2864 ns \
             on 11.32 mm² against 1500 ns on 12.61 mm², the RPU's is {} times F1's; the paper must mean a throughput other than \
             the inverse of the latency.",
            s(2864.0 * 11.32 / (1500.0 * 12.61))
        ),
        "Abstract and VIII give the speed-up over the CPU as 1485, VI-G as 1484.".to_owned(),
        format!(
            "VI-B: (4, 256) has \"0.75x less runtime\" than (4, 32). The clock alone, 1.29 against 1.68 GHz, makes it {} \
             times; we read 0.75 times the runtime.",
            s(1.29 / 1.68)
        ),
        format!(
            "VI-F: the cycles are said to grow by 16% to an initiation interval of 2 and generally 1.5 times. A longer \
             interval delays each of the 1024 compute instructions of four beats by four cycles per step, and no chain of \
             waits contains one of them twice: a step adds at most {multipliers} cycles. From {} cycles at an interval of 2 (16% more \
             than 1.38 times {formula}), the growth to 3 is at most {}, and to 4 {}: 1.5 is possible if the interval \
             doubles.",
            s(interval_2),
            s((interval_2 + multipliers) / interval_2),
            s((interval_2 + 2.0 * multipliers) / interval_2)
        ),
        "VI-B: the vector crossbar is called the principal part of the area of 256 banks over 128 at 128 HPLEs. But at 4 HPLEs, \
         where that crossbar is smallest, 256 banks add 1.5 times the whole area of (4, 32) to 32 banks: the banks themselves \
         dominate."
            .to_owned(),
    ]
}
