//! Real inputs: files of the repository, and what the project makes of them.

use crate::properties::{PROGRAMS, SWEEP};
use b512_asm::{Program, assemble, intrinsics, object};
use codegen::library::BUILT_IN;
use lab_run::program::{Axes, coefficient_file};
use lab_run::{Form, Mode, Options, run};
use serde_json::json;
use sim::Machine;
use std::fs;
use std::path::Path;

/// Longer files make executions slow, and most of their damage is alike.
const LONGEST: usize = 20_000;

/// The files of a folder whose names end in one of `endings`, in the order of their names.
fn files(repository: &Path, folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(repository.join(folder)).expect("the repository is complete");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)));
    paths.sort();
    let contents = paths.iter().map(|path| fs::read(path).expect("a readable file"));
    let found: Vec<_> = contents.filter(|content| content.len() < LONGEST).collect();
    assert!(!found.is_empty(), "{folder} has no seeds");
    found
}

fn of_folders(repository: &Path, folders: &[&str], endings: &[&str]) -> Vec<Vec<u8>> {
    folders.iter().flat_map(|folder| files(repository, folder, endings)).collect()
}

pub(crate) fn timing(repository: &Path) -> Vec<Vec<u8>> {
    files(repository, "tests/fuzz/seeds/timing", &[".txt"])
}

pub(crate) fn sources(repository: &Path) -> Vec<Vec<u8>> {
    of_folders(repository, &["b512-asm/tests/accept", "b512-asm/tests/refuse", "kernels-b512"], &[".b512"])
}

pub(crate) fn calls(repository: &Path) -> Vec<Vec<u8>> {
    programs(repository).iter().map(|program| intrinsics::print(program).into_bytes()).collect()
}

/// The texts for both readers of conditions.
pub(crate) fn conditions(repository: &Path) -> Vec<Vec<u8>> {
    let table = fs::read(repository.join("tests/pages/conditions.json")).expect("the repository is complete");
    let table: serde_json::Value = serde_json::from_slice(&table).expect("a table of cases");
    let cases = table["cases"].as_object().expect("cases").keys();
    cases.filter(|text| !text.is_empty()).map(|text| text.clone().into_bytes()).collect()
}

/// The programs of the sources.
fn programs(repository: &Path) -> Vec<Program> {
    let texts = sources(repository).into_iter().filter_map(|text| String::from_utf8(text).ok());
    texts.filter_map(|text| assemble(&text).ok()).collect()
}

pub(crate) fn words(repository: &Path) -> Vec<Vec<u8>> {
    let words =
        |program: &Program| program.instructions.iter().flat_map(|i| i.encode().to_le_bytes()).collect();
    programs(repository).iter().map(words).collect()
}

pub(crate) fn objects(repository: &Path) -> Vec<Vec<u8>> {
    programs(repository).iter().map(|program| object::write(program).expect("a valid program")).collect()
}

pub(crate) fn machines(_: &Path) -> Vec<Vec<u8>> {
    let seeds = [
        "hple.count=64\nvdm.banks=32\nvdm.mapping=xor",
        "frontend.busyboard=shared-reads\nfrontend.queue_depth=4\nideal.queues=true",
        "vbar.latency_cycles=10\nsbar.latency_cycles=5\nhple.initiation_interval=2\ntechnology=\"gf12\"",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).to_vec()
}

pub(crate) fn sweeps(repository: &Path) -> Vec<Vec<u8>> {
    let seeds = of_folders(repository, &["configs/sweeps", "configs/spaces"], &[".toml"]);
    // A plan emits its programs. An application has 10^5 lines or more, and takes as long as hundreds of
    // other plans.
    let short = |seed: Vec<u8>| {
        let text = String::from_utf8(seed).expect("a committed sweep is a text");
        let applications = ["bootstrap", "resnet20"].map(|name| format!("kernel = \"{name}\""));
        let text = applications
            .iter()
            .fold(text, |text, application| text.replace(application, "kernel = \"rotate\""));
        text.into_bytes()
    };
    seeds.into_iter().map(short).collect()
}

/// The library's recipes for the smallest ring, and earlier findings.
pub(crate) fn recipes(repository: &Path) -> Vec<Vec<u8>> {
    let names = [golden::NTT, golden::INTT, golden::POLYMUL].map(|operation| operation.name());
    let mut seeds = files(repository, "tests/fuzz/seeds/recipe", &[".txt"]);
    for task in BUILT_IN.tasks().filter(|task| task.n == 1024 && task.towers == 1) {
        let Some(first) = names.iter().position(|name| *name == task.operation) else { continue };
        for entry in &task.entries {
            let text = toml::to_string(&entry.recipe).expect("a recipe becomes TOML");
            seeds.push([&[first as u8], text.as_bytes()].concat());
        }
    }
    seeds
}

