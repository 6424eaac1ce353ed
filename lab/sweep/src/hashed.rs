//! Machines and the hashes of their keys.

use super::key::PointKey;
use serde::Serialize;
use sim::Machine;
use std::sync::Arc;

/// A machine with the hash of its keys.
#[derive(Clone, Debug)]
pub(super) struct Hashed {
    pub(super) machine: Arc<Machine>,
    pub(super) hash: Arc<str>,
}

impl Hashed {
    pub(super) fn new(machine: Machine, texts: &MachineTexts) -> Self {
        Self { hash: texts.hash(&machine).to_string().into(), machine: Arc::new(machine) }
    }
}

/// The JSON of a base machine. Others share most fields with it, and to write and hash them takes long.
pub(super) struct MachineTexts {
    base: Machine,
    json: String,
    /// The end of each field in `json`, in order.
    ends: Vec<usize>,
    /// The hash of `json` up to and with the technology, which is most of it.
    start: blake3::Hasher,
}

impl MachineTexts {
    pub(super) fn new(base: &Machine) -> Self {
        let Writer { json, ends, .. } = Writer::of(base, base, &[]);
        let mut start = blake3::Hasher::new();
        start.update(&json.as_bytes()[..ends[TECHNOLOGY]]);
        Self { base: base.clone(), json, ends, start }
    }

    /// The hash of a machine's JSON.
    fn hash(&self, machine: &Machine) -> PointKey {
        let json = self.json(machine);
        let hash = match json.strip_prefix(&self.json[..self.ends[TECHNOLOGY]]) {
            Some(rest) => self.start.clone().update(rest.as_bytes()).finalize(),
            None => blake3::hash(json.as_bytes()),
        };
        PointKey::of_hash(&hash)
    }

    /// The JSON of a machine.
    fn json(&self, machine: &Machine) -> String {
        let starts = std::iter::once(&0).chain(&self.ends);
        let known: Vec<&str> = starts.zip(&self.ends).map(|(&start, &end)| &self.json[start..end]).collect();
        Writer::of(machine, &self.base, &known).json + "}"
    }
}

/// The position of the technology among the fields of a machine.
const TECHNOLOGY: usize = 1;

/// Writes the JSON of a machine without its closing brace.
struct Writer<'t> {
    json: String,
    ends: Vec<usize>,
    /// The texts of the base machine's fields.
    known: &'t [&'t str],
}

impl<'t> Writer<'t> {
    fn of(machine: &Machine, base: &Machine, known: &'t [&'t str]) -> Self {
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
        let json = String::with_capacity(2 * known.iter().map(|text| text.len()).sum::<usize>());
        let mut writer = Self { json, ends: Vec::new(), known };
        writer.field("name", name, &base.name);
        writer.field("technology", technology, &base.technology);
        writer.field("isa", isa, &base.isa);
        writer.field("law", law, &base.law);
        writer.field("frontend", frontend, &base.frontend);
        writer.field("scalar", scalar, &base.scalar);
        writer.field("hple", hple, &base.hple);
        writer.field("vrf", vrf, &base.vrf);
        writer.field("sbar", sbar, &base.sbar);
        writer.field("vbar", vbar, &base.vbar);
        writer.field("vdm", vdm, &base.vdm);
        writer.field("sdm", sdm, &base.sdm);
        writer.field("hbm", hbm, &base.hbm);
        writer.field("ideal", ideal, &base.ideal);
        writer
    }

    fn field<T: Serialize + PartialEq>(&mut self, name: &str, value: &T, base: &T) {
        match self.known.get(self.ends.len()) {
            Some(text) if value == base => self.json.push_str(text),
            _ => {
                let opening = if self.json.is_empty() { '{' } else { ',' };
                self.json += &format!("{opening}\"{name}\":{}", json(value));
            }
        }
        self.ends.push(self.json.len());
    }
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
        let (mut other, mut third) = (machine.clone(), machine.clone());
        other.technology.node_nm = 7;
        third.hple.count = 64;
        third.ideal.queues = true;
        let texts = MachineTexts::new(&machine);
        for machine in [machine, Machine::rpu_128x128_paper(), other, third] {
            assert_eq!(texts.json(&machine), json(&machine));
            assert_eq!(texts.hash(&machine), PointKey::of(&machine));
        }
    }
}
