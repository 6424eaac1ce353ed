//! Bad input: one clear error with its place and what would be right, status 2, and no file
//! written. The messages are golden files in `tests/cli/refuse`.

use crate::common::{names, repository, rpu};
use std::fs;
use std::path::Path;

/// A wrong command line: the golden file's name, files to put into the folder, and arguments.
struct Case {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    args: &'static [&'static str],
}

const LARGE: (&str, &str) = (
    "large.b512",
    ".input x, 300000\n.output y, 512\n.modulus m1, 97\nvload v0, a0, x\nvstore v0, a0, y\nhalt\n",
);
const ADD: (&str, &str) = (
    "add.b512",
    ".kernel add\n.input a, 512\n.output c, 512\n.modulus m1, 97\n.computes c = add(a, a), n=512, modulus=97\n\
     vload v0, a0, a\nvadd v1, v0, v0, m1\nvstore v1, a0, c\nhalt\n",
);

const CLAIMS: (&str, &str) = (
    "claims.b512",
    "\
.input x, 1024
.input half, 512
.output y, 1024
.output u, 1024
.output v, 1024
.output w, 1024
.output z, 512
.output short, 512
.modulus m1, 12289
.computes y = nttt(x), n=1024, modulus=12289
.computes u = ntt(x), modulus=12289, rot=7
.computes v = add(x, half), n=1024, modulus=12289
.computes w = mul(x), n=1000, modulus=[12289]
.computes z = ntt(half), n=512, modulus=12281, root=12281
.computes short = sub(half, half), n=4294967296, modulus=12288
halt
",
);

const CASES: &[Case] = &[
    Case { name: "claims", files: &[CLAIMS], args: &["asm", "claims.b512"] },
    Case {
        name: "claim_of_too_few_operands",
        files: &[(
            "a.b512",
            ".input x, 512\n.output y, 512\n.output z, 512\n.computes y, z = add(x), n=512, modulus=97\nhalt\n",
        )],
        args: &["run", "a.b512", "--timing-only"],
    },
    Case {
        name: "claim_of_another_modulus",
        files: &[(
            "a.b512",
            ".input x, 512\n.output y, 512\n.modulus m1, 97\n.computes y = add(x, x), n=512, modulus=101\nhalt\n",
        )],
        args: &["run", "a.b512", "--timing-only"],
    },
    Case {
        name: "input_word_not_reduced",
        files: &[(
            "a.b512",
            ".input x, 512\n.output y, 512\n.modulus m1, 97\n.computes y = add(x, x), n=512, modulus=97\n\
             .words x {\n    1 2\n    96 97\n}\nhalt\n",
        )],
        args: &["asm", "a.b512"],
    },
    Case {
        name: "unknown_mnemonic",
        files: &[("a.b512", "vload v0, a0, 0\nvad v1, v0, v0, m1\nhalt\n")],
        args: &["asm", "a.b512", "-o", "a.o"],
    },
    Case {
        name: "register_range",
        files: &[("a.b512", "vadd v64, v0, v0, m1\nhalt\n")],
        args: &["asm", "a.b512"],
    },
    Case {
        name: "offset_range",
        files: &[("a.b512", "vload v0, a0, 1048576\nhalt\n")],
        args: &["run", "a.b512", "--output", "y=y.bin"],
    },
    Case {
        name: "word_not_reduced",
        files: &[("a.b512", ".table t, 512\n.modulus m1, 97\n.words t { 96 97 }\nhalt\n")],
        args: &["asm", "a.b512", "-o", "a.o"],
    },
    Case {
        name: "unknown_machine_key",
        files: &[("m.toml", "inherits = \"rpu-128x128\"\n\n[hple]\ncuont = 64\n")],
        args: &["gen", "ntt", "--n", "1024", "--machine", "m.toml", "-o", "k.o"],
    },
    Case {
        name: "unknown_override",
        files: &[],
        args: &["gen", "ntt", "--n", "1024", "-p", "vdm.bank=64", "-o", "k.o"],
    },
    Case {
        name: "bad_override_value",
        files: &[],
        args: &["gen", "ntt", "--n", "1024", "-p", "hple.count=100", "-o", "k.o"],
    },
    Case { name: "ring_size", files: &[], args: &["gen", "ntt", "--n", "1000", "-o", "k.o"] },
    Case {
        name: "modulus_without_roots",
        files: &[],
        args: &["gen", "ntt", "--n", "1024", "--modulus", "97", "-o", "k.o"],
    },
    Case {
        name: "composite_modulus",
        files: &[],
        args: &["gen", "ntt", "--n", "1024", "--modulus", "0x801_0000_1001", "-o", "k.o"],
    },
    Case {
        name: "not_a_root",
        files: &[],
        args: &["gen", "ntt", "--n", "1024", "--modulus", "12289", "--root", "2", "-o", "k.o"],
    },
    Case { name: "unknown_kernel", files: &[], args: &["gen", "polymull", "--n", "1024", "-o", "k.o"] },
    Case {
        name: "unknown_plan",
        files: &[],
        args: &["gen", "ntt", "--n", "1024", "--plan", "fastest", "-o", "k.o"],
    },
    Case {
        name: "program_too_long",
        files: &[],
        args: &["run", "long.b512", "-p", "frontend.instruction_memory_kib=1", "--timing-only"],
    },
    Case { name: "data_too_large", files: &[LARGE], args: &["run", "large.b512", "--output", "y=y.bin"] },
    Case { name: "absent_file", files: &[], args: &["run", "absent.o"] },
    Case { name: "neither_text_nor_object", files: &[], args: &["run", "bytes.bin"] },
    Case {
        name: "input_not_reduced",
        files: &[ADD],
        args: &["run", "add.b512", "--input", "a=large.bin", "--output", "c=c.bin"],
    },
    Case { name: "input_length", files: &[ADD], args: &["run", "add.b512", "--input", "a=short.bin"] },
    Case { name: "input_bytes", files: &[ADD], args: &["run", "add.b512", "--input", "a=bytes.bin"] },
    Case { name: "unknown_input", files: &[ADD], args: &["run", "add.b512", "--input", "b=short.bin"] },
    Case { name: "unknown_output", files: &[ADD], args: &["run", "add.b512", "--output", "d=d.bin"] },
    Case { name: "nothing_to_check", files: &[("a.b512", "halt\n")], args: &["run", "a.b512", "--check"] },
    Case {
        name: "sweep_unknown_key",
        files: &[("s.toml", "name = \"s\"\n[grid]\nhple.count = [4, 8]\nhple.cuont = [4]\n")],
        args: &["sweep", "s.toml"],
    },
    Case {
        name: "sweep_bad_value",
        files: &[("s.toml", "name = \"s\"\n[grid]\nhple.count = [4, 5]\n")],
        args: &["sweep", "s.toml"],
    },
    Case {
        name: "sweep_fixed_axis",
        files: &[("s.toml", "name = \"s\"\n[grid]\nn = [1024, 2048]\n")],
        args: &["sweep", "s.toml", "-p", "n=4096"],
    },
    Case { name: "sweep_shard", files: &[], args: &["sweep", "--shard", "5/4"] },
    Case { name: "merge_no_sweep", files: &[], args: &["sweep", "merge", "."] },
    Case { name: "unknown_code", files: &[], args: &["explain", "B999"] },
    Case {
        name: "diff_no_json",
        files: &[("a.json", "{ \"schema\": 2, }\n")],
        args: &["diff", "a.json", "a.json"],
    },
    Case {
        name: "diff_other_schema",
        files: &[("a.json", "{\n  \"schema\": 1000,\n  \"cycles\": 1\n}\n")],
        args: &["diff", "a.json", "a.json"],
    },
    Case {
        name: "diff_missing_key",
        files: &[("a.json", "{\n  \"schema\": 2,\n  \"cycles\": 1\n}\n")],
        args: &["diff", "a.json", "a.json"],
    },
];

