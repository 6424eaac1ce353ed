//! What a file may cost: hostile files of every kind that a command reads, of `RPU_HOSTILE_BYTES` bytes,
//! within ten seconds of a processor and 2 GB. `.ci/long` gives them a MB.

use crate::common::process;
use rayon::prelude::*;
use std::fs;
use std::process::Output;

/// A command, and the file marked `@` of it: a head, copies of a unit up to the size, with the number of the
/// copy for `{}`, and a tail.
type Row = (&'static str, &'static str, &'static str, &'static str);

const TABLE: &str = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n";
const SYMBOLS: &str = ".input x, 512\n.output y, 512\n.modulus m0, 0x3001\n";
const C: &str = "//.input a, 512, at 0x0\n//.output c, 512, at 0x400\n//.modulus m0, 0x3001\nvoid f() {\n enter(OP_DEFAULT);\n";
const SWEEP: &str = "kernel = \"add\"\nn = 512\n";
const EXPLORE: &str = "kernel = \"add\"\nn = 512\n[grid]\nhple.count = [64]\n[explore]\n";
const SET: &str = "n = 1024\np = [{ bits = 60, count = 1 }]\ndigits = 1\nsecurity = \"none\"\n";

/// Ring programs. `$` stands for [`TABLE`].
const RING_PROGRAMS: &[(&str, &str, &str)] = &[
    ("$", "", "halt\n"),
    ("$# ", "x", "\n"),
    ("$", "s", ""),
    ("$", "sr_addp %2, %1, %1, m=1\n", "halt\n"),
    ("$", "sr_ntt %2{}, %1, m=1\n", "halt\n"),
    ("$", "sr_mulps %2, %1, 3, m=1\nsr_ntt %1, %2, m=1\n", "halt\n"),
    ("$", "sr_addp %3{}, %1{}, %2{}, m=1\n", "halt\n"),
    ("$", "sr_automorph_eval %2{}, %1, k=5, m=1\n", "halt\n"),
    ("$", "sr_add %2\n", "halt\n"),
    ("$sr_mulps %2, %1, ", "9", ", m=1\nhalt\n"),
    ("modulus_count 50000\n", "m[{}] 0x3001\n", "halt\n"),
    ("$", "function f{} %1 -> %1\nsr_mulps %1, %1, 3, m=1\nend\n", "halt\n"),
    ("$", "function f{} %1 -> %1\nsr_mulps %1, %1, 3, m=1\nend\ncall f{} %1 -> %1\n", "halt\n"),
    ("$function f %1 -> %1\nsr_mulps %1, %1, 3, m=1\nend\n", "call f %1 -> %1\n", "halt\n"),
    ("$function f %1 -> %1\nsr_mulps %1, %1, 3, m=1\nend\n", "repeat 2\n", "call f %1 -> %1\nend\nhalt\n"),
    (
        "$function f %1..%1000 -> %1..%1000\nsr_mulps %1, %1, 3, m=1\nend\n",
        "call f %1..%1000 -> %1..%1000\n",
        "halt\n",
    ),
    (
        "$function f0 %1 -> %1\nsr_mulps %1, %1, 3, m=1\nend\n",
        "function g{} %1 -> %1\ncall f0 %1 -> %1\nend\n",
        "halt\n",
    ),
    ("", "\0", ""),
];

/// Manifests of a program of one line.
const MANIFESTS: &[(&str, &str, &str)] = &[
    ("", "[", ""),
    ("", "{\"a\":", ""),
    ("", " ", "{\"ring_dimension\":512,\"inputs\":{\"a\":[1]},\"outputs\":{\"y\":[2]}}"),
    ("{\"ring_dimension\":512,\"inputs\":{\"a\":[1", ",{}", "]},\"outputs\":{\"y\":[2]}}"),
    ("{\"ring_dimension\":512,\"inputs\":{\"a\":[1]", ",\"b{}\":[3{}]", "},\"outputs\":{\"y\":[2]}}"),
    ("{\"ring_dimension\":512,\"inputs\":{\"a\":[1]},\"outputs\":{\"y\":[2]", ",\"b{}\":[2]", "}}"),
    ("{\"ring_dimension\":512,\"inputs\":{\"a\":[1]},\"outputs\":{\"y\":[2]},\"title\":\"", "x", "\"}"),
    ("{\"ring_dimension\":512,\"inputs\":{\"a\":[1]},\"outputs\":{\"y\":[2]}", ",\"k{}\":1", "}"),
    ("{\"ring_dimension\":512,\"inputs\":{\"a\":[1]},\"outputs\":{\"y\":[2]}", ",\"title\":\"x\"", "}"),
    ("{\"ring_dimension\":512,\"inputs\":{\"a\":[1]},\"outputs\":{\"y\":[2]},\"seeded\":[1", ",{}", "]}"),
    (
        "{\"ring_dimension\":512,\"inputs\":{\"a\":[1]},\"outputs\":{\"y\":[2]},\"regions\":[[0]",
        ",[{}]",
        "]}",
    ),
    ("{\"ring_dimension\":5", "1", ",\"inputs\":{\"a\":[1]},\"outputs\":{\"y\":[2]}}"),
];

