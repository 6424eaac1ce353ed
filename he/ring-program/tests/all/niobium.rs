//! Niobium's manifests with their files.

use ring_program::{Interface, LimbId, Manifest, read};
use std::fs;
use std::path::Path;

const REPLAY: &str = r#"{
  "crypto_context": {"scheme_name": "CKKS", "ring_dimension": 512,
                     "modulus_chain": [18446744073709551615, 12289]},
  "files": {"instructions": "p.fhetch", "inputs": "p.inputs.json", "outputs": "p.outputs.json",
            "evalmult_keys": "p.mk.bin", "evalmult_ids": "p.mk.ids"},
  "niobium_hw": false
}"#;

const INPUTS: &str = r#"{"input_count": 2, "inputs": [
    {"name": "ct_a", "ids_file": "p.input_ct_a.ids", "bin_file": "p.input_ct_a.bin"},
    {"name": "dcrtpoly_3", "ids_file": "p.input_dcrtpoly_3.ids", "bin_file": "p.input_dcrtpoly_3.bin"}]}"#;

const OUTPUTS: &str = r#"{"outputs": [{"name": "result", "payload_type": "ciphertext", "ciphertext_data": [
    {"poly_index": 0, "elements": [9]}, {"poly_index": 1, "elements": [8]}]}]}"#;

const PROGRAM: &str = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n\
    sr_addp %9, %1, %2, m=1\nsr_mulp %8, %9, %5, m=1\nhalt\n";

fn ids(ids: &[u64]) -> Vec<u8> {
    std::iter::once(&(ids.len() as u64)).chain(ids).flat_map(|word| word.to_le_bytes()).collect()
}

fn recording() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).unwrap();
    write("fhetch_replay.json", REPLAY.as_bytes());
    write("p.inputs.json", INPUTS.as_bytes());
    write("p.outputs.json", OUTPUTS.as_bytes());
    write("p.input_ct_a.ids", &ids(&[1, 2]));
    write("p.input_dcrtpoly_3.ids", &ids(&[3]));
    write("p.mk.ids", &ids(&[5, 6]));
    folder
}

fn manifest(folder: &Path) -> Result<Manifest, String> {
    Manifest::read_file(&folder.join("fhetch_replay.json")).map_err(|error| error.to_string())
}

/// A chain without the sentinel is another list.
#[test]
fn a_chain_begins_with_the_sentinel() {
    let folder = recording();
    let replay = REPLAY.replace("18446744073709551615, 12289", "40961, 12289");
    fs::write(folder.path().join("fhetch_replay.json"), replay).unwrap();
    assert_eq!(manifest(folder.path()).unwrap().moduli, None);
}

#[test]
fn all_lists_of_a_recording_are_read() {
    let folder = recording();
    let manifest = manifest(folder.path()).unwrap();
    let groups = manifest.inputs.iter();
    let groups: Vec<_> = groups.map(|group| (group.name.as_str(), group.ids.as_slice())).collect();
    let id = LimbId;
    assert_eq!(
        groups,
        [("ct_a", &[id(1), id(2)][..]), ("dcrtpoly_3", &[id(3)]), ("evalmult_key", &[id(5), id(6)])]
    );
    assert_eq!(manifest.outputs.as_ref().unwrap()[0].ids, [id(9), id(8)]);
    assert_eq!((manifest.degree, manifest.moduli.as_deref()), (512, Some(&[12289][..])));
    assert!(manifest.warnings.is_empty());

    let program = read("p.fhetch", PROGRAM.as_bytes(), Interface::Manifest(&manifest)).unwrap();
    assert_eq!(program.inputs().len(), 3);
    assert_eq!(program.ids(&program.outputs()[0]), [id(9), id(8)]);
    // The same in the project's own form.
    let own = Manifest::parse("", &Manifest::of(&program).to_json(), Path::new("")).unwrap();
    assert_eq!((&own.inputs, &own.outputs), (&manifest.inputs, &manifest.outputs));
}

#[test]
fn entries_of_one_name_are_one_output() {
    let folder = recording();
    let of_name = |name: &str, id: u64| {
        format!(
            r#"{{"name": "{name}", "payload_type": "ciphertext", "ciphertext_data": [{{"poly_index": 0, "elements": [{id}]}}]}}"#
        )
    };
    let outputs = [("a", 9), ("b", 8), ("a", 1)].map(|(name, id)| of_name(name, id)).join(", ");
    fs::write(folder.path().join("p.outputs.json"), format!(r#"{{"outputs": [{outputs}]}}"#)).unwrap();
    let outputs = manifest(folder.path()).unwrap().outputs.unwrap();
    let outputs: Vec<_> = outputs.iter().map(|group| (group.name.as_str(), group.ids.as_slice())).collect();
    assert_eq!(outputs, [("a", &[LimbId(9), LimbId(1)][..]), ("b", &[LimbId(8)])]);
}

#[test]
fn lists_that_contradict_themselves_are_refused() {
    for (file, from, to, message) in [
        (
            "p.inputs.json",
            "\"input_count\": 2",
            "\"input_count\": 3",
            "`input_count` is 3, but the list has 2",
        ),
        ("p.inputs.json", "\"dcrtpoly_3\"", "\"ct_a\"", "a second input `ct_a`"),
        ("p.inputs.json", "\"dcrtpoly_3\"", "\"\"", "the name `` is not one line of text"),
        (
            "p.outputs.json",
            "\"poly_index\": 1",
            "\"poly_index\": 0",
            "the indices [0, 0], not in their order",
        ),
    ] {
        let folder = recording();
        let path = folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(path, text.replace(from, to)).unwrap();
        let error = manifest(folder.path()).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn without_a_list_of_ids_only_its_inputs_have_no_names() {
    let folder = recording();
    fs::remove_file(folder.path().join("p.input_ct_a.ids")).unwrap();
    let manifest = manifest(folder.path()).unwrap();
    assert!(!manifest.inputs_are_complete);
    assert!(manifest.warnings[0].contains("p.input_ct_a.ids` is missing"), "{:?}", manifest.warnings);
    let program = read("p.fhetch", PROGRAM.as_bytes(), Interface::Manifest(&manifest)).unwrap();
    let names: Vec<_> = program.inputs().iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["dcrtpoly_3", "evalmult_key", "id1", "id2"]);
    assert_eq!(program.outputs()[0].name, "result");
}

#[test]
fn damaged_files_are_errors() {
    let folder = recording();
    let path = folder.path().join("p.mk.ids");
    for content in [vec![], vec![1, 2, 3], ids(&[1, 2])[..16].to_vec(), [ids(&[1, 2]), vec![0; 8]].concat()] {
        fs::write(&path, &content).unwrap();
        let error = manifest(folder.path()).unwrap_err();
        assert!(
            error.contains(&format!("p.mk.ids: D004: invalid list of ids: {} bytes", content.len())),
            "{error}"
        );
    }
    fs::write(folder.path().join("p.outputs.json"), OUTPUTS.replace("[9]", "[-9]")).unwrap();
    fs::write(&path, ids(&[5])).unwrap();
    let error = manifest(folder.path()).unwrap_err();
    assert!(
        error.contains("p.outputs.json:2:") && error.contains("`outputs.ciphertext_data.elements`"),
        "{error}"
    );
}
