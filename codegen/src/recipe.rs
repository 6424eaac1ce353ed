//! Recipes: every decision of the generator for a request, as data.

use crate::ops;
use crate::plan::Plan;
use crate::request::Request;
use crate::schedule::Tuning;
use b512_asm::Isa;
use diagnostic::document::{Document, Format, Item, Schema};
use diagnostic::{Code, Diagnostics};
use serde::{Deserialize, Serialize};
use sim::Machine;
use std::sync::LazyLock;

/// The schema of plan files as text.
pub(crate) const SCHEMA: &str = include_str!("../schema/plan.json");

/// The plans of a kernel, and the scheduling of their code.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The scheduler's settings.
    #[serde(default)]
    pub tuning: Tuning,
    /// The instruction order that the scheduler starts from.
    #[serde(default, skip_serializing_if = "Order::is_by_step")]
    pub order: Order,
    /// Distance between the starts of consecutive towers, in instructions in textbook order.
    /// Without it, the towers come one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stagger: Option<u32>,
    /// Limit on the number of live values during [store-to-load forwarding](crate::forwarding).
    /// Without it, every load and store of the plans is executed. If memory is not the bottleneck,
    /// registers may be more useful for constants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forwarding: Option<u32>,
    /// The way to compute an operation that has several, by its name. Without it, the first that suits the
    /// request and the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The plan of each transform of the kernel, forward ones first.
    pub plans: Vec<Plan>,
}

impl Recipe {
    /// The JSON schema of plan files.
    pub fn schema() -> &'static Schema {
        static PLAN: LazyLock<Schema> = LazyLock::new(|| Schema::new(Format::Plan, SCHEMA));
        &PLAN
    }

    /// Parses a plan file; `file` is its name in errors.
    ///
    /// # Errors
    /// Returns all errors: the text is not TOML, a key is unknown, missing or has an invalid value, or a plan
    /// has another notation. [`compile`](crate::compile()) checks whether the plans are transforms.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostics> {
        let document = Document::toml(file, text)?;
        let mut errors = Diagnostics::default();
        errors.keep(Self::schema().check(&document));
        check_plans(&document, document.root(), &mut errors);
        errors.in_order().or(())?;
        Ok(document.read()?)
    }

    /// The recipe as a TOML document without the settings that have their defaults. Plans are
    /// [text](crate::plan::text).
    pub fn to_toml(&self) -> String {
        let defaults = toml::Table::try_from(Tuning::default()).expect("settings form a table");
        let mut settings = toml::Table::try_from(self).expect("a recipe forms a table");
        let plans = settings.remove("plans");
        if let Some(toml::Value::Table(tuning)) = settings.get_mut("tuning") {
            omit(tuning, &defaults);
        }
        let settings = settings.into_iter().chain(plans.map(|plans| ("plans".to_owned(), plans)));
        settings.map(|(key, value)| format!("{key} = {value}\n")).collect()
    }

    /// Whether its plans are for the degree of a request and the vector length of an instruction set.
    pub(crate) fn suits(&self, request: &Request, isa: Isa) -> bool {
        self.plans.iter().all(|plan| plan.shape() == request.shape(isa))
    }

    /// Whether it [suits](Self::suits), and its method applies to the request on the machine.
    pub(crate) fn applies(&self, request: &Request, machine: &Machine) -> bool {
        self.suits(request, machine.instruction_set())
            && ops::method(self.method.as_deref(), request, machine).is_ok()
    }
}

/// Finds the errors in the texts of a recipe's plans.
pub(crate) fn check_plans(document: &Document<'_>, recipe: &Item<'_>, errors: &mut Diagnostics) {
    for item in recipe.get("plans").into_iter().flat_map(Item::items) {
        for error in item.text().and_then(|text| Plan::read(text).err()).into_iter().flatten() {
            let span = document.part(item, &error.span);
            let help = format!("expected {}", error.expected);
            errors.push(document.error(Code::Value, span, error.problem).with_help(help));
        }
    }
}

/// Removes the entries of a table that equal their defaults.
fn omit(table: &mut toml::Table, defaults: &toml::Table) {
    table.retain(|key, value| match (value, defaults.get(key)) {
        (toml::Value::Table(table), Some(toml::Value::Table(defaults))) => {
            omit(table, defaults);
            !table.is_empty()
        }
        (value, default) => default != Some(value),
    });
}

/// The order of a block's instructions before scheduling. The scheduler breaks ties in favour of
/// the earlier instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// All loads, then the steps on all registers, then all stores. Consecutive steps that pair
    /// the same registers run pair by pair.
    #[default]
    ByStep,
    /// All loads, then each step on all registers before the next one, then all stores:
    /// independent chains advance together.
    ByLevel,
    /// See [`Code::order_by_demand`](crate::code::Code::order_by_demand).
    ByDemand,
}

impl Order {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_by_step(&self) -> bool {
        *self == Self::ByStep
    }
}