/// Assembly text. `$` stands for [`SYMBOLS`].
const KERNELS: &[(&str, &str, &str)] = &[
    ("$", "vload v0, a0, x\n", "vstore v0, a0, y\nhalt\n"),
    ("$vload v0, a0, x\n", "vadd v0, v0, v0, m0\n", "vstore v0, a0, y\nhalt\n"),
    ("$", "vlod v0\n", ""),
    ("$", "v", ""),
    ("$vload v0, a0, ", "(", ""),
    ("$vload v0, a0, ", "1+", "1\nhalt\n"),
    ("$.const c = ", "2^", "2\nhalt\n"),
    ("", ".input x{}, 1\n", "halt\n"),
    ("", ".table t{}, 268435456\n", "halt\n"),
    ("$.table k, 100000, sdm\n.words k { ", "5, ", "5 }\nhalt\n"),
    ("$", ".repeat i, 2\n", ""),
    ("$", ".repeat i, 1048576\nvload v0, a0, x\n.end\n", "vstore v0, a0, y\nhalt\n"),
    ("$", ".computes y = x, n=512, modulus=0x3001\n", "halt\n"),
    ("$.computes y = ", "(", "x\n"),
    ("$.computes y = ", "x + ", "x, n=512, modulus=0x3001\nvload v0, a0, x\nvstore v0, a0, y\nhalt\n"),
    ("$.computes y = ", "neg(", "x\n"),
    ("$", ".modulus m0, 0x3001\n", "halt\n"),
    ("", "// x\n", ""),
    ("", "\0", ""),
];

/// C. `$` stands for [`C`].
const INTRINSICS: &[(&str, &str, &str)] = &[
    ("$", " _vload_512x128i(REG_V0, REG_A0, 0);\n", " leave(OP_DEFAULT);\n}\n"),
    ("/*", "x", ""),
    ("", "/* */\n", ""),
    ("", "/*/ ", ""),
    ("$", "x", ""),
    ("$", " _foo(1);\n", "}\n"),
    ("$ _vload_512x128i(", "(", ""),
    ("$ _vload_512x128i(", "1,", "1);\n}\n"),
    ("$ _vload_512x128i(REG_V0, REG_A0, ", "0", ");\n}\n"),
    ("", "#include <x.h>\n", ""),
    ("", "#define A 1\n", ""),
    ("", " ", ""),
];

/// TOML that is no document of its format; every reader of TOML gets it.
const TOML: &[(&str, &str, &str)] = &[
    ("a = ", "[", ""),
    ("a = ", "{a=", ""),
    ("", "k{} = 1\n", ""),
    ("", "[k{}]\n", ""),
    ("", "[[k]]\n", ""),
    ("a", ".a", " = 1\n"),
    ("name = \"", "x", "\"\n"),
    ("name = \"", "\\u0041", "\"\n"),
    ("", "a = 1\n", ""),
    ("n = ", "1", "\n"),
    ("n = 0x", "1", "\n"),
    ("a = [", "1,", "]\n"),
    ("a = \"\"\"", "x", ""),
    ("inherits = \"m.toml\"\n", "# x\n", ""),
    ("", "# x\n", ""),
];

/// Commands that read TOML.
const TOML_READERS: &[&str] = &[
    "machine check @m.toml",
    "sweep @m.toml --out d",
    "gen program keyswitch --set @m.toml -o o.fhetch",
    "gen ntt --n 1024 --plan @m.toml -o o.o",
    "fit @m.toml -o o.toml",
    "run ok.fhetch --n 512 --timing-only --mapping @m.toml",
    "run ok.b512 --timing-only -p technology=m.toml --machine @m.toml",
];

