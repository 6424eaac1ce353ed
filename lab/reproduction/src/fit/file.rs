//! The technology file of a fit.

use super::*;
use diagnostic::one_line;
use sim::machine::plain;
use std::fmt::Write;

impl Fit {
    /// The technology file, with sources and residuals in its comments.
    pub fn file(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("writing to a string does not fail");
        text
    }

    fn write(&self, f: &mut String) -> std::fmt::Result {
        let Technology { name, node_nm, law_stages, vbar_area: _, clock, delay, area, energy, power, wires } =
            &self.technology;
        // No text of the claims ends a comment.
        let (quoted, name) = (toml::Value::from(name.as_str()), one_line(name));
        writeln!(f, "#:schema ../schemas/technology.json")?;
        writeln!(
            f,
            "# Clock, area and energy of a technology. Written by `rpu fit` from `{name}.claims.toml`: edit that file."
        )?;
        writeln!(f, "# The source of each value:")?;
        writeln!(f, "#   paper    printed in the paper")?;
        writeln!(f, "#   derived  arithmetic on printed numbers")?;
        writeln!(f, "#   fitted   fitted to printed numbers by least squares: see the table at the end")?;
        writeln!(f, "#   assumed  the texts are silent\n")?;
        writeln!(f, "name = {quoted}\nnode_nm = {node_nm}")?;
        writeln!(f, "# Stages of the multiplier whose area and energy are given.")?;
        writeln!(
            f,
            "# public: the RTL of a multiplier by co-authors of the paper\nlaw_stages = {law_stages}"
        )?;
        writeln!(f, "# The source of the area of the vector crossbar.")?;
        writeln!(f, "# paper: its claim, of which `vbar_mm2` is a reading\nvbar_area = \"claim\"\n")?;
        writeln!(
            f,
            "# The clock of a bank of a VDM of 4 MiB. Between two points it is interpolated linearly in log2(banks);"
        )?;
        writeln!(f, "# it is constant beyond the ends.")?;
        writeln!(
            f,
            "# paper from 32 banks on; public below: access times of CACTI 7, scaled to the printed clocks"
        )?;
        for point in clock {
            writeln!(f, "[[clock]]\nbanks = {}\nghz = {}", point.banks, plain(&point.ghz.into()))?;
        }
        self.write_given(f, "delay", &DELAY, &toml::Table::try_from(delay).expect("constants are numbers"))?;
        writeln!(f, "\n[area]")?;
        let fitted: Vec<&str> = self
            .residuals
            .iter()
            .filter(|r| r.fitted && r.id != EnergyClaim::ID)
            .map(|r| r.id.as_str())
            .collect();
        let values = toml::Table::try_from(area).expect("constants are numbers");
        for (key, what) in AREA {
            let source = match self.sources.get(key) {
                Some(source) => source.clone(),
                None if key.starts_with("sram") => "derived from the two printed macros".into(),
                None => one_line(&format!("fitted to {}", fitted.join(", "))).into_owned(),
            };
            writeln!(f, "# {what}.\n# {source}\n{key} = {}", plain(&values[key]))?;
        }
        writeln!(f, "\n[energy]")?;
        let shares = "derived: its printed share of the energy, divided by the events of the paper's program";
        for (key, what, source, value) in [
            (
                "multiply_pj",
                "A modular multiplication",
                "derived: printed power of a multiplier, divided by the clock",
                energy.multiply_pj,
            ),
            (
                "add_pj",
                "A modular addition or subtraction",
                "derived: the LAW engines' share without multiplications",
                energy.add_pj,
            ),
            ("vrf_access_pj", "An element read from or written to the VRF", shares, energy.vrf_access_pj),
            ("vdm_access_pj", "An element read from or written to the VDM", shares, energy.vdm_access_pj),
            (
                "sram_growth_with_words",
                "The growth factor of an access to an SRAM for twice the words, up to 32 KiB",
                "derived: the line, in logarithms, through the accesses to VRF and VDM",
                energy.sram_growth_with_words,
            ),
            (
                "sram_growth_beyond_32_kib",
                "The same beyond 32 KiB",
                &self.sources["sram_growth_beyond_32_kib"],
                energy.sram_growth_beyond_32_kib,
            ),
            ("vbar_element_pj", "An element through the vector crossbar", shares, energy.vbar_element_pj),
            ("sbar_element_pj", "An element through the shuffle crossbar", shares, energy.sbar_element_pj),
            (
                "instruction_pj",
                "An instruction from its memory to its pipe",
                "derived: the rest of the printed shares",
                energy.instruction_pj,
            ),
        ] {
            writeln!(f, "# {what}.\n# {source}\n{key} = {}", plain(&value.into()))?;
        }
        self.write_given(f, "power", &POWER, &toml::Table::try_from(power).expect("constants are numbers"))?;
        self.write_given(f, "wires", &WIRES, &toml::Table::try_from(wires).expect("constants are numbers"))?;
        writeln!(f, "\n# Claims compared with the constants:")?;
        writeln!(f, "#   {:<4} {:<36} {:>11} {:>8} {:>8}", "", "", "paper", "ours", "off by")?;
        for residual in &self.residuals {
            let Residual { id, quantity, ours, .. } = residual;
            let id = one_line(id);
            let printed = match residual.printed {
                Printed::Value(value) => format!("{value}"),
                Printed::Between([low, high]) => format!("{low} to {high}"),
            };
            let origin = if residual.fitted { "fitted" } else { "predicted" };
            let verdict = if residual.agrees() { "" } else { ", missed" };
            let off = residual.deviation();
            writeln!(
                f,
                "#   {id:<4} {quantity:<36} {printed:>11} {ours:>8.3} {off:>+8.3}  {origin}{verdict}"
            )?;
        }
        writeln!(f, "\n# The areas if the constants are fitted to other printed values:")?;
        for residuals in self.alternatives.iter().flatten() {
            let (fitted, predicted): (Vec<_>, Vec<_>) =
                residuals.iter().partition(|residual| residual.fitted);
            let fitted: Vec<&str> = fitted.iter().map(|residual| &*residual.id).collect();
            let agree = predicted.iter().filter(|residual| residual.agrees()).count();
            let values = predicted.iter().filter(|residual| matches!(residual.printed, Printed::Value(_)));
            let values: Vec<String> =
                values.map(|residual| format!("{} becomes {:.3}", residual.id, residual.ours)).collect();
            writeln!(
                f,
                "#   to {}: {}; {agree} of {} predictions agree",
                one_line(&fitted.join(", ")),
                one_line(&values.join(", ")),
                predicted.len()
            )?;
        }
        Ok(())
    }

    /// Writes a section of constants that are not fitted.
    fn write_given(
        &self,
        f: &mut String,
        section: &str,
        constants: &[(&str, &str)],
        values: &toml::Table,
    ) -> std::fmt::Result {
        writeln!(f, "\n[{section}]")?;
        for (key, what) in constants {
            let source = self.sources.get(*key).expect("the claims have a source for each constant");
            writeln!(f, "# {what}.\n# {source}\n{key} = {}", plain(&values[*key]))?;
        }
        Ok(())
    }
}
