//! Regions in texts, expansions and manifests.

use crate::functions::texts;
use proptest::prelude::*;
use ring_program::{
    Interface, Manifest, Owner, Region, RegionKind, RegionWriter, Regions, RingProgram, read,
};
use std::path::Path;

/// Regions of a text by random begins and ends.
fn regions(lines: usize, choices: &[u8]) -> Vec<Region> {
    let mut writer = RegionWriter::default();
    let mut choices = choices.iter().cycle();
    for line in 0..lines {
        for _ in 0..3 {
            let choice = choices.next().copied().unwrap_or_default();
            match choice % 5 {
                0 | 1 => {
                    let kind = RegionKind::ALL[usize::from(choice / 5 % 2)].1;
                    writer.begin(kind, format!("region {}", choice / 10 % 4), line);
                }
                2 if writer.depth() > 0 => writer.end(line),
                _ => {}
            }
        }
    }
    writer.finish(lines).into_vec()
}

/// The names around each line, by a search.
fn owners<'r>(regions: &'r [Region], lines: usize) -> Vec<Owner<'r>> {
    let owner = |line: usize| {
        let mut owner = Owner::default();
        for region in regions.iter().filter(|region| region.lines.contains(&line)) {
            match region.kind {
                RegionKind::Stage => owner.stages.push(&region.name),
                RegionKind::Operation => owner.operations.push(&region.name),
            }
        }
        owner
    };
    (0..lines).map(owner).collect()
}

fn owners_of(regions: &Regions, lines: usize) -> Vec<Owner<'_>> {
    let owner = |line| regions.innermost(line).map(|index| regions.owner(index)).unwrap_or_default();
    (0..lines).map(owner).collect()
}

fn with_regions(text: &str, choices: &[u8]) -> RingProgram {
    let mut program = read("", text.as_bytes(), Interface::Degree(512)).unwrap();
    program.set_regions(None, regions(program.own_lines(), choices)).unwrap();
    for (index, name) in
        program.functions().iter().map(|function| function.name().to_owned()).enumerate().collect::<Vec<_>>()
    {
        let function = program.function_index(&name).unwrap();
        let lines = program.function(function).body().own_lines();
        program.set_regions(Some(function), regions(lines, &choices[index % choices.len()..])).unwrap();
    }
    program
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_innermost_region_is_that_of_a_search(lines in 1..60_usize, choices in prop::collection::vec(any::<u8>(), 1..80)) {
        let list = regions(lines, &choices);
        let regions = Regions::new(list.clone(), lines).unwrap();
        let expected = owners(&list, lines);
        prop_assert_eq!(&owners_of(&regions, lines), &expected);
        // Segments are all lines once, in order, and each has one innermost region.
        let mut next = 0;
        for (range, region) in regions.segments(lines) {
            prop_assert_eq!(range.start, next);
            prop_assert!(range.end > range.start);
            next = range.end;
            for line in range {
                prop_assert_eq!(regions.innermost(line), region);
            }
        }
        prop_assert_eq!(next, lines);
    }

    #[test]
    fn manifests_keep_regions_and_the_expansion_has_them((_, text) in texts(), choices in prop::collection::vec(any::<u8>(), 1..80)) {
        let program = with_regions(&text, &choices);
        let manifest = Manifest::parse("", &Manifest::of(&program).to_json(), Path::new("")).unwrap();
        let again = read("", program.to_text().as_bytes(), Interface::Manifest(&manifest)).unwrap();
        prop_assert_eq!(again.regions(), program.regions());
        for (one, other) in again.functions().iter().zip(program.functions()) {
            prop_assert_eq!(one.body().regions(), other.body().regions());
        }
        prop_assert_eq!(Manifest::of(&again).to_json(), Manifest::of(&program).to_json());

        // Each line of the expansion belongs to the regions of its call, then to those of its function.
        let mut written = Vec::new();
        fn calls(steps: &[ring_program::Step], next: &mut usize, written: &mut Vec<usize>) {
            for step in steps {
                match step {
                    ring_program::Step::Call(_) => { written.push(*next); *next += 1; }
                    ring_program::Step::Repeat(count, steps) => {
                        let first = *next;
                        for _ in 0..count.get() { *next = first; calls(steps, next, written); }
                    }
                }
            }
        }
        calls(program.steps(), &mut 0, &mut written);
        let own = owners(program.regions().as_slice(), program.own_lines());
        let mut expected = Vec::new();
        for (call, written) in program.calls().zip(written) {
            let body = program.function(call.function).body();
            for inner in owners(body.regions().as_slice(), body.own_lines()) {
                let mut owner = own[written].clone();
                owner.stages.extend(inner.stages);
                owner.operations.extend(inner.operations);
                expected.push(owner);
            }
        }
        let flat = program.flat();
        prop_assert_eq!(owners_of(flat.regions(), flat.own_lines()), expected);
    }
}

