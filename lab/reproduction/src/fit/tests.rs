use super::*;

fn gf12() -> Claims {
    Claims::parse("gf12.claims.toml", GF12_CLAIMS).unwrap()
}

fn gf12_area() -> AreaConstants {
    Machine::rpu_128x128().technology.area.clone()
}

fn edited(from: &str, to: &str) -> Claims {
    assert!(GF12_CLAIMS.contains(from), "{from}");
    Claims::parse("edited", &GF12_CLAIMS.replacen(from, to, 1)).unwrap()
}

/// Tests of areas accept any event counts.
fn events() -> Events {
    Events {
        multiplications: 524_288,
        additions: 1_048_576,
        vrf_accesses: 5_000_000,
        vdm_accesses: 600_000,
        vbar_elements: 600_000,
        sbar_elements: 983_040,
        permuter_elements: 0,
        instructions: 4000,
    }
}

#[test]
fn the_committed_technology_is_what_the_fit_writes() {
    let fitted = fit(&gf12(), &paper_events().unwrap()).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/tech/gf12.toml");
    diagnostic::snapshot::fresh(path, fitted.file());
    assert_eq!(fitted.technology, Machine::rpu_128x128().technology);
}

#[test]
fn the_fit_meets_what_it_is_fitted_to() {
    let fitted = fit(&gf12(), &events()).unwrap();
    for residual in fitted.residuals.iter().filter(|residual| residual.fitted) {
        assert!(residual.agrees(), "{residual:?}");
    }
    // One prediction is missed: the line through the two printed macros makes deep macros too
    // large.
    let missed: Vec<_> = fitted.residuals.iter().filter(|residual| !residual.agrees()).collect();
    assert_eq!(missed.len(), 1, "{missed:?}");
    assert_eq!(missed[0].quantity, "vrf of (8, 128) over (4, 128)");
}

#[test]
fn constants_come_back_from_the_areas_that_they_give() {
    let designs = Designs::default();
    let mut claims = gf12();
    let truth = AreaConstants {
        law_mm2: 0.03,
        vdm_bank_mm2_to_64: 0.016,
        vdm_bank_mm2_to_128: 0.01,
        vdm_bank_mm2_beyond_128: 0.00625,
        sbar_mm2: 1.7,
        ..gf12_area()
    };
    claims.area.retain(|claim| claim.fit);
    for claim in &mut claims.area {
        claim.value = Some(claim.ours(&designs, &truth));
        claim.between = None;
    }
    for start in [0.001, 0.1, 10.0] {
        claims.fit.values_mut().for_each(|value| *value = start);
        let found = fit(&claims, &events()).unwrap().technology.area;
        assert_eq!(found, truth, "from {start}");
    }
}

#[test]
fn where_a_fit_begins_does_not_matter() {
    let mut claims = gf12();
    let usual = fit(&claims, &events()).unwrap();
    claims.fit.values_mut().for_each(|start| *start *= 20.0);
    assert_eq!(fit(&claims, &events()).unwrap(), usual);
}

#[test]
fn errors_say_what_would_be_right() {
    let error = |claims: &Claims| fit(claims, &events()).unwrap_err().to_string();
    for (from, to, told) in [
        ("vbar_mm2 =", "vbar =", "`given`, `tied` and `fit` must name each of sram_second_port, law_mm2"),
        ("fo4_ps =", "fo5_ps =", "`delay` must name each of fo4_ps, register_fo4, wire_ps"),
        ("sbar_mm2 = 0.5", "vbar_mm2 = 0.5", "`vbar_mm2` occurs twice"),
        (
            "to = \"vdm_bank_mm2_to_64\"",
            "to = \"vbar_mm2\"",
            "is tied to `vbar_mm2`, which is not under `fit`",
        ),
        (
            "component = \"hples\"",
            "component = \"vpu\"",
            "claim C6: unknown component `vpu`; expected total, hples",
        ),
        ("value = 2.5\n", "", "claim C7: write `value = ..`, or `between = [low, high]`"),
        ("bytes = 256", "bytes = 512", "the difference of the bytes"),
        ("law = 66.7", "law = 96.7", "the shares of the energy leave nothing"),
    ] {
        let error = error(&edited(from, to));
        assert!(error.contains(told), "{error}");
    }
    let mut few = gf12();
    few.area.truncate(2);
    assert!(error(&few).starts_with("cannot fit 3 constants to 2 claims"), "{}", error(&few));
    let mut zero = gf12();
    zero.fit.insert("sbar_mm2".to_owned(), 0.0);
    assert!(error(&zero).starts_with("`fit.sbar_mm2` must be a number above 0"), "{}", error(&zero));
}

#[test]
fn all_errors_of_a_file_are_found() {
    let text = GF12_CLAIMS.replacen("node_nm", "node", 1).replacen("times = 0.390625", "times = 0.0", 1);
    let errors = Claims::parse("c.toml", &text).unwrap_err();
    let messages: Vec<&str> = errors.iter().map(|error| &*error.message).collect();
    assert_eq!(
        messages,
        [
            "the key `node_nm` is missing",
            "unknown key `node`",
            "invalid value `0.0` for `tied.vdm_bank_mm2_beyond_128.times`"
        ]
    );
}