pub(crate) fn sets(repository: &Path) -> Vec<Vec<u8>> {
    files(repository, "he/programs/sets", &[".toml"])
}

/// The documents of the programs.
pub(crate) fn documents(repository: &Path) -> Vec<Vec<u8>> {
    let machine = Machine::rpu_128x128();
    let options = Options { mode: Mode::TimingOnly, ..Options::default() };
    let runs = programs(repository).into_iter().filter_map(|program| run(&program, &machine, &options).ok());
    runs.map(|outcome| serde_json::to_vec(&outcome.report).expect("plain data becomes JSON")).collect()
}

pub(crate) fn ring_programs(repository: &Path) -> Vec<Vec<u8>> {
    let folders =
        ["he/ring-program/tests/accept", "he/ring-program/tests/refuse", "he/ring-program/tests/traces"];
    of_folders(repository, &folders, &[".fhetch", ".fhetch.xz"])
}

pub(crate) fn manifests(repository: &Path) -> Vec<Vec<u8>> {
    let folders =
        ["he/ring-program/tests/manifests", "he/ring-program/tests/refuse", "he/ring-program/tests/traces"];
    of_folders(repository, &folders, &[".json"])
}

/// One fault of each kind in each kernel.
pub(crate) fn faults(_: &Path) -> Vec<Vec<u8>> {
    let fault =
        |kernel: u8, kind: u8| vec![kernel, kind, 3 + 7 * kernel, 0, 1, kind, kernel, 0, 0, 0, 0, 0, 0];
    (0..5).flat_map(|kernel| (0..12).map(move |kind| fault(kernel, kind))).collect()
}

pub(crate) fn machine_files(repository: &Path) -> Vec<Vec<u8>> {
    of_folders(repository, &["configs/machines", "configs/tech"], &[".toml"])
}

/// A whole journal, one with a torn line and a failure that was repeated, and single lines.
pub(crate) fn journals(_: &Path) -> Vec<Vec<u8>> {
    let lines = &SWEEP.lines;
    let torn = format!("{}{}", &lines[0][..lines[0].len() / 2], lines.concat());
    let mut seeds = vec![lines.concat(), torn, format!("{0}{0}", lines[lines.len() - 1])];
    seeds.extend(lines.iter().cloned());
    seeds.into_iter().map(String::into_bytes).collect()
}

pub(crate) fn sweep_manifests(_: &Path) -> Vec<Vec<u8>> {
    vec![SWEEP.manifest()]
}

pub(crate) fn technologies(repository: &Path) -> Vec<Vec<u8>> {
    let mut seeds = files(repository, "configs/tech", &["gf12.toml", "7nm.toml"]);
    seeds.push(b"inherits = \"gf12\"\nname = \"t\"\nnode_nm = 7\n".to_vec());
    seeds
}

pub(crate) fn claims(repository: &Path) -> Vec<Vec<u8>> {
    files(repository, "configs/tech", &[".claims.toml"])
}

/// Small sweeps of each kind.
pub(crate) fn plans(_: &Path) -> Vec<Vec<u8>> {
    let tasks = [
        "kernel = 'ntt'\nn = 1024\nmodulus_bits = 60\nplan = 'kl'\ntowers = 2\nstream = 4\n",
        "kernel = 'muls'\nn = 512\nmodulus = '0x3001'\nby = 5\ntitle = 'A title'\nseed = 3\n",
        "kernel = 'automorphism'\nn = 1024\ng = 5\norder = 'evaluation'\nschedule_for = 'base'\n",
        "kernel = 'keyswitch'\nset = 'ark'\nlevel = 1\nn = 1024\ndataflow = 'oc'\nkeys = 'resident'\n",
    ];
    let axes = [
        "[grid]\nhple.count = [64, 128]\nvdm.mapping = ['interleaved', 'xor']\n[sample]\npoints = 3\nseed = 1\n",
        "[zip]\nhple.multiplier_latency_cycles = [11, 22]\nvdm.banks = [64, 128]\n[[reference]]\nlabel = 'p'\ntime_us = 6.7\narea_mm2 = 20.5\n",
        "[[list]]\nhbm.gb_per_s = 512.0\n[[list]]\nideal.queues = true\nvbar.paths = 'split'\n",
        "[grid]\nhple.count = [64, 128]\n[explore]\nobjectives = ['time_us', 'area_mm2']\nconstraints = ['area_mm2 < 25']\n",
    ];
    tasks.iter().flat_map(|task| axes.map(|axes| format!("{task}{axes}").into_bytes())).collect()
}

