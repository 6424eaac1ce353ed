//! A recorded bootstrap on three machines. The environment variable `RING_PROGRAM_TRACES` names the folder of the record.

use crate::operations::{machine, machines, run};
use crate::page::{Files, fill, lines, text};
use ring_program::{Interface, read_file};
use std::path::Path;

const MACHINES: [&str; 3] = ["paper", "fast", "narrow"];

pub(crate) fn files() -> Files {
    let Some(folder) = std::env::var_os("RING_PROGRAM_TRACES") else {
        eprintln!("NOT COMPUTED: RING_PROGRAM_TRACES names no folder with boot_sparse_n512.fhetch.xz");
        return Ok(Vec::new());
    };
    let program = read_file(&Path::new(&folder).join("boot_sparse_n512.fhetch.xz"), Interface::Degree(512))?;
    let (mut rows, mut shares) = (Vec::new(), Vec::new());
    for name in MACHINES {
        let [report, _] = run(&program, &machine(name)?)?;
        let bytes: u64 = report.hbm.bytes_by_kind.values().sum();
        rows.push(format!(
            "| {name} | {:.0} | {:.1}% | {:.0} | {:.0}% | {:.2} | {:.2} |",
            report.time_us,
            100.0 * report.lifted_operations as f64 / report.operations as f64,
            bytes as f64 / f64::from(1 << 20),
            100.0 * report.hbm.busy,
            report.energy.kernels / 1000.0,
            report.energy.hbm / 1000.0
        ));
        let of_resource = |(resource, share)| format!("| {name} | {resource} | {:.1}% |", 100.0 * share);
        shares.extend(report.binds.iter().map(of_resource));
    }
    let page = fill(
        include_str!("bootstrap.md"),
        &[
            ("operations", &program.operations().len()),
            ("machines", &machines(&MACHINES)?),
            ("rows", &lines(rows)),
            ("shares", &lines(shares)),
        ],
    );
    Ok(vec![text("reports/he/bootstrap.md", page)])
}