/// Other files.
const OTHERS: &[Row] = &[
    // Nearly all points are left to other tasks of a job array.
    (
        "sweep @s.toml --shard 1/100000 --out d",
        "kernel = \"add\"\nn = 512\n[grid]\nhbm.latency_ns = [1",
        ",1{}",
        "]\n",
    ),
    ("sweep @s.toml --out d", "kernel = \"add\"\nn = 512\n[grid]\nhple.count = [64", ",64", "]\n"),
    ("sweep @s.toml --out d", SWEEP, "[[list]]\nhple.count = 64\n", ""),
    ("sweep @s.toml --out d", SWEEP, "[[reference]]\nlabel = \"a\"\ntime_us = 1\n", ""),
    ("sweep @s.toml --out d", "kernel = \"add\"\nn = 512\n[input]\n", "x{} = \"a\"\n", ""),
    ("sweep @s.toml --out d", "kernel = \"add\"\nn = 512\nmodulus = \"", "1", "\"\n"),
    (
        "sweep @s.toml --out d",
        "kernel = \"hoisted-rotations\"\nset = \"ark\"\nn = 1024\nrotations = \"",
        "1,",
        "1\"\n",
    ),
    ("explore @s.toml --out d", EXPLORE, "constraints = [\"area_mm2 < 5\"]\n", ""),
    (
        "explore @s.toml --out d",
        "kernel = \"add\"\nn = 512\n[grid]\nhple.count = [64]\n[explore]\nconstraints = [",
        "\"area_mm2 < 5\",",
        "]\n",
    ),
    (
        "explore @s.toml --out d",
        "kernel = \"add\"\nn = 512\n[grid]\nhple.count = [64]\n[explore]\nconstraints = [\"",
        "area_mm2 < 5 && ",
        "area_mm2 < 5\"]\n",
    ),
    (
        "explore @s.toml --out d",
        "kernel = \"add\"\nn = 512\n[grid]\nhple.count = [64]\n[explore]\nconstraints = [\"",
        "(",
        "\"]\n",
    ),
    ("gen program keyswitch --set @s.toml -o o.fhetch", SET, "q = [{ bits = 50, count = 1 }]\n", ""),
    (
        "gen program keyswitch --set @s.toml -o o.fhetch",
        "n = 1024\np = [{ bits = 60, count = 1 }]\ndigits = 1\nsecurity = \"none\"\nq = [",
        "{ bits = 50, count = 1 },",
        "]\n",
    ),
    (
        "gen program keyswitch --set @s.toml -o o.fhetch",
        "n = 1024\np = [{ bits = 60, count = 1 }]\ndigits = 1\nsecurity = \"none\"\nq = [",
        "\"0x3001\",",
        "]\n",
    ),
    ("run ok.b512 --functional-only --input x=@d.json", "[1", ",1", "]"),
    ("run ok.b512 --functional-only --input x=@d.json", "", "[", ""),
    ("run ok.b512 --functional-only --input x=@d.json", "", "{\"a\":", ""),
    ("run ok.b512 --functional-only --input x=@d.json", "[1", "1", "]"),
    ("run ok.b512 --functional-only --input x=@d.json", "[1", ",1e308", "]"),
    ("run ok.b512 --functional-only --input x=@d.json", "[1", ",\"0x1\"", "]"),
    ("run ok.b512 --functional-only --input x=@d.bin", "", "\u{1}", ""),
    ("run ok.b512 --functional-only --input x=@d.npy", "\u{1}NUMPY", " ", ""),
    ("run @k.o --timing-only", "\u{7f}ELF\u{2}\u{1}\u{1}", "\0", ""),
    ("run @k.o --timing-only", "\u{7f}ELF\u{2}\u{1}\u{1}", "\u{1}", ""),
    ("run @k.o --timing-only", "\u{7f}ELF\u{2}\u{1}\u{1}\0\0\0\0\0\0\0\0\0", "\u{7f}\u{1}\0\0\0\0\0\0", ""),
    ("plot @t.csv --x a --y b -o o.svg", "a,b\n", "1,2\n", ""),
    ("plot @t.csv --x a --y b -o o.svg", "a,b", ",c{}", "\n1,2\n"),
    ("plot @t.csv --x a --y b -o o.svg", "a,b", ",a", "\n1,2\n"),
    ("plot @t.csv --x a --y b -o o.svg", "a,b\n", "1", ",2\n"),
    ("plot @t.csv --x a --y b -o o.svg", "a,b\n\"", "x", ""),
    (
        "plot @t.csv --x time_us --y area_mm2 -o o.svg",
        "kernel,n,time_us,area_mm2,cycles\n",
        "add,512,1{},2{},3\n",
        "",
    ),
];

