use super::*;

/// A schema with each keyword.
fn schema() -> Schema {
    let text = r##"{
        "type": "object", "additionalProperties": false, "required": ["n", "q"],
        "properties": {
            "n": { "type": "integer", "minimum": 2, "maximum": 64, "description": "Degree of the ring." },
            "q": { "$ref": "#/definitions/moduli", "description": "Moduli." },
            "order": { "enum": ["by-step", "by-level"] },
            "share": { "type": "number", "exclusiveMinimum": 0 },
            "pair": { "type": "array", "minItems": 2, "maxItems": 2, "items": { "type": "integer" } },
            "rest": { "type": "object", "additionalProperties": { "type": "boolean" } }
        },
        "definitions": { "moduli": { "type": "array", "minItems": 1, "items": { "anyOf": [
            { "type": "string" },
            { "type": "object", "additionalProperties": false, "required": ["bits"],
              "properties": { "bits": { "type": "integer" } } }
        ] } } }
    }"##;
    Schema::new(Format::Set, text)
}

fn errors(document: Result<Document<'_>, Diagnostics>) -> Vec<String> {
    let checked = document.and_then(|document| schema().check(&document));
    checked
        .err()
        .into_iter()
        .flat_map(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>())
        .collect()
}

#[test]
fn all_errors_of_a_toml_text_are_found_in_their_order() {
    let text = "n = 65\norder = \"by_step\"\nsharp = 1\npair = [1]\n[rest]\na = 3\n[[q]]\nbit = 3\n";
    assert_eq!(
        errors(Document::toml("s.toml", text)),
        [
            "s.toml:1:5: D004: invalid value `65` for `n`; it must be a whole number from 2 to 64: degree of the ring",
            "s.toml:2:9: D004: invalid value `\"by_step\"` for `order`; it must be `\"by-step\"` or `\"by-level\"`; did you mean `\"by-step\"`?",
            "s.toml:3:1: D002: unknown key `sharp`; did you mean `share`?",
            "s.toml:4:8: D004: invalid value for `pair`; it must be a list of 2 values, each a whole number",
            "s.toml:6:5: D004: invalid value `3` for `rest.a`; it must be `true` or `false`",
            "s.toml:8:1: D002: unknown key `q.bit`; did you mean `bits`?",
        ]
    );
    assert!(errors(Document::toml("s.toml", "n = 2\nq = [\"3\", { bits = 5 }]\n")).is_empty());
}

#[test]
fn json_has_the_same_errors_with_its_own_words() {
    let text = "{\n  \"n\": 2.5,\n  \"q\": [\"3\", 4, \"\\u0035\"],\n  \"r\\u0065st\": {\"a\": true}\n}";
    assert_eq!(
        errors(Document::json("s.json", text)),
        [
            "s.json:2:8: D004: invalid value `2.5` for `n`; it must be a whole number from 2 to 64: degree of the ring",
            "s.json:3:14: D004: invalid value `4` for `q`; it must be a quoted string or an object with `bits`; did you mean `\"4\"`?",
        ]
    );
    assert_eq!(
        errors(Document::json("", "{\"n\": 2, \"q\": [], \"n\": 3}")),
        ["1:19: D001: duplicate key `n`"]
    );
}

#[test]
fn missing_keys_and_other_formats_are_named() {
    assert_eq!(
        errors(Document::toml("s.toml", "share = 0.5\n")),
        [
            "s.toml: D003: the key `n` is missing; add `n`: degree of the ring",
            "s.toml: D003: the key `q` is missing; add `q`: moduli",
        ]
    );
    let machine = errors(Document::toml("s.toml", "name = \"m\"\n[vdm]\nbanks = 3\n"));
    assert!(
        machine[0].starts_with("s.toml:2:2: D005: this is a machine, not a parameter set; `vdm`"),
        "{machine:?}"
    );
}

#[test]
fn broken_texts_have_errors_of_syntax() {
    assert!(errors(Document::toml("", "n = \n"))[0].starts_with("1:5: D001: "));
    assert!(errors(Document::json("", "{\"n\": }"))[0].starts_with("1:7: D001: "));
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(errors(Document::json("", &deep)).len(), 1);
    for text in ["", "\u{feff}", "{", "nul", "\"\\x\"", "1e999", "[1,2", "{\"a\":1,}"] {
        assert!(!errors(Document::json("", text)).is_empty(), "{text}");
    }
}

