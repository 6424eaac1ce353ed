//! Claims of vector code in the form in which programs state them.

use super::{BufferId, Claim, Code, Tower};
use b512_asm::Setting;
use golden::{Kind, Operand, Signature};
use std::iter::repeat_n;

impl Code {
    /// A claim of the code as a program states it, over symbols with the names of the buffers.
    ///
    /// The towers of the buffers give the settings: their degree, the modulus or the moduli of each
    /// operand, and the root of the first result's tower. The claim gives the parameters. Returns
    /// `None` if the buffers do not match the operation: their number is wrong, their degrees differ,
    /// or two operands with one modulus setting have different moduli. Returns `None` as well if the
    /// claim lacks a parameter.
    pub fn stated(&self, claim: &Claim) -> Option<b512_asm::Claim> {
        self.stated_as(claim.operation.signature(), claim)
    }

    fn stated_as(&self, signature: Signature, claim: &Claim) -> Option<b512_asm::Claim> {
        let [inputs, outputs] = [signature.inputs, signature.outputs].map(|operands| each(operands, claim));
        let lists = Lists::new(signature, [(&inputs, claim.inputs.len()), (&outputs, claim.outputs.len())])?;
        let tower = |buffer: &BufferId| self.towers.get(self.buffers.get(buffer.index())?.tower.index());
        let Tower { n, root, .. } = *tower(claim.outputs.first()?)?;
        let mut moduli: Vec<(&str, Vec<&Tower>)> = Vec::new();
        for (operands, mut buffers) in [(&inputs, &claim.inputs[..]), (&outputs, &claim.outputs[..])] {
            for operand in operands {
                let (own, rest) = buffers.split_at_checked(lists.len(operand.modulus))?;
                buffers = rest;
                let own: Vec<&Tower> = own.iter().map(tower).collect::<Option<_>>()?;
                if own.iter().any(|tower| tower.n != n) {
                    return None;
                }
                let values = |towers: &[&Tower]| towers.iter().map(|tower| tower.modulus).collect::<Vec<_>>();
                match moduli.iter().find(|(name, _)| *name == operand.modulus) {
                    Some((_, known)) if values(known) != values(&own) => return None,
                    Some(_) => {}
                    None => moduli.push((operand.modulus, own)),
                }
            }
        }
        let of = |setting: &str| moduli.iter().find(|(name, _)| *name == setting).map(|(_, moduli)| moduli);
        let value = |kind, name| match kind {
            Kind::Degree => Some(Setting::Number(n.into())),
            Kind::Root => Some(Setting::Number(root)),
            Kind::Modulus => Some(Setting::Number(of(name)?.first()?.modulus)),
            Kind::Moduli => Some(Setting::Numbers(of(name)?.iter().map(|tower| tower.modulus).collect())),
            Kind::Roots(list) => Some(Setting::Numbers(of(list)?.iter().map(|tower| tower.root).collect())),
            Kind::Number | Kind::Numbers | Kind::Word => {
                let value = claim.parameter(name)?.clone();
                let suits = match value {
                    Setting::Number(_) => kind == Kind::Number,
                    Setting::Numbers(_) => kind == Kind::Numbers,
                    Setting::Word(_) => kind == Kind::Word,
                };
                suits.then_some(value)
            }
        };
        let settings = signature.settings.iter();
        let settings = settings.map(|spec| Some((spec.name.to_owned(), value(spec.kind, spec.name)?)));
        let names = |buffers: &[BufferId]| {
            buffers.iter().map(|buffer| self.buffers[buffer.index()].name.clone()).collect()
        };
        Some(b512_asm::Claim {
            outputs: names(&claim.outputs),
            operation: signature.name.to_owned(),
            inputs: names(&claim.inputs),
            settings: settings.collect::<Option<_>>()?,
        })
    }
}

/// Each operand as often as the claim's parameters say.
fn each(operands: &'static [Operand], claim: &Claim) -> Vec<Operand> {
    let times = |operand: &Operand| match operand.count.map(|count| claim.parameter(count)) {
        None => 1,
        Some(Some(Setting::Number(count))) => usize::try_from(*count).unwrap_or(0),
        Some(_) => 0,
    };
    operands.iter().flat_map(|operand| repeat_n(*operand, times(operand))).collect()
}

