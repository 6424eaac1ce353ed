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
