//! What `rpu lint` finds in ring programs.

use ring_program::{Interface, Manifest, lint, read};
use std::num::NonZeroU32;
use std::path::Path;

/// The findings about a program with two moduli, as `LINE CODE: message`.
fn findings(lines: &str) -> Vec<String> {
    findings_of(lines, Interface::Degree(512))
}

fn findings_of(lines: &str, interface: Interface<'_>) -> Vec<String> {
    let text = format!("modulus_count 3\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nm[2] 0x3C01\n{lines}halt\n");
    let program = read("p.fhetch", text.as_bytes(), interface).unwrap();
    let line = |line: Option<NonZeroU32>| line.map_or_else(|| "-".into(), |line| line.to_string());
    let finding = |finding: ring_program::lint::Finding| {
        format!("{} {}: {}", line(finding.line), finding.fault.code.name(), finding.fault)
    };
    lint(&program).into_iter().map(finding).collect()
}

#[test]
fn a_limb_in_another_form_is_found_once_with_the_line_that_shows_its_form() {
    // %1 is shown to have coefficients by line 5 only, and %2 by its sum with %1.
    let found = findings(
        "sr_addp %4, %1, %2, m=1\n\
         sr_ntt %3, %1, m=1\n\
         sr_mulp %5, %3, %2, m=1\n\
         sr_addp %6, %5, %4, m=1\n\
         sr_automorph_coeff %7, %6, k=5, m=1\n\
         sr_automorph_eval %8, %4, m=1, mask=511, logn=9, k=5\n\
         sr_intt %9, %2, m=1\n",
    );
    assert_eq!(
        found,
        [
            "7 F013: the operand has coefficients (line 6); `sr_mulp` takes values",
            "8 F013: one operand has values (line 7), the other has coefficients (line 6); transform one of them",
            "9 F013: the operand has values (line 7); `sr_automorph_coeff` takes coefficients",
            "10 F013: the operand has coefficients (line 6); `sr_automorph_eval` takes values",
            "11 F013: the operand has coefficients (line 6); `sr_intt` takes values",
        ]
    );
}

#[test]
fn forms_follow_copies_and_multiples_and_zero_has_both() {
    let fine = "sr_mulps %9, %9, 0, m=1\n\
         sr_addp %3, %1, %9, m=1\n\
         sr_intt %3, %3, m=1\n\
         sr_addp %3, %3, %9, m=1\n\
         sr_mulps %4, %3, 7, m=2\n\
         sr_ntt %4, %4, m=2\n\
         sr_mulp %4, %4, %2, m=2\n";
    assert_eq!(findings(fine), [""; 0]);
    let copied = "sr_ntt %2, %1, m=1\nsr_addps %3, %2, 0, m=0\nsr_negp %3, %3, m=1\nsr_ntt %4, %3, m=1\n";
    assert_eq!(findings(copied), ["8 F013: the operand has values (line 5); `sr_ntt` takes coefficients"]);
}

#[test]
fn residues_of_another_modulus_are_found_except_where_any_word_may_stand() {
    let found = findings(
        "sr_mulp %3, %1, %2, m=1\n\
         sr_addps %4, %3, 0, m=0\n\
         sr_addp %5, %4, %9, m=2\n\
         sr_mulps %6, %3, 3, m=2\n\
         sr_subp %7, %6, %1, m=2\n",
    );
    assert_eq!(
        found,
        [
            "7 F014: the operand has residues modulo m[1], the line is modulo m[2]; `sr_mulps` takes the words of any modulus",
            "9 F014: the operand has residues modulo m[1], the line is modulo m[2]; `sr_mulps` takes the words of any modulus",
        ]
    );
}

#[test]
fn moduli_of_the_manifest_are_those_of_the_lines() {
    let found = |inputs: &str, outputs: &str| {
        let manifest = format!(
            r#"{{"ring_dimension": 512, "inputs": {{"x": [1, 2], "y": [3]}}, "outputs": {{"z": [4, 6, 7]}},
                "moduli": {{"inputs": {{"x": {inputs}, "y": [2]}}, "outputs": {{"z": {outputs}}}}}}}"#
        );
        let manifest = Manifest::parse("m.json", &manifest, Path::new("")).unwrap();
        // Any word may stand in %3, and zeros are of any modulus.
        let lines = "sr_addp %4, %1, %2, m=1\nsr_mulps %5, %3, 2, m=1\nsr_addp %4, %4, %5, m=1\n\
                     sr_addps %6, %1, 0, m=0\nsr_mulps %7, %1, 0, m=1\n";
        findings_of(lines, Interface::Manifest(&manifest))
    };
    assert_eq!(found("[1, 1]", "[1, 1, 2]"), [""; 0]);
    for (moduli, id, declared) in [("[1, 2]", 2, 2), ("[0, 1]", 1, 0)] {
        assert_eq!(
            found(moduli, "[1, 1, 1]"),
            [format!(
                "- F014: the limb `%{id}` of the input `x` is modulo m[{declared}] by the manifest, but lines compute modulo m[1]"
            )]
        );
    }
    for (moduli, id, declared) in [("[2, 0, 1]", 4, 2), ("[1, 0, 1]", 6, 0)] {
        assert_eq!(
            found("[1, 1]", moduli),
            [format!(
                "- F014: the limb `%{id}` of the output `z` is modulo m[{declared}] by the manifest, but lines compute it modulo m[1]"
            )]
        );
    }
}

#[test]
fn results_that_nothing_reads_are_found_in_functions_too() {
    let overwritten = "sr_addp %3, %1, %2, m=1\nsr_subp %3, %1, %2, m=1\n";
    assert_eq!(findings(overwritten), ["5 F015: nothing reads this result"]);
    let used = "function f %1 -> %2\nsr_negp %2, %1, m=1\nend\ncall f %7 -> %8\n";
    assert_eq!(findings(used), [""; 0]);
    let function = "function f %1 -> %2\n\
           sr_addp %3, %1, %1, m=1\n\
           sr_subp %3, %1, %1, m=1\n\
           sr_ntt %2, %3, m=1\n\
           sr_ntt %2, %2, m=1\n\
         end\n\
         repeat 2\n  call f %7 -> %8\n  call f %7 -> %9\nend\n";
    let found = findings(function);
    assert_eq!(
        found,
        [
            // Each turn of the repeat writes the same limbs again.
            "- F015: no output depends on 2 of 4 calls of `f`",
            "6 F015: nothing reads this result",
            "9 F013: the operand has values (line 8); `sr_ntt` takes coefficients",
        ]
    );
}
