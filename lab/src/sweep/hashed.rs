//! Machines and the hashes of their keys.

use super::key::PointKey;
use serde::Serialize;
use sim::Machine;
use sim::machine::Technology;
use std::sync::Arc;

/// A machine with the hash of its keys.
#[derive(Clone, Debug)]
pub(super) struct Hashed {
    pub(super) machine: Arc<Machine>,
    pub(super) hash: Arc<str>,
}

impl Hashed {
    pub(super) fn new(machine: Machine, technology: &TechnologyText) -> Self {
        let hash = PointKey::of_bytes(&technology.machine(&machine)).to_string();
        Self { hash: hash.into(), machine: Arc::new(machine) }
    }
}

/// The JSON of a technology. It takes long to write, and few sweeps change it.
pub(super) struct TechnologyText {
    technology: Technology,
    text: String,
}

impl TechnologyText {
    pub(super) fn new(technology: &Technology) -> Self {
        Self { technology: technology.clone(), text: json(technology) }
    }

    /// The JSON of a machine, as its fields have it in order.
    fn machine(&self, machine: &Machine) -> Vec<u8> {
        let Machine {
            name,
            technology,
            isa,
            law,
            frontend,
            scalar,
            hple,
            vrf,
            sbar,
            vbar,
            vdm,
            sdm,
            hbm,
            ideal,
        } = machine;
        let mut text = Vec::with_capacity(2 * self.text.len());
        write_field(&mut text, "name", name);
        if *technology == self.technology {
            text.extend_from_slice(b",\"technology\":");
            text.extend_from_slice(self.text.as_bytes());
        } else {
            write_field(&mut text, "technology", technology);
        }
        write_field(&mut text, "isa", isa);
        write_field(&mut text, "law", law);
        write_field(&mut text, "frontend", frontend);
        write_field(&mut text, "scalar", scalar);
        write_field(&mut text, "hple", hple);
        write_field(&mut text, "vrf", vrf);
        write_field(&mut text, "sbar", sbar);
        write_field(&mut text, "vbar", vbar);
        write_field(&mut text, "vdm", vdm);
        write_field(&mut text, "sdm", sdm);
        write_field(&mut text, "hbm", hbm);
        write_field(&mut text, "ideal", ideal);
        text.push(b'}');
        text
    }
}

/// Adds a field to the text of an object.
fn write_field(text: &mut Vec<u8>, name: &str, value: &impl Serialize) {
    text.push(if text.is_empty() { b'{' } else { b',' });
    write_json(text, &name);
    text.push(b':');
    write_json(text, value);
}

fn write_json(text: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(text, value).expect("plain data becomes JSON");
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data becomes JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_machine_is_its_json() {
        let machine = Machine::rpu_128x128();
        let mut other = machine.clone();
        other.technology.node_nm = 7;
        let text = TechnologyText::new(&machine.technology);
        for machine in [machine, Machine::rpu_128x128_paper(), other] {
            assert_eq!(String::from_utf8(text.machine(&machine)).unwrap(), json(&machine));
        }
    }
}