/// The length of each list of moduli.
struct Lists(Vec<(&'static str, Option<usize>)>);

impl Lists {
    /// The lengths for which the claim has the right number of operands and results. Returns `None`
    /// if there are none, or several.
    fn new(signature: Signature, sides: [(&[Operand], usize); 2]) -> Option<Self> {
        let is_list = |kind| kind == Kind::Moduli;
        let lists = signature.settings.iter().filter(|spec| is_list(spec.kind));
        let mut lists = Self(lists.map(|spec| (spec.name, None)).collect());
        // Each round finds a list that is the only unknown one of the operands or of the results.
        while lists.0.iter().any(|(_, length)| length.is_none()) {
            let found = sides.iter().find_map(|&(operands, buffers)| lists.only_unknown(operands, buffers));
            let (name, length) = found?;
            lists.0.iter_mut().find(|(known, _)| *known == name)?.1 = Some(length);
        }
        let counts = |(operands, buffers): (&[Operand], usize)| {
            operands.iter().map(|operand| lists.len(operand.modulus)).sum::<usize>() == buffers
        };
        sides.into_iter().all(counts).then_some(lists)
    }

    /// The number of buffers of an operand with this modulus setting; 0 if it is unknown.
    fn len(&self, setting: &str) -> usize {
        let list = self.0.iter().find(|(name, _)| *name == setting);
        list.map_or(1, |(_, length)| length.unwrap_or(0))
    }

    /// The list of unknown length among `operands`, if there is exactly one, with its length.
    fn only_unknown(&self, operands: &[Operand], buffers: usize) -> Option<(&'static str, usize)> {
        let is_unknown = |operand: &&Operand| {
            self.0.iter().any(|&(name, length)| name == operand.modulus && length.is_none())
        };
        let name = operands.iter().find(is_unknown)?.modulus;
        let uses = operands.iter().filter(is_unknown);
        if uses.clone().any(|operand| operand.modulus != name) {
            return None;
        }
        let known: usize = operands.iter().map(|operand| self.len(operand.modulus)).sum();
        let (rest, uses) = (buffers.checked_sub(known)?, uses.count());
        rest.is_multiple_of(uses).then_some((name, rest / uses))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use b512_asm::Role;
    use golden::SettingSpec;

    const fn setting(name: &'static str, kind: Kind) -> SettingSpec {
        SettingSpec { name, kind, doc: "" }
    }

    /// A base conversion, with a word for each coefficient that both sides share.
    const CONVERT: Signature = Signature {
        name: "convert",
        inputs: &[Operand::residues("x", "from"), Operand::residues("t", "to")],
        outputs: &[Operand::residues("y", "to")],
        settings: &[setting("n", Kind::Degree), setting("from", Kind::Moduli), setting("to", Kind::Moduli)],
    };

    /// Code with the buffers `b0`, `b1` .. modulo these numbers.
    fn code(moduli: &[u128]) -> Code {
        let mut code = Code::default();
        for (number, &modulus) in moduli.iter().enumerate() {
            let tower = code.tower(Tower { n: 8, modulus, root: 0 });
            code.buffer(format!("b{number}"), 8, Role::Scratch, tower);
        }
        code
    }

    fn claim(outputs: std::ops::Range<u32>, inputs: std::ops::Range<u32>) -> Claim {
        let buffers = |range: std::ops::Range<u32>| range.map(BufferId).collect();
        let (outputs, inputs) = (buffers(outputs), buffers(inputs));
        Claim { operation: golden::ADD, outputs, inputs, parameters: crate::Parameters::default() }
    }

    fn text(code: &Code, claim: &Claim) -> Option<String> {
        code.stated_as(CONVERT, claim).map(|claim| claim.to_string())
    }

    #[test]
    fn claims_over_several_moduli_name_them_in_the_order_of_the_operands() {
        let code = code(&[3, 5, 7, 11, 13, 11, 13]);
        let claim = claim(5..7, 0..5);
        assert_eq!(
            text(&code, &claim).unwrap(),
            "b5, b6 = convert(b0, b1, b2, b3, b4), n=8, from=[0x3, 0x5, 0x7], to=[0xb, 0xd]"
        );
    }

    #[test]
    fn buffers_that_do_not_match_the_operation_are_refused() {
        let code = code(&[3, 5, 7, 11, 13, 11, 13]);
        // The operands and the result have different target moduli.
        assert_eq!(text(&code, &claim(5..7, 1..4)), None);
        // No length of `from` fits.
        assert_eq!(text(&code, &claim(3..7, 0..3)), None);
        // There is no such buffer, and no result.
        assert_eq!(text(&code, &claim(6..8, 0..4)), None);
        assert_eq!(text(&code, &claim(0..0, 0..2)), None);
        // `add` has one modulus.
        assert!(code.stated(&claim(5..6, 3..5)).is_none());
        let mut same = code.clone();
        same.towers[4].modulus = 11;
        let stated = same.stated(&claim(5..6, 3..5)).unwrap();
        assert_eq!(stated.to_string(), "b5 = add(b3, b4), n=8, modulus=0xb");
        same.towers[3].n = 16;
        assert_eq!(same.stated(&claim(5..6, 3..5)), None);
    }
}
