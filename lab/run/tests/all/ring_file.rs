//! Ring programs in files, and their manifests.

use lab_run::RingFile;
use std::fs;
use std::path::Path;

fn manifest(title: &str) -> String {
    format!(
        r#"{{"title": "{title}", "ring_dimension": 512, "inputs": {{"x": [1]}}, "outputs": {{"y": [2]}}}}"#
    )
}

#[test]
fn a_program_has_the_manifest_beside_it_unless_another_one_is_given_and_a_degree_must_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.fhetch");
    let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nsr_negp %2, %1, m=1\nhalt\n";
    fs::write(&path, text).unwrap();
    let read = |manifest: Option<&Path>, n| {
        let file = RingFile::read(&path, manifest, n).map_err(|errors| errors.to_string())?;
        Ok((file.title, file.program.degree().get()))
    };
    let missing: Result<(String, u64), String> = read(None, None);
    assert!(missing.unwrap_err().contains("the text of a ring program does not say its degree"));
    assert_eq!(read(None, Some(1024)), Ok(("p.fhetch".into(), 1024)));
    fs::write(folder.path().join("p.json"), manifest("of an old name")).unwrap();
    assert_eq!(read(None, None), Ok(("of an old name".into(), 512)));
    assert_eq!(RingFile::manifest_beside(&path), folder.path().join("p.manifest.json"));
    assert_eq!(
        RingFile::manifest_beside(&path.with_extension("fhetch.xz")),
        folder.path().join("p.manifest.json")
    );
    fs::write(RingFile::manifest_beside(&path), manifest("beside")).unwrap();
    assert_eq!(read(None, None), Ok(("beside".into(), 512)));
    let other = folder.path().join("other.json");
    fs::write(&other, manifest("another")).unwrap();
    assert_eq!(read(Some(&other), None), Ok(("another".into(), 512)));
    for (named, title) in [(None, "beside"), (Some(other.as_path()), "another")] {
        assert_eq!(read(named, Some(512)), Ok((title.into(), 512)));
        let error = read(named, Some(1024)).unwrap_err();
        assert!(error.contains("the degree `n` is 1024, but the manifest says 512"), "{error}");
    }
}
