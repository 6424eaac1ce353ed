//! What clocks, areas and energies rest on: the technology, and the source of the vector crossbar's area.

use sim::Machine;
use sim::machine::VbarArea;
use std::collections::BTreeSet;

/// The key, and the column, of the source of the vector crossbar's area.
pub(super) const VBAR_AREA: &str = "technology.vbar_area";
/// The most technologies that a text names.
const MOST_NAMED: usize = 3;

/// The technologies of machines, each with the source of the vector crossbar's area, for a chart or a page:
/// `Technology gf12, the vector crossbar's area by the paper's claim`.
pub fn basis<'m>(machines: impl IntoIterator<Item = &'m Machine>) -> String {
    let of = |machine: &Machine| (machine.technology_label(), Some(machine.technology.vbar_area));
    basis_of(machines.into_iter().map(of))
}

/// The same from names of technologies and sources of the area; tables of older versions have no sources.
pub(super) fn basis_of(designs: impl Iterator<Item = (String, Option<VbarArea>)>) -> String {
    let text = |(technology, source): (String, Option<VbarArea>)| {
        let source = match source {
            Some(VbarArea::Claim) => "by the paper's claim",
            Some(VbarArea::Structure) => "by structure",
            None => "not stated",
        };
        format!("{technology}, the vector crossbar's area {source}")
    };
    let distinct: BTreeSet<String> = designs.map(text).collect();
    let more = distinct.len().saturating_sub(MOST_NAMED);
    let word = if distinct.len() > 1 { "Technologies" } else { "Technology" };
    let more = (more > 0).then(|| format!("{more} more"));
    let named: Vec<String> = distinct.into_iter().take(MOST_NAMED).chain(more).collect();
    format!("{word} {}", named.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_each_technology_once_with_the_source_of_the_crossbar() {
        let [claim, structure] = [Some(VbarArea::Claim), Some(VbarArea::Structure)];
        let of = |designs: &[(&str, Option<VbarArea>)]| {
            basis_of(designs.iter().map(|&(name, source)| (name.to_owned(), source)))
        };
        assert_eq!(
            of(&[("a", claim), ("a", claim)]),
            "Technology a, the vector crossbar's area by the paper's claim"
        );
        assert_eq!(
            of(&[("b", None), ("a", structure), ("a", claim)]),
            "Technologies a, the vector crossbar's area by structure; a, the vector crossbar's area by the \
             paper's claim; b, the vector crossbar's area not stated"
        );
        assert!(of(&["a", "b", "c", "d", "e"].map(|name| (name, claim))).ends_with("; 2 more"));
        assert_eq!(basis([&Machine::rpu_128x128()]), of(&[("gf12", claim)]));
    }
}