/// A table of results in all forms.
pub(crate) fn tables(_: &Path) -> Vec<Vec<u8>> {
    let text = "key,kernel,n,hple.count,status,cycles,time_us,area_mm2,energy_uj,pareto\n\
                00112233445566778899aabbccddeeff,ntt,1024,64,ok,1200,0.75,13.5,0.5,true\n\
                10112233445566778899aabbccddeeff,ntt,1024,128,failed,,,,,false\n";
    let mut gzip = flate2::write::GzEncoder::new(vec![1], flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, text.as_bytes()).expect("memory takes all bytes");
    vec![[b"\0", text.as_bytes()].concat(), gzip.finish().expect("memory takes all bytes")]
}

/// A mapping, and the document of a run, which is refused.
pub(crate) fn mappings(repository: &Path) -> Vec<Vec<u8>> {
    let start = serde_json::to_vec(&runtime::Mapping::START).expect("plain data becomes JSON");
    let run = documents(repository).swap_remove(0);
    vec![start.clone(), start, run]
}

/// Short programs without bootstraps, which take long.
pub(crate) fn heir(repository: &Path) -> Vec<Vec<u8>> {
    files(repository, "he/programs/tests/heir", &["dot_product.mlir", "differences.mlir"])
}

/// The committed networks of Orion: a perceptron, and a convolution.
pub(crate) fn networks(repository: &Path) -> [Vec<u8>; 2] {
    ["perceptron", "convolution"].map(|name| {
        let path = repository.join(format!("he/programs/tests/orion/{name}.orion"));
        fs::read(path).expect("the repository is complete")
    })
}

/// The header of a network's file, and what follows it.
pub(crate) fn parts(file: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = file[8..].split_first_chunk().expect("a length");
    rest.split_at(u32::from_le_bytes(*length) as usize)
}

/// Headers of the networks, one of a graph without matrices, whole files, and a short one.
pub(crate) fn orion(repository: &Path) -> Vec<Vec<u8>> {
    let layer = |(name, op, level): (&str, &str, u64)| json!({ "name": name, "op": op, "level": level, "depth": 1, "config": {} });
    let edge = |(src, dst): (&str, &str)| json!({ "src": src, "dst": dst });
    let nodes = [("a", "quad", 3), ("b", "add", 2), ("c", "mult", 2)].map(layer);
    let edges = [("a", "b"), ("a", "b"), ("a", "c"), ("b", "c")].map(edge);
    let graph = json!({
        "version": 2, "input_level": 3, "blob_count": 0, "manifest": {}, "cost": {},
        "params": {
            "logn": 8, "logq": [50, 40, 40, 40], "logp": [51], "log_default_scale": 40, "h": 64,
            "ring_type": "standard", "boot_logp": null, "btp_logn": null
        },
        "config": { "margin": 2, "embedding_method": "hybrid", "fuse_modules": false },
        "graph": {
            "input": "a", "output": "c",
            "nodes": nodes,
            "edges": edges
        }
    });
    let graph = graph.to_string().into_bytes();
    let length = u32::try_from(graph.len()).expect("a short text").to_le_bytes();
    let short = [b"ORION\0\x02\0", &length[..], &graph, &[0; 4]].concat();
    let networks = networks(repository);
    let headers = networks.iter().map(|file| parts(file).0.to_vec());
    headers.chain([graph, short]).chain(networks.clone()).collect()
}

/// One change of each kind in each program.
pub(crate) fn variants(_: &Path) -> Vec<Vec<u8>> {
    let seed = |program: usize| [&[program as u8][..], &[7 * program as u8; 8]].concat();
    (0..PROGRAMS.len()).map(seed).collect()
}

/// The same words in all forms.
pub(crate) fn data(_: &Path) -> Vec<Vec<u8>> {
    let words = [0, 1, u128::from(u64::MAX), u128::from(u64::MAX) + 1, u128::MAX, 97];
    let of_form = |(first, form): (u8, Form), wide: bool| {
        [vec![first], coefficient_file(form, &words, Axes { limbs: None, wide })].concat()
    };
    let limbs = coefficient_file(Form::Array, &words, Axes { limbs: Some(2), wide: true });
    let mut seeds = vec![[vec![2], limbs].concat(), b"\x01[1, \"0x1f\", \"31\"]".to_vec()];
    seeds.extend((0..).zip(Form::ALL).flat_map(|of| [true, false].map(|wide| of_form(of, wide))));
    seeds
}