/// The reason why no model meets all of the paper's areas: arithmetic on printed numbers and on the
/// line through its two SRAM macros, without other constants of ours.
mod conflicts {
    use super::*;

    /// Areas of machines whose bank networks and crossbars have no area: with C6, a lower bound.
    fn bare(hples: u32, banks: u32) -> f64 {
        let bare = AreaConstants {
            vdm_bank_mm2_to_32: 0.0,
            vdm_bank_mm2_to_64: 0.0,
            vdm_bank_mm2_to_128: 0.0,
            vdm_bank_mm2_beyond_128: 0.0,
            vbar_mm2: 0.0,
            sbar_mm2: 0.0,
            ..gf12_area()
        };
        Designs::default().area(&bare, [hples, banks]).total()
    }

    /// C5 leaves 4.1 mm2 of (128, 128) for networks and crossbars together. Even if all of it were
    /// proportional to the number of banks, (4, 256) would have at most 2.40 times the area of (4,
    /// 32); C7 says 2.5. The cost must grow faster than the number of banks.
    #[test]
    fn c7_needs_more_than_a_cost_per_bank() {
        let left = 20.5 - bare(128, 128);
        assert!((left - 4.11).abs() < 0.01, "{left}");
        let with = |banks: u32| bare(4, banks) + left / 128.0 * f64::from(banks);
        let ratio = with(256) / with(32);
        assert!((2.39..2.40).contains(&ratio), "{ratio}");
    }

    /// The reason why C10 is met only within its tolerance. If two doublings up to 128 banks add
    /// 10% or more each (C10), the design of 20.5 mm2 (C5) has at most 16.94 mm2 at 32 banks. Each
    /// of the first 32 banks then costs less than half of each of the next 32, and these cost more
    /// than each of the next 64: the cost per bank neither only grows nor only shrinks.
    #[test]
    fn c10_needs_banks_that_cost_more_in_the_middle() {
        let most_at_32 = 20.5 / 1.1 / 1.1;
        let first = (most_at_32 - bare(128, 32)) / 32.0;
        let middle = 0.1 * bare(128, 32) / 32.0;
        let last = (20.5 - 1.1 * bare(128, 32)) / 64.0;
        assert!(first < middle / 2.0 && last < middle, "{first} {middle} {last}");
    }

    /// The paper names the vector crossbar as the main part of the cost of 256 banks over 128 at 128 HPLEs.
    /// It doubles there, so at 128 banks it would need at least the area that the banks themselves add from
    /// 128 to 256. From 32 to 256, banks then cost no more than the 4.3 mm2 that C5 leaves at 32. C7 needs
    /// 6.5 mm2 of them at 4 HPLEs, where a crossbar that more than halves with each of five halvings of the
    /// HPLEs is negligible.
    #[test]
    fn c7_needs_banks_that_cost_more_than_the_crossbar() {
        let banks_at_most = 20.5 - bare(128, 32);
        let crossbar_at_4_hples = 2.0 * banks_at_most / 32.0;
        let needed = 1.5 * bare(4, 32) - crossbar_at_4_hples;
        assert!((banks_at_most - 4.27).abs() < 0.01, "{banks_at_most}");
        assert!(needed > 6.0, "{needed}");
    }

    /// The area that C7 and C8 leave for the crossbars: if C7 is met, a smaller vector crossbar
    /// meets C8 better.
    #[test]
    fn c7_and_c8_pull_at_the_vector_crossbar() {
        let c8 = |vbar_mm2: f64| {
            let mut claims = gf12();
            claims.given.get_mut("vbar_mm2").unwrap().value = vbar_mm2;
            for claim in &mut claims.area {
                claim.fit = ["C5", "C6", "C7"].contains(&&*claim.id);
            }
            let fitted = fit(&claims, &events()).unwrap();
            fitted.residuals.iter().find(|residual| residual.id == "C8").unwrap().ours
        };
        let [none, half, one] = [0.0, 0.5, 1.0].map(c8);
        assert!(1.2 < none && none < half && half < one, "{none} {half} {one}");
    }
}

#[test]
fn claims_of_any_size_are_no_panic() {
    for value in [f64::MAX, 1e80, 1e-200, f64::MIN_POSITIVE] {
        for change in [
            (|claim, value| claim.value = claim.value.map(|_| value)) as fn(&mut AreaClaim, f64),
            |claim, value| claim.tolerance = value,
        ] {
            let mut claims = gf12();
            claims.area.iter_mut().for_each(|claim| change(claim, value));
            let _ = fit(&claims, &events());
        }
        let mut claims = gf12();
        claims.fit.values_mut().for_each(|start| *start = value);
        let _ = fit(&claims, &events());
    }
    let mut claims = gf12();
    claims.area = std::iter::repeat_n(claims.area[0].clone(), 70).collect();
    assert_eq!(fit(&claims, &events()), Err(FitError::TooManyValues { printed: 70, max: MAX_PRINTED }));
    let mut claims = gf12();
    claims.area.iter_mut().for_each(|claim| claim.fit = false);
    assert!(matches!(fit(&claims, &events()), Err(FitError::TooFewClaims { .. })));
}
