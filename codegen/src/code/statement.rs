//! Claims of vector code in the form in which programs state them.

use super::{BufferId, Claim, Code, Tower};
use b512_asm::Setting;
use golden::{Kind, Operation};

impl Code {
    /// A claim of the code as a program states it, over symbols with the names of the buffers.
    ///
    /// The tower of the buffers gives the degree, the modulus and the root. The claim gives the parameters.
    /// Returns `None` if the buffers do not match the operations: their number is wrong, or their degrees or
    /// moduli differ. Returns `None` as well if the claim lacks a parameter.
    pub fn stated(&self, claim: &Claim) -> Option<b512_asm::Claim> {
        self.stated_in(&self.towers, claim)
    }

    /// As [`Self::stated`], with other rings as towers.
    pub(crate) fn stated_in(&self, towers: &[Tower], claim: &Claim) -> Option<b512_asm::Claim> {
        let Claim { outputs, expressions, inputs, parameters } = claim;
        let tower = |buffer: &BufferId| towers.get(self.buffers.get(buffer.index())?.tower.index());
        let Tower { n, modulus, root } = *tower(outputs.first()?)?;
        let suits = |buffer| tower(buffer).is_some_and(|tower| (tower.n, tower.modulus) == (n, modulus));
        if outputs.len() != expressions.len() || !inputs.iter().chain(outputs).all(suits) {
            return None;
        }
        let names = |buffers: &[BufferId]| {
            buffers.iter().map(|buffer| self.buffers[buffer.index()].name.clone()).collect()
        };
        let mut stated = b512_asm::Claim {
            outputs: names(outputs),
            expressions: expressions.clone(),
            inputs: names(inputs),
            settings: Vec::new(),
        };
        let operations: Vec<Operation> =
            stated.calls().map(|call| golden::find(&call.operation)).collect::<Option<_>>()?;
        let mut settings: Vec<(String, Setting)> = Vec::new();
        for spec in
            golden::OF_CLAIM.iter().chain(operations.iter().flat_map(|operation| operation.settings()))
        {
            let value = match spec.kind {
                Kind::Degree => Some(Setting::Number(n.into())),
                Kind::Modulus => Some(Setting::Number(modulus)),
                Kind::Root => Some(Setting::Number(root)),
                Kind::Number | Kind::Exponent | Kind::Choice(_) => parameters.get(spec.name).cloned(),
            };
            let is_new = settings.iter().all(|(name, _)| name != spec.name);
            settings.extend(value.filter(|_| is_new).map(|value| (spec.name.to_owned(), value)));
        }
        stated.settings = settings;
        golden::operations(&stated).is_ok().then_some(stated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use b512_asm::Role;

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
        Claim::of(golden::ADD, outputs, inputs, crate::Parameters::default())
    }

    #[test]
    fn buffers_that_do_not_match_the_operation_are_refused() {
        let mut code = code(&[3, 5, 7, 11, 13, 11, 13]);
        // `add` has two operands of one modulus, and one result.
        assert_eq!(code.stated(&claim(5..6, 3..5)), None);
        code.towers[4].modulus = 11;
        let stated = code.stated(&claim(5..6, 3..5)).unwrap();
        assert_eq!(stated.to_string(), "b5 = b3 + b4, n=8, modulus=0xb");
        assert_eq!(code.stated(&claim(5..6, 3..4)), None);
        assert_eq!(code.stated(&claim(5..5, 3..5)), None);
        assert_eq!(code.stated(&claim(7..8, 3..5)), None);
        code.towers[3].n = 16;
        assert_eq!(code.stated(&claim(5..6, 3..5)), None);
    }
}
