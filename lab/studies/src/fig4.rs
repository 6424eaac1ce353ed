//! The chart at the top of the README: that of `rpu sweep configs/sweeps/fig4.toml`.

use crate::page::{Files, text};
use lab_sweep::outputs::Outputs;
use lab_sweep::{Definition, FIG4, Journal, Plan, Results, Shard, execute, generate};

pub(crate) fn files() -> Files {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let plan = Plan::new(&Definition::parse("fig4.toml", FIG4)?)?;
    let mut journal = Journal::open(folder, Shard::WHOLE, &plan.manifest)?;
    let batch = journal.pending(&plan, Shard::WHOLE, false);
    execute(&plan, &batch, &mut journal, &generate, &|_| ())?;
    Outputs::new(&Results::merge(&[folder])?).write(folder)?;
    Ok(vec![text("reports/fig4.svg", std::fs::read_to_string(folder.join("pareto.svg"))?)])
}
