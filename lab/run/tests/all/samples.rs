//! Documents of runs with arbitrary numbers, for tests of what shows them.

use b512_asm::{PerPipe, Pipe, Program};
use lab_run::{
    Bottleneck, Bounds, Claim, Instructions, OffChip, ProgramFacts, RunReport, StreamReport, Utilisation,
    Waits,
};
use ring_program::Parameters;
use runtime::report::{Compute, Cost, Hbm};
use runtime::{Keys, Merit};
use sim::hbm::Traffic;
use sim::{Area, Energy, Machine, MachineFile, Override};

pub(crate) fn machine(changes: &[&str]) -> Machine {
    let overrides: Vec<_> = changes.iter().map(|change| Override::parse(change).unwrap()).collect();
    MachineFile::built_in("rpu-128x128", &overrides).unwrap()
}

/// A report without cycles.
pub(crate) fn untimed(changes: &[&str]) -> RunReport {
    let program = Program { name: "demo".into(), ..Program::default() };
    let area = Area { vdm: 12.25, law: 8.0, sbar: 0.25, ..Area::default() };
    let energy = Energy { law: 1.0, vdm: 3.0, ..Energy::default() };
    RunReport {
        area_mm2: area.total(),
        area_breakdown_mm2: area,
        energy_uj: energy.total(),
        energy_kernels_uj: energy.total(),
        energy_breakdown_uj: energy,
        ..RunReport::new(&ProgramFacts::of(&program), &machine(changes))
    }
}

fn per_pipe<T: Default>(compute: T, load_store: T) -> PerPipe<T> {
    let mut pipes = PerPipe::default();
    pipes[Pipe::Compute] = compute;
    pipes[Pipe::LoadStore] = load_store;
    pipes
}

/// A run of a kernel, without a stream.
pub(crate) fn kernel(changes: &[&str]) -> RunReport {
    let stalls = [("issue", 1), ("busy_compute", 700), ("queue_load_store", 299), ("drain", 1000)];
    let settings = [("n", 512.into()), ("modulus", "0x3001".into())];
    RunReport {
        computes: vec![Claim {
            outputs: vec!["y".into(), "z".into()],
            expressions: vec!["a + b".into(), "a - b".into()],
            inputs: vec!["a".into(), "b".into()],
            settings: settings.map(|(name, value)| (name.to_owned(), value)).into(),
        }],
        checked: true,
        cycles: Some(2000),
        frequency_ghz: Some(1.6),
        time_us: Some(1.25),
        instructions: Some(Instructions { pipes: per_pipe(1, 1200) }),
        bounds: Some(Bounds { resource_cycles: 1600, dependence_cycles: 0 }),
        bound_ratio: Some(1.25),
        stalls: Some(stalls.map(|(cause, cycles)| (cause.to_owned(), cycles)).into()),
        utilisation: Some(Utilisation { pipes: per_pipe(0.375, 0.5) }),
        waits: Some(Waits { vrf_ports: per_pipe(30, 4000), bank_conflict_cycles: 0 }),
        power_w: Some(3.2),
        ..untimed(changes)
    }
}

/// A run of a kernel, and a stream of many.
pub(crate) fn stream(changes: &[&str], bottleneck: Bottleneck) -> RunReport {
    let stream = StreamReport {
        runs: 8,
        words_per_run: Traffic { inputs: 2048, tables: 3072, outputs: 1024 },
        hbm_bytes: 1 << 20,
        transfer_us_per_run: 1.5,
        compute_us_per_run: 1.25,
        total_us: 13.75,
        bottleneck,
        hbm_utilisation: 0.875,
        compute_utilisation: 0.75,
        vdm_words_needed: 1 << 12,
        vdm_words: 1 << 20,
    };
    RunReport { hbm: Some(OffChip::Stream(stream)), energy_hbm_uj: 1.0, energy_uj: 5.0, ..kernel(changes) }
}

/// A run of a ring program.
pub(crate) fn ring() -> RunReport {
    let cost = |launches, operations, time_us, energy_uj| Cost {
        launches,
        operations,
        time_us,
        bound_us: time_us / 2.0,
        energy_uj,
    };
    let costs = [("multiply", cost(1, 1000, 600.0, 3000.0)), ("ntt 1 to 2", cost(24, 1, 1400.0, 0.25))];
    let kinds = [("inputs", 3 << 20), ("keys", 1 << 20), ("tables", 0)];
    let binds = [("compute", 0.5), ("hbm", 0.25), ("load_store", 0.125), ("latency", 0.125)];
    RunReport {
        checked: true,
        cycles: Some(4_000_000),
        frequency_ghz: Some(1.6),
        time_us: Some(2500.0),
        hbm: Some(OffChip::Ring(Hbm {
            bytes_by_kind: kinds.map(|(kind, bytes)| (kind.to_owned(), bytes)).into(),
            needed_bytes: 5 << 20,
            busy: 0.625,
        })),
        n: Some(2048),
        parameters: Some(Parameters {
            set: "small".into(),
            log2_q: 150.0,
            log2_p: 60.0,
            log2_qp: 210.0,
            security: "none".into(),
            key_switch_noise_bits: 7.5,
            slot_levels: None,
        }),
        keys: Some(Keys::Seeded),
        optimise: Some(Merit::Energy),
        operations: Some(1234),
        lifted_operations: Some(1),
        unused_operations: Some(0),
        costs: Some(costs.map(|(name, cost)| (name.to_owned(), cost)).into()),
        compute: Some(Compute { busy: 0.8, bound_ratio: Some(2.0) }),
        binds: Some(binds.map(|(resource, share)| (resource.to_owned(), share)).into()),
        energy_static_uj: 46.0,
        energy_uj: 50.0,
        power_w: Some(0.02),
        ..untimed(&[])
    }
}