#[test]
fn values_inside_of_each_other_have_a_limit() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert!(Document::json("s.json", &nested(64)).is_ok(), "{open}");
        let column = 64 * open.len() + 1;
        let expected = format!("s.json:1:{column}: D001: more than 64 values inside of each other");
        assert_eq!(errors(Document::json("s.json", &nested(65))), [expected]);
    }
}

#[test]
fn parts_of_a_text_have_places() {
    let text = "a = \"\"\"\nfirst\nsecond\"\"\"\nb = \"x\\ty\"\n";
    let document = Document::toml("", text).unwrap();
    let (a, b) = (document.root().get("a").unwrap(), document.root().get("b").unwrap());
    assert_eq!(document.source(&document.part(a, &(6..12))), "second");
    assert_eq!(document.source(&document.part(b, &(0..1))), "\"x\\ty\"");
}

#[test]
fn a_table_has_a_limit() {
    let keys = |count: usize| (0..count).map(|key| format!("k{key} = 1\n")).collect::<String>();
    assert_eq!(Document::toml("", &keys(1000)).unwrap().root().fields().len(), 1000);
    for head in ["", "[a.b]\n", "[[a]]\nb = 1\n[[a]]\n"] {
        let errors = errors(Document::toml("s.toml", &format!("{head}{}", keys(1001))));
        let line = 1001 + head.matches('\n').count();
        assert_eq!(errors, [format!("s.toml:{line}:1: D001: more than 1000 keys in one table")]);
    }
}

#[test]
fn values_have_their_types_and_ranges() {
    let text = r#"{
        "type": "object",
        "properties": {
            "closed": { "type": "number", "minimum": 0.5, "maximum": 2.5 },
            "open": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
            "word": { "type": "string", "minLength": 1, "maxLength": 3 },
            "items": { "type": "array", "minItems": 1, "maxItems": 2 },
            "either": { "type": ["integer", "boolean"] },
            "one": { "enum": [1, true, "a"] },
            "free": { "type": "string" }
        }
    }"#;
    let schema = Schema::new(Format::Set, text);
    for (key, right, wrong) in [
        ("closed", "0.5 1 2.5", "0.4 2.6 -inf nan"),
        ("open", "0.01 0.99", "0 0.0 1 1.0 -0.5"),
        ("word", "'a' 'abc'", "'' 'abcd' 1"),
        ("items", "[1] [1,2]", "[] [1,2,3]"),
        ("either", "3 false", "3.5 'a'"),
        ("one", "1 true 'a'", "2 false 'b' 1.0"),
    ] {
        let check = |value: &str| {
            let text = format!("{key} = {value}\n");
            let document = Document::toml("s.toml", &text).unwrap();
            assert_eq!(
                schema.check(&document).is_ok(),
                schema.check_key(&document, key, document.root().get(key).unwrap()).is_ok()
            );
            schema.check(&document).is_ok()
        };
        assert!(right.split(' ').all(check), "{key}");
        assert!(!wrong.split(' ').any(check), "{key}");
    }
    // A message repeats a value that is one word.
    let message = |text: &str| {
        let document = Document::toml("s.toml", text).unwrap();
        schema.check(&document).unwrap_err().iter().next().unwrap().message.clone()
    };
    let word = |length: usize| format!("'{}'", "x".repeat(length - 2));
    assert_eq!(
        message(&format!("closed = {}", word(60))),
        format!("invalid value `{}` for `closed`", word(60))
    );
    for long in [word(61), "\"\"\"x\ny\"\"\"".to_owned(), "[1]".to_owned()] {
        assert_eq!(message(&format!("closed = {long}")), "invalid value for `closed`");
    }
}