#[test]
fn a_writer_lists_regions_with_lines_in_the_order_of_their_begins() {
    let mut writer = RegionWriter::default();
    writer.begin(RegionKind::Stage, "a", 0);
    writer.begin(RegionKind::Operation, "b", 0);
    assert_eq!(writer.depth(), 2);
    writer.end(2);
    writer.begin(RegionKind::Stage, "empty", 2);
    writer.begin(RegionKind::Stage, "empty too", 2);
    writer.end(2);
    writer.end(2);
    writer.begin(RegionKind::Operation, "open", 3);
    assert_eq!(writer.depth(), 2);
    let expected = [
        (RegionKind::Stage, "a", 0..5),
        (RegionKind::Operation, "b", 0..2),
        (RegionKind::Operation, "open", 3..5),
    ];
    let expected = expected.map(|(kind, name, lines)| Region { lines, kind, name: name.into() });
    assert_eq!(writer.finish(5).into_vec(), expected);
}

#[test]
fn lists_that_no_text_has_are_refused() {
    let stage = |lines, name: &str| Region { lines, kind: RegionKind::Stage, name: name.into() };
    for (list, index, expected) in [
        (vec![stage(0..4, "")], 0, "the region `` of the lines 0 to 4 has no name of one line"),
        (vec![stage(0..4, "a\tb")], 0, "the region `a\tb` of the lines 0 to 4 has no name of one line"),
        (vec![stage(3..3, "a")], 0, "the region `a` of the lines 3 to 3 is empty"),
        (
            vec![stage(0..2, "a"), stage(2..9, "b")],
            1,
            "the region `b` of the lines 2 to 9 ends behind the text, which has 8 lines",
        ),
        (
            vec![stage(2..4, "a"), stage(0..2, "b")],
            1,
            "the region `b` of the lines 0 to 2 comes after the region `a`, which begins later or is inside",
        ),
        (
            vec![stage(0..4, "a"), stage(0..6, "b")],
            1,
            "the region `b` of the lines 0 to 6 comes after the region `a`, which begins later or is inside",
        ),
        (
            vec![stage(0..8, "a"), stage(0..4, "b"), stage(3..6, "c")],
            2,
            "the region `c` of the lines 3 to 6 overlaps the region `b` of the lines 0 to 4",
        ),
    ] {
        let fault = Regions::new(list, 8).unwrap_err();
        assert_eq!((fault.index, fault.to_string()), (index, expected.to_owned()));
    }
    // Equal ranges are inside each other in the order of the list.
    let regions = Regions::new(vec![stage(0..4, "a"), stage(0..4, "b"), stage(4..8, "c")], 8).unwrap();
    assert_eq!(regions.owner(regions.innermost(3).unwrap()).stages, ["a", "b"]);
    assert_eq!(regions.owner(regions.innermost(4).unwrap()).stages, ["c"]);
}
