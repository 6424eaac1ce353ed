//! What a machine's technology is called.

use super::{Machine, MachineBase};
use configs::TECHNOLOGIES;
use std::sync::LazyLock;

/// The paper's machine in each built-in technology.
static IN_TECHNOLOGIES: LazyLock<Vec<Machine>> = LazyLock::new(|| {
    let machine = |(name, _): &(&str, &str)| {
        let base = MachineBase::of_technology(name).expect("a built-in technology");
        base.and_then(|base| base.machine(&[])).expect("the built-in technologies are tested")
    };
    TECHNOLOGIES.iter().map(machine).collect()
});

/// The most constants that the label of a technology names.
const MOST_NAMED: usize = 3;

impl Machine {
    /// The technology's name, with the constants in which it differs from the built-in technology of this
    /// name.
    pub fn technology_label(&self) -> String {
        let name = &self.technology.name;
        let named = IN_TECHNOLOGIES.iter().find(|known| known.technology.name == *name);
        let Some(known) = named.filter(|known| known.technology != self.technology) else {
            return name.clone();
        };
        let changes = self.changes_from(known);
        let changes: Vec<_> = changes
            .iter()
            .filter_map(|change| Some((change.key.strip_prefix("technology.")?, &change.to)))
            .collect();
        let named: Vec<String> =
            changes.iter().take(MOST_NAMED).map(|(key, value)| format!("{key} = {value}")).collect();
        let more = changes.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more constants") } else { String::new() };
        format!("{name} with {}{more}", named.join(", "))
    }
}
