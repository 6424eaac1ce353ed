//! The generated page of effects and costs of the keys.

use super::keys::SECTIONS;
use super::table::{Cost, Effect, Faster, Key, Rest};
use std::fmt::{Result, Write};

/// The columns of the page.
const COLUMNS: [Effect; 7] = [
    Effect::Program,
    Effect::Cycles,
    Effect::Stages,
    Effect::Clock,
    Effect::Area,
    Effect::Energy,
    Effect::Stream,
];

/// The effects and costs of the machine keys as Markdown: the contents of `docs/costs.md`.
pub fn costs() -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page);
    page
}

fn write_page(page: &mut String) -> Result {
    write!(
        page,
        "\
# Costs of machine keys

<!-- Generated from the table in `sim/src/machine/keys.rs`: `BLESS=1 cargo test -p rpu-sim --test all generated`. -->

Each key changes the quantities with a mark: the instructions of which a *program* is generated, the *cycles* of a kernel,
the *stages* of crossbars where these follow from the machine, and by them cycles, the *clock* and the *area* of the machine,
the *energy* of a kernel, and the time of a *stream* of runs with their transfers. The test `sim/tests/all/costs.rs` varies
each key and compares the effects with these marks, in both directions; `codegen/tests/all/choose.rs` varies the keys without a
mark for *program*, *cycles* or *stages*, and generates the same kernels. A
kernel that does not fit a smaller memory is another one. The time of a ring program also depends on the sizes of the
memories and on the off-chip memory. In the column *cycles*, *smaller* or *larger* names the faster one of two values;
among texts, the later one in [the list of keys](machine.md) is larger. This holds with VRF port conflicts aside, which a
test of random programs checks (`sim/tests/all/timing/dominance.rs`).

The models, and the sources of their numbers:

* **Fitted**: the area of the paper's machine, and its growth with `hple.count` and `vdm.banks`; energies of events. `rpu fit`
  derives these constants from printed numbers (`configs/tech/gf12.toml`).
* **Printed**: the clock of a bank of the VDM, and the areas of two SRAM macros. Other memories have the clock of a bank
  of their bytes.
* **Structural**: the size of logic in NAND2 equivalents, from its structure (`sim/src/gates.rs`). A component's fitted area
  changes by the ratio of its logic to the paper's; the energy of an event by the ratio of the gates that it uses. Synthesis
  checks the ratios ([`reports/synthesis.md`](../reports/synthesis.md)).
* **Assumed**: delays of logic and wires (`sim/src/clock.rs`, `technology.delay`), and the size of a macro with two ports. The
  slowest part limits the machine's clock.

A value outside the range in the column *checked* is an extrapolation: neither printed numbers nor the synthesis cover it.
Sweeps mark such points, and say if they vary a key whose cost is not modelled.
"
    )?;
    for section in SECTIONS {
        let heading =
            if section.path.is_empty() { "Top level".to_owned() } else { format!("`{}`", section.path) };
        write!(
            page,
            "
## {heading}

| key | program | cycles | stages | clock | area | energy | stream | model | other costs | checked |
|---|---|---|---|---|---|---|---|---|---|---|
"
        )?;
        section.keys.iter().try_for_each(|key| write_row(page, key))?;
    }
    Ok(())
}

fn write_row(page: &mut String, key: &Key) -> Result {
    let name = key.path.rsplit('.').next().unwrap_or_default();
    write!(page, "| `{name}` |")?;
    for effect in COLUMNS {
        let faster = key.faster.filter(|_| effect == Effect::Cycles).map(Faster::name);
        write!(page, " {} |", if key.effects.contains(&effect) { faster.unwrap_or("x") } else { "" })?;
    }
    let Some(Cost { model, rest, checked }) = &key.cost else {
        return writeln!(page, " a constant of the technology |  |  |");
    };
    let rest = match rest {
        Rest::None => String::new(),
        Rest::Free(because) => format!("free: {because}"),
        Rest::NotModelled(because) => format!("not modelled: {because}"),
    };
    let checked = match checked {
        Some(range) if range.start() == range.end() => key.kind.text(*range.start()),
        Some(range) => format!("{} to {}", key.kind.text(*range.start()), key.kind.text(*range.end())),
        None => String::new(),
    };
    writeln!(page, " {model} | {rest} | {checked} |")
}