#[test]
fn schemas_have_words() {
    for (schema, words) in [
        (r#"{"type": "number", "minimum": 1, "maximum": 2}"#, "a number from 1 to 2"),
        (r#"{"type": "integer", "exclusiveMinimum": 0, "maximum": 5}"#, "a whole number above 0, at most 5"),
        (
            r#"{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}"#,
            "a number above 0 and below 1",
        ),
        (r#"{"type": "integer", "minimum": 0}"#, "a whole number, zero or more"),
        (r#"{"type": "integer", "minimum": 3, "maximum": 4294967295}"#, "a whole number of at least 3"),
        (r#"{"type": "number", "exclusiveMinimum": 0}"#, "a number above 0"),
        (r#"{"type": "integer", "maximum": 5}"#, "a whole number of at most 5"),
        (r#"{"type": ["string", "boolean"]}"#, "a quoted string or `true` or `false`"),
        (r#"{"type": "array"}"#, "a list of values"),
        (r#"{"type": "array", "minItems": 1}"#, "a list of one value or more"),
        (r#"{"type": "array", "minItems": 2}"#, "a list of 2 values or more"),
        (r#"{"type": "array", "minItems": 2, "maxItems": 3}"#, "a list of values"),
        (r#"{"type": "object", "required": ["a", "b", "c", "d"]}"#, "a table with `a`, `b`, `c` and `d`"),
        (r#"{"type": "object", "required": ["a", "b", "c", "d", "e"]}"#, "a table"),
    ] {
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        assert_eq!(describe::describe(&schema, &schema, Syntax::Toml), words, "{schema}");
    }
    for (description, remark) in [
        ("Degree of the ring.\nMore.", ": degree of the ring"),
        ("A list.", ": a list"),
        ("RNS moduli.", ": RNS moduli"),
        ("X", ": X"),
    ] {
        let schema = serde_json::json!({ "description": description });
        assert_eq!(describe::remark(&schema, &schema), remark);
    }
}

#[test]
fn a_key_of_its_own_shows_the_format() {
    let of = |text: &str| {
        let document = Document::toml("", text).unwrap();
        Format::Set.foreign(document.root()).map(|(_, key, format)| (key, format.name()))
    };
    assert_eq!(of("vdm = 1\ngrid = 2\n"), Some(("vdm".to_owned(), "machine")));
    assert_eq!(of("vdm = 1\nq = 2\n"), None);
    assert_eq!(of("q = 2\nvdm = 1\n"), None);
    assert_eq!(of("other = 1\n"), None);
}

#[test]
fn each_format_has_words_and_keys_of_its_own() {
    let distinct = |word: fn(Format) -> &'static str| {
        Format::ALL.map(word).into_iter().collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!([Format::name, Format::noun, Format::remedy].map(distinct), [Format::ALL.len(); 3]);
    for (key, format) in [
        ("vdm", Format::Machine),
        ("explore", Format::Sweep),
        ("stagger", Format::Plan),
        ("operation", Format::Library),
        ("p", Format::Set),
        ("tied", Format::Claims),
        ("training", Format::Setting),
        ("outputs", Format::Manifest),
        ("recipes", Format::Mapping),
    ] {
        let text = format!("other = 1\n{key} = 1\n");
        let document = Document::toml("", &text).unwrap();
        let found = Format::Technology.foreign(document.root()).map(|(_, key, format)| (key, format));
        assert_eq!(found, Some((key.to_owned(), format)));
        assert_eq!(format.foreign(document.root()), None, "{key}");
    }
}

#[test]
fn a_schema_has_the_table_with_a_key() {
    let schema = Schema::new(
        Format::Machine,
        r#"{"properties": {"hple": {"properties": {"count": {}}}, "vdm": {"properties": {"banks": {}}}, "n": {}}}"#,
    );
    assert_eq!(
        ["banks", "count", "vdm"].map(|key| schema.table_with(key)),
        [Some("vdm"), Some("hple"), None]
    );
}

#[test]
fn errors_of_json_mark_their_part() {
    let marked = |text: &str| {
        let error = Document::json("s.json", text).unwrap_err().iter().next().unwrap().clone();
        (error.position().unwrap(), error.marked().unwrap().to_owned())
    };
    assert_eq!(marked("{\"n\": }"), ((1, 7), "}".to_owned()));
    // The text ends within a string, and its last character has two bytes.
    assert_eq!(marked("\n\"\u{e5}"), ((2, 2), "\u{e5}".to_owned()));
    assert_eq!(marked("{\"n\": 2, \"n\": 3}"), ((1, 10), "\"n\"".to_owned()));
}

#[test]
fn a_document_has_a_file_and_values() {
    let text = r#"{"a": [1, 2.5, "x", true, false], "b": {"c": 0}}"#;
    let document = Document::json("s.json", text).unwrap();
    assert_eq!((document.file(), document.syntax()), ("s.json", Syntax::Json));
    let value = document.root().value().unwrap();
    assert_eq!(
        value,
        ::toml::from_str("a = [1, 2.5, 'x', true, false]\nb = { c = 0 }").map(::toml::Value::Table).unwrap()
    );
    assert_eq!(Document::json("", r#"{"a": null}"#).unwrap().root().value(), None);
}
