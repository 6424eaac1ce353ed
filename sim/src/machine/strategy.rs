//! Random machines (feature `testing`).
//!
//! The strategy follows from the key table, so a new key is random without changes here.

use super::layers::assemble;
use super::table::{Key, Kind, Sample};
use super::{Machine, schema};
use proptest::prelude::*;
use proptest::sample::select;
use toml::Value;

/// Valid machines that differ from the paper's in every key with a [`Sample`] other than
/// [`Sample::Fixed`].
pub fn machines() -> BoxedStrategy<Machine> {
    let base = Machine::rpu_128x128().to_value();
    let random = |key: &&Key| key.built_in.is_some_and(|built_in| built_in.sample != Sample::Fixed);
    let (varied, fixed): (Vec<&Key>, Vec<&Key>) = schema::keys().partition(random);
    let fixed: Vec<_> =
        fixed.into_iter().map(|key| (key.path, schema::value_at(&base, key.path).clone())).collect();
    let values: Vec<_> = varied.iter().map(|key| values(key)).collect();
    values
        .prop_filter_map("the rules over several keys", move |values| {
            let varied = varied.iter().map(|key| key.path).zip(values);
            let machine = assemble(varied.chain(fixed.iter().cloned())).expect("values of the right types");
            machine.broken_rules().is_empty().then_some(machine)
        })
        .boxed()
}

fn values(key: &Key) -> BoxedStrategy<Value> {
    let sample = key.built_in.map_or(Sample::Fixed, |built_in| built_in.sample);
    match (key.kind, sample) {
        (Kind::Bool, Sample::Any) => any::<bool>().prop_map(Value::from).boxed(),
        (Kind::Bool, Sample::Seldom) => prop::bool::weighted(0.1).prop_map(Value::from).boxed(),
        (Kind::Choice(choices), Sample::Any) => {
            select(choices).prop_map(|choice| Value::from(choice.text)).boxed()
        }
        (Kind::Int(..), Sample::Cycles(min)) => {
            prop_oneof![12 => min..=12, 1 => 100..=300_u32].prop_map(Value::from).boxed()
        }
        (Kind::Int(min, max), Sample::Any) | (Kind::Int(..), Sample::Between(min, max)) => {
            (min..=max).prop_map(Value::from).boxed()
        }
        (Kind::PowerOfTwo(min, max), Sample::Any) | (Kind::PowerOfTwo(..), Sample::Between(min, max)) => {
            (min.ilog2()..=max.ilog2()).prop_map(|log2| Value::from(1_u32 << log2)).boxed()
        }
        (kind, sample) => unreachable!("{}: {sample:?} suits no {kind:?}", key.path),
    }
}
