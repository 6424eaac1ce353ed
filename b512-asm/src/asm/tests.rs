use super::*;

#[test]
fn the_example_of_the_module_assembles() {
    let documentation = include_str!("../asm.rs").lines().map_while(|line| line.strip_prefix("//!"));
    let example = documentation.skip_while(|line| !line.ends_with("```text")).skip(1);
    let example: Vec<_> = example.take_while(|line| !line.ends_with("```")).collect();
    let program = assemble(&example.join("\n")).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((program.instructions.len(), program.symbols.len()), (5, 3));
}

#[test]
fn a_repetition_is_its_rounds_one_after_the_other() {
    let head = ".input x, 2048\n.output y, 2048\n";
    let short = ".const q = 2^60 - 93\n.const half = 2\n.modulus m1, q\n.repeat i, half\n.repeat j, half\n\
        vload v[2 * i + j], a0, x + 512 * (half * i + j), strided 2^(j)\n.end\nvadd v[i], v[i], v1, m1\n.end\n\
        vstore v1, a0, y + 2^3\nhalt";
    let long = ".modulus m1, 0xfffffffffffffa3\nvload v0, a0, x, strided 2^0\nvload v1, a0, x+512, strided 2^1\n\
        vadd v0, v0, v1, m1\nvload v2, a0, x+1024, strided 2^0\nvload v3, a0, x+1536, strided 2^1\n\
        vadd v1, v1, v1, m1\nvstore v1, a0, y+8\nhalt";
    assert_eq!(assemble(&(head.to_owned() + short)).unwrap(), assemble(&(head.to_owned() + long)).unwrap());
}

#[test]
fn expressions_follow_the_usual_order_of_operations() {
    for (text, value) in [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("2 * 3^2", 18),
        ("2^2^3", 256),
        ("20 - 3 - 2", 15),
        ("2^10 - 1", 1023),
    ] {
        let program = assemble(&format!(".const n = {text}\n.input x, n\nhalt")).unwrap();
        assert_eq!(program.symbols[0].words, value, "{text}");
    }
}

