//! The parts of a program: lines that share no result, directly or by others, are of different parts.
//!
//! Parts run one after the other, in the order of their first lines, and the lines of a part in the order of the program. So
//! two programs whose lines alternate take the time of both, and do not compete for the VDM. Inputs and zeros connect
//! nothing.

use crate::flow::Node;

/// The nodes of a flow with `values` values, those of each part together.
pub(crate) fn by_part(mut nodes: Vec<Node>, values: usize) -> Vec<Node> {
    // Of each value that a node makes, an earlier one of its part, or itself: the first one in the end.
    let mut earlier: Vec<Option<u32>> = vec![None; values];
    let first = |earlier: &mut Vec<Option<u32>>, value: u32| {
        let mut at = value;
        while let Some(before) = earlier[at as usize].filter(|&before| before != at) {
            earlier[at as usize] = earlier[before as usize];
            at = before;
        }
        at
    };
    for node in &nodes {
        let result = node.result.0;
        earlier[node.result.index()] = Some(result);
        for source in node.task.sources() {
            if earlier[source.index()].is_some() {
                let (one, other) = (first(&mut earlier, source.0), first(&mut earlier, result));
                earlier[one.max(other) as usize] = Some(one.min(other));
            }
        }
    }
    nodes.sort_by_cached_key(|node| first(&mut earlier, node.result.0));
    nodes
}