#[test]
fn bad_input_is_refused() {
    for case in CASES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let put = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).expect("a file");
        for (name, content) in case.files {
            put(name, content.as_bytes());
        }
        put("bytes.bin", &[0xff; 40]);
        put("short.bin", &[0; 16]);
        let mut words = [[0; 16]; 512];
        words[300][0] = 97;
        put("large.bin", words.as_flattened());
        put("long.b512", ["vadd v1, v0, v0, m1\n".repeat(200).as_bytes(), b"halt\n"].concat().as_slice());
        let before = names(folder.path());

        let output = rpu(folder.path(), case.args);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{}: {}",
            case.name,
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.stdout.is_empty(), "{} printed something", case.name);
        assert_eq!(names(folder.path()), before, "{} wrote a file", case.name);
        let golden = Path::new(&repository("tests/cli/refuse")).join(case.name).with_extension("err");
        let errors = String::from_utf8(output.stderr).expect("messages are UTF-8");
        bless::fresh(golden, errors);
    }
}

/// The sources that the assembler's own tests refuse, and whose messages they hold.
#[test]
fn no_object_comes_from_a_wrong_source() {
    let sources = repository("b512-asm/tests/refuse");
    let mut tried = 0;
    for name in names(Path::new(&sources)).iter().filter(|name| name.ends_with(".b512")) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = rpu(folder.path(), &["asm", &format!("{sources}/{name}"), "-o", "out.o"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(output.stderr.starts_with(b"error[B"), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(names(folder.path()).is_empty(), "{name} left a file");
        tried += 1;
    }
    assert!(tried >= 20, "only {tried} sources");
}