#[test]
fn an_error_names_its_round() {
    let error = |text: &str| assemble(text).unwrap_err().to_string();
    let round = error(".repeat i, 100\nvload v[i], a0, 0\n.end\nhalt");
    assert!(round.contains("register 64 is out of range (in the round with i = 64)"), "{round}");
    for (text, message) in [
        (".repeat i, 8\nhalt", "this repetition has no end"),
        (".input x, 512\nvload v0, a0, x strided 3\nhalt", "put a comma before `strided 3`"),
        ("halt\n.end", "`.end` without `.repeat`"),
        (".repeat i, 2\n.modulus m1, 7\n.end\nhalt", "a repetition has instructions only"),
        (".repeat i, 2^20 + 1\n.end\nhalt", "more than 1048576 rounds"),
        (".const n = 2^300\nhalt", "more than 256 bits"),
        (".const n = 2^128\nhalt", "not a number of up to 128 bits"),
        (".const n = 1 - 2\nhalt", "-1 is not a number"),
        (".input x, 8\n.address a1, x - 9\nhalt", "address -0x9 is outside the VDM"),
        (".const n = 1\n.const n = 2\nhalt", "`n` is defined twice"),
        (".const n = 1\n.input n, 8\nhalt", "`n` is defined twice"),
        (".input x, 8\n.modulus m1, x + 1\nhalt", "`x` is an address, not a number"),
        (".input x, 8\nvload v0, a0, 2 * x\nhalt", "this is no address"),
        ("loop:\nhalt", "there are no labels and no branches"),
        ("bnz v0\nhalt", "there are no labels and no branches"),
        (".table k, 8, sdm\nvload v0, a0, k\nhalt", "declare it without `sdm`, or load it with `sload`"),
    ] {
        let error = error(text);
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn claims_print_as_they_are_read() {
    let declared = ".input a, 64\n.input b, 64\n.input c, 64\n.output y, 64\n.computes y = ";
    let claim = |text: &str| assemble(&format!("{declared}{text}\nhalt")).unwrap().claims.remove(0);
    for (text, printed) in [
        ("add(mul(a, b), c)", "a * b + c"),
        ("(a + b) * c", "(a + b) * c"),
        ("a - (b - c)", "a - (b - c)"),
        ("a - b - c", "a - b - c"),
        ("a * (b * c)", "a * (b * c)"),
        ("5 * a", "0x5 * a"),
        ("ntt(a + b, k=1) + c", "ntt(a + b, k=1) + c"),
        ("add(a, b, k=1) * c", "add(a, b, k=1) * c"),
        // `2 * 3` would be one number.
        ("a + mul(2, 3)", "a + mul(0x2, 0x3)"),
        ("add(a)", "add(a)"),
    ] {
        assert_eq!(claim(text).to_string(), format!("y = {printed}"));
        assert_eq!(claim(printed), claim(text), "{text}");
    }
    // More operators than the reader takes are calls.
    let sum = "a + ".repeat(256);
    assert_eq!(claim(&format!("{sum}b")).to_string(), format!("y = {sum}b"));
    let wide = (0..9).fold("a".to_owned(), |half, _| format!("add({half}, {half})"));
    assert_eq!(claim(&wide).to_string(), format!("y = {wide}"));
}

/// Each level takes a part of the stack, or another pass over the text.
#[test]
fn long_chains_are_refused() {
    let nested = |depth: usize| {
        let begin: String = (0..depth).map(|level| format!(".repeat i{level}, 1\n")).collect();
        begin + "halt\n" + &".end\n".repeat(depth)
    };
    assert!(assemble(&nested(16)).is_ok());
    let sum =
        |count: usize, operator: &str| format!(".const n = {}1\nhalt", format!("1{operator}").repeat(count));
    for operator in ["+", "*", "^", " - (1) + "] {
        assert!(assemble(&sum(100, operator)).is_ok(), "{operator}");
    }
    let error = |text: &str| assemble(text).unwrap_err().to_string();
    for count in [257, 100_000] {
        for operator in ["+", "*", "^"] {
            assert!(error(&sum(count, operator)).contains("more than 256 operations in one expression"));
        }
    }
    // The expression is marked up to the operator.
    let errors = assemble(&sum(300, "+")).unwrap_err();
    assert_eq!(errors.iter().next().unwrap().marked(), Some(&*"1+".repeat(257)));
    assert!(error(&nested(17)).contains("more than 16 repetitions inside of each other"));
    assert!(error(&nested(20_000)).contains("more than 16 repetitions inside of each other"));
}

#[test]
fn symbols_follow_the_end_of_those_before_in_their_memory() {
    let source = ".input x, 8, at 16\n.table k, 3, sdm\n.output y, 4, at x\n.scratch z, 1\nhalt";
    let program = assemble(source).unwrap();
    let starts: Vec<_> = program.symbols.iter().map(|symbol| symbol.start).collect();
    assert_eq!(starts, [16, 0, 16, 24]);
}

#[test]
fn words_are_expressions() {
    let words = |text: &str| {
        let source = format!(".const q = 2^60 - 93\n.table k, 4\n.words k {{ {text} }}\nhalt");
        match assemble(&source) {
            Ok(program) => Ok(program.image(Space::Vdm).segments[0].words.clone()),
            Err(errors) => Err(errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>()),
        }
    };
    let q = (1 << 60) - 93;
    for (text, expected) in [
        ("q", vec![q]),
        ("q-1 2 q - 1, 2", vec![q - 1, 2, q - 1, 2]),
        ("2+3 // and\n 4", vec![5, 4]),
        ("2^3 (1 + 1) * 3\n0x10 2^3^2", vec![8, 6, 16, 512]),
        ("3 (1) q", vec![3, 1, q]),
    ] {
        assert_eq!(words(text), Ok(expected), "{text}");
    }
    for (text, errors) in [
        ("1 - 2 5 - 9", vec!["-1 is not a number of up to 128 bits", "-4 is not a number of up to 128 bits"]),
        ("2 + } 1", vec!["expected a number or a name, found `}`"]),
        ("1 2 +\n 3", vec!["expected a number or a name, found the end"]),
        ("(1 + 2 3", vec!["expected `)`, found `3`"]),
        ("2 +3", vec!["`+3` is no word of its own"]),
        ("2 q * 3 -q", vec!["`-q` is no word of its own"]),
        ("+ 3", vec!["`+` is not a number of up to 128 bits"]),
        ("k", vec!["`k` is an address, not a number"]),
        ("qq 12a", vec!["unknown symbol `qq`", "`12a` is not a number of up to 128 bits"]),
        ("ntt(q)", vec!["`ntt` is no number"]),
    ] {
        let found = words(text).unwrap_err();
        assert_eq!(found[..errors.len()], errors[..], "{text}: {found:?}");
    }
    // A chain that is too long is one error.
    assert_eq!(words(&format!("1{}", " + 1".repeat(300))).unwrap_err().len(), 1);
}

#[test]
fn a_values_place_is_found_among_comments_and_commas() {
    let source = ".table t, 3\n.modulus m1, 7\n.words t { 1, // one\n 0x2,, # two\n 9 }\nhalt";
    let errors = assemble(source).unwrap_err();
    let spans: Vec<_> = errors.iter().map(|error| error.marked().unwrap()).collect();
    assert_eq!(spans, ["9"]);
}
