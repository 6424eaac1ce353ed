//! What clocks, areas and energies rest on: the technology, and the source of the vector crossbar's area.

use sim::Machine;
use sim::machine::VbarArea;
use std::collections::{BTreeMap, BTreeSet};

/// The key, and the column, of the source of the vector crossbar's area.
pub(super) const VBAR_AREA: &str = "technology.vbar_area";
/// The most technologies that a text names for each source.
const MOST_NAMED: usize = 3;

/// The technologies of machines, each with the source of the vector crossbar's area, for a chart or a page:
/// `Technology gf12, the vector crossbar's area by the paper's claim`.
pub fn basis<'m>(machines: impl IntoIterator<Item = &'m Machine>) -> String {
    let of = |machine: &Machine| (Some(machine.technology_label()), Some(machine.technology.vbar_area));
    basis_of(machines.into_iter().map(of))
}

/// The same from names of technologies and sources of the area, of which older tables lack some.
pub(super) fn basis_of(designs: impl Iterator<Item = (Option<String>, Option<VbarArea>)>) -> String {
    let mut by_source: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (technology, source) in designs {
        let source = match source {
            Some(VbarArea::Claim) => "by the paper's claim",
            Some(VbarArea::Structure) => "by structure",
            None => "not stated",
        };
        let name = technology.unwrap_or_else(|| "not stated".to_owned());
        by_source.entry(source).or_default().insert(name);
    }
    let word =
        if by_source.values().map(BTreeSet::len).sum::<usize>() > 1 { "Technologies" } else { "Technology" };
    let text = |(source, names): (&str, BTreeSet<String>)| {
        let more = names.len().saturating_sub(MOST_NAMED);
        let more = (more > 0).then(|| format!("{more} more"));
        let names: Vec<String> = names.into_iter().take(MOST_NAMED).chain(more).collect();
        format!("{}, the vector crossbar's area {source}", names.join(" and "))
    };
    let parts: Vec<String> = by_source.into_iter().map(text).collect();
    format!("{word} {}", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_each_technology_once_with_the_source_of_the_crossbar() {
        let [claim, structure] = [Some(VbarArea::Claim), Some(VbarArea::Structure)];
        let of = |designs: &[(&str, Option<VbarArea>)]| {
            basis_of(designs.iter().map(|&(name, source)| (Some(name.to_owned()), source)))
        };
        assert_eq!(
            of(&[("a", claim), ("a", claim)]),
            "Technology a, the vector crossbar's area by the paper's claim"
        );
        assert_eq!(
            of(&[("b", structure), ("a", structure), ("a", claim)]),
            "Technologies a and b, the vector crossbar's area by structure; a, the vector crossbar's area \
             by the paper's claim"
        );
        assert_eq!(
            basis_of([(None, None)].into_iter()),
            "Technology not stated, the vector crossbar's area not stated"
        );
        let many = of(&["a", "b", "c", "d", "e"].map(|name| (name, claim)));
        assert!(many.starts_with("Technologies a and b and c and 2 more, the vector"), "{many}");
        assert_eq!(basis([&Machine::rpu_128x128()]), of(&[("gf12", claim)]));
    }
}