/// The rows of all kinds.
fn rows() -> Vec<(&'static str, [String; 3])> {
    let row = |command: &'static str, preamble: &str, (head, unit, tail): &(&str, &str, &str)| {
        (command, [head.replacen('$', preamble, 1), (*unit).to_owned(), (*tail).to_owned()])
    };
    let mut rows = Vec::new();
    for command in
        ["run @p.fhetch --n 512 --timing-only", "run @p.fhetch --n 512 --check", "lint @p.fhetch --n 512"]
    {
        rows.extend(RING_PROGRAMS.iter().map(|parts| row(command, TABLE, parts)));
    }
    let command = "run ok.fhetch --manifest @p.json --timing-only";
    rows.extend(MANIFESTS.iter().map(|parts| row(command, "", parts)));
    for command in [
        "run @k.b512 --timing-only",
        "run @k.b512 --check",
        "prove @k.b512",
        "lint @k.b512",
        "asm @k.b512 -o o.o",
    ] {
        rows.extend(KERNELS.iter().map(|parts| row(command, SYMBOLS, parts)));
    }
    rows.extend(INTRINSICS.iter().map(|parts| row("run @k.c --timing-only", C, parts)));
    for command in TOML_READERS {
        rows.extend(TOML.iter().map(|parts| row(command, "", parts)));
    }
    rows.extend(OTHERS.iter().map(|&(command, head, unit, tail)| row(command, "", &(head, unit, tail))));
    rows
}

/// The content of a file of about so many bytes.
fn content([head, unit, tail]: &[String; 3], size: usize) -> String {
    let mut text = head.clone();
    for number in 0..size / unit.len().max(1) {
        if unit.is_empty() || text.len() >= size {
            break;
        }
        text += &unit.replace("{}", &number.to_string());
    }
    text + tail
}

/// Runs a command, on a hostile file if it marks one.
fn run(command: &str, parts: &[String; 3], size: usize) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("ok.fhetch"), format!("{TABLE}sr_mulps %2, %1, 3, m=1\nhalt\n")).unwrap();
    fs::write(folder.join("ok.b512"), format!("{SYMBOLS}vload v0, a0, x\nvstore v0, a0, y\nhalt\n")).unwrap();
    if let Some(marked) = command.split([' ', '=']).find_map(|word| word.strip_prefix('@')) {
        fs::write(folder.join(marked), content(parts, size)).unwrap();
    }
    // The limit of a process counts what it has reserved, so it has few threads.
    let limited = "ulimit -c 0; ulimit -v 2097152; ulimit -t 10; exec \"$0\" \"$@\"";
    let mut process = process("sh", folder);
    process.env("RAYON_NUM_THREADS", "2").args(["-c", limited, env!("CARGO_BIN_EXE_rpu")]);
    process.args(command.replace('@', "").split(' ')).output().unwrap()
}

/// What is wrong with the answer to a hostile file.
fn fault(command: &str, parts: &[String; 3], size: usize) -> Option<String> {
    let output = run(command, parts, size);
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_answer = matches!(output.status.code(), Some(0..=2)) && !errors.contains("panicked");
    // A refusal is short; findings about a program that runs are as many as it has.
    let is_short = output.status.success() || errors.len() < 1 << 16;
    (!is_answer || !is_short).then(|| {
        let first: String = errors.chars().take(300).collect();
        format!("rpu {command}: {parts:?}: {}, {} bytes of messages: {first}", output.status, errors.len())
    })
}

#[test]
fn hostile_files_of_every_kind_are_answered_in_time() {
    let size = std::env::var("RPU_HOSTILE_BYTES").map_or(1 << 14, |text| text.parse().expect("a number"));
    let rows = rows();
    let faults: Vec<String> =
        rows.par_iter().filter_map(|(command, parts)| fault(command, parts, size)).collect();
    println!("{} files of {size} bytes, {} faults", rows.len(), faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Short command lines that ask for a lot are refused at once.
#[test]
fn short_commands_that_ask_for_a_lot_are_refused() {
    let set =
        ["n = 1024\nq = [{ bits = 50, count = 1025 }]\np = [{ bits = 60, count = 1 }]\ndigits = 1\n", "", ""];
    for command in [
        "gen program logistic-regression --set lattigo-n16qp1546 --n 512 --iterations 1000000000 -o o.fhetch",
        "gen program logistic-regression --set lattigo-n16qp1546 --n 512 --blocks 4097 -o o.fhetch",
        "gen program hoisted-rotations --set ark --n 65536 --rotations 1..1025 -o o.fhetch",
        "gen program keyswitch --set @s.toml -o o.fhetch",
        "gen add --n 512 --towers 4000000000 -o o.o",
        "run ok.b512 --timing-only --stream 18446744073709551615",
        "sweep -j 100000 --out d",
    ] {
        let output = run(command, &set.map(str::to_owned), 0);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "rpu {command}: {errors}");
        assert!(errors.starts_with("error"), "rpu {command}: {errors}");
    }
}
