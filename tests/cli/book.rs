//! The book: its commands run, its figures drawn by these commands, its tables checked for every key.
//!
//! A block ` ```sh ` is run by `sh`; a block such as ` ```toml,file=first.toml ` is a file in the same
//! folder. All blocks of a chapter share a folder and run in order. `BLESS=1` writes the figures.

use crate::common::{names, process, repository, succeed};
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// Figures that other tests draw, or `docs/book/pictures.sh`; see `docs/generated.md`.
const DRAWN_BY_OTHERS: [&str; 4] = ["debug.svg", "sweep.png", "timeline.png", "ring.png"];

fn chapters() -> Vec<(String, String)> {
    let folder = repository("docs/book/src");
    let files = names(Path::new(&folder)).into_iter().filter(|name| name.ends_with(".md"));
    files.map(|name| (name.clone(), fs::read_to_string(format!("{folder}/{name}")).unwrap())).collect()
}

/// A fenced block: its information and its content.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((_, block)) = rest.split_once("\n```") {
        let (info, block) = block.split_once('\n').expect("a block has lines");
        let (content, after) = block.split_once("\n```").expect("a block is closed");
        blocks.push((info, content));
        rest = after;
    }
    blocks
}

/// Runs the blocks of a chapter in a folder. Returns the number of commands.
fn run(chapter: &str, text: &str, folder: &Path) -> usize {
    let binary = Path::new(env!("CARGO_BIN_EXE_rpu")).parent().unwrap().display().to_string();
    let path = format!("{binary}:{}", std::env::var("PATH").unwrap_or_default());
    let mut commands = 0;
    for (info, content) in blocks(text) {
        if let Some((_, name)) = info.split_once(",file=") {
            fs::write(folder.join(name), content).unwrap();
        }
        for command in content.lines().filter(|_| info == "sh") {
            let output = process("sh", folder).args(["-c", command]).env("PATH", &path).output();
            let output = output.expect("sh starts");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{chapter}: {command}\n{errors}");
            commands += 1;
        }
    }
    commands
}

#[test]
fn every_command_of_the_book_works_and_draws_its_figures() {
    let counts = chapters().into_par_iter().map(|(chapter, text)| {
        let folder = tempfile::tempdir().unwrap();
        let commands = run(&chapter, &text, folder.path());
        let links = text.split("](img/").skip(1).filter_map(|rest| rest.split_once(')'));
        let mut figures = 0;
        for (figure, _) in links {
            let committed = PathBuf::from(repository("docs/book/src/img")).join(figure);
            if DRAWN_BY_OTHERS.contains(&figure) {
                assert!(committed.is_file(), "{chapter}: {figure}");
                continue;
            }
            let drawn = fs::read_to_string(folder.path().join(figure));
            let drawn = drawn.unwrap_or_else(|error| panic!("{chapter}: no command draws {figure}: {error}"));
            diagnostic::snapshot::fresh(committed, drawn);
            figures += 1;
        }
        (commands, figures)
    });
    let (commands, figures) = counts.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!(commands >= 30 && figures >= 2, "{commands} commands, {figures} figures");
}

#[test]
fn the_chapters_link_to_what_exists() {
    let chapters = chapters();
    let (_, summary) = chapters.iter().find(|(name, _)| name == "SUMMARY.md").expect("a summary");
    for (name, text) in &chapters {
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name} is not in the summary"
        );
        existing_links(name, text, &repository("docs/book/src"));
    }
    // The README names files, and a newcomer opens them.
    let readme = repository("README.md");
    existing_links(&readme, &fs::read_to_string(&readme).unwrap(), &repository(""));
}

/// The README's result, from the report that it names.
#[test]
fn the_readme_names_a_result_of_its_report() {
    let [readme, report] = ["README.md", "reports/bootstrap-designs.md"]
        .map(|file| fs::read_to_string(repository(file)).unwrap().replace('\n', " "));
    // Bandwidth, HPLEs, ms. In the rows of machines, another column is third.
    let rows = report.split("| 100 | ").skip(1);
    let times = rows.filter_map(|row| row.split(" | ").nth(2)?.parse::<f64>().ok());
    let best = times.min_by(f64::total_cmp).expect("a row of 100 mm²");
    let (before, _) = report.split_once(" designs: ").expect("a number of designs");
    let designs = before.rsplit(' ').next().unwrap();
    let result = format!(
        "of {designs} designs, the fastest within 100 mm² bootstraps 32768 slots at n = 65,536 in {best:.2} ms."
    );
    assert!(report.contains("all 32768 slots") && readme.contains(&result), "{result}");
}

/// Checks that the files to which a text links are in its folder.
fn existing_links(name: &str, text: &str, folder: &str) {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    for target in targets.filter(|target| !target.starts_with("http")) {
        let file = target.split('#').next().unwrap_or(target);
        assert!(Path::new(folder).join(file).exists(), "{name}: {target}");
    }
}

#[test]
fn every_code_and_every_directive_is_in_the_book() {
    let here = Path::new(".");
    let list = succeed(here, &["explain"]);
    let codes = list.lines().filter_map(|line| line.split_once(": "));
    let pages: String =
        codes.map(|(code, _)| format!("\n## {}", succeed(here, &["explain", code]))).collect();
    let note =
        "<!-- Generated from the tables of codes: do not edit. See docs/generated.md. -->\n\n# Error codes\n";
    diagnostic::snapshot::fresh(repository("docs/errors.md"), note.to_owned() + &pages);
    // The commands that explanations name exist, and have the options named with them.
    let commands = pages.split('`').filter(|text| text.starts_with("rpu "));
    for words in commands.map(|text| text.split_whitespace().skip(1).collect::<Vec<_>>()) {
        let is_word = |word: &&&str| word.chars().all(|letter| letter.is_ascii_lowercase());
        let path: Vec<&str> = words.iter().take_while(is_word).copied().collect();
        let help = succeed(here, &[&path[..], &["--help"]].concat());
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "`rpu {}`: no {option}", words.join(" "));
        }
    }
    let chapter = fs::read_to_string(repository("docs/book/src/b512.md")).unwrap();
    let directives = succeed(here, &["explain", "B007"]);
    let directives = directives.split('`').skip(1).step_by(2);
    let missing = |name: &&str| !chapter.contains(&format!("| `{name}"));
    assert_eq!(directives.filter(missing).count(), 0);
}

/// The chapter of a specification: the documentation of source files, the first of which begins the chapter.
/// The others are sections with a heading.
fn specification(title: &str, sources: &[(&str, &str)], chapter: &str) {
    let mut page = String::new();
    for (heading, source) in sources {
        page += heading;
        let text = fs::read_to_string(repository(source)).unwrap();
        let lines = text.lines().map_while(|line| line.strip_prefix("//!")).skip(1);
        let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        // Links to items of the source become their names.
        for (place, part) in lines.join("\n").replace("\n# ", "\n## ").split("[`").enumerate() {
            let (name, rest) = part.split_once("`]").filter(|_| place > 0).unwrap_or(("", part));
            let rest = rest
                .strip_prefix('(')
                .map_or(rest, |rest| rest.split_once(')').map_or(rest, |(_, rest)| rest));
            page += &if place > 0 { format!("`{name}`{rest}") } else { rest.to_owned() };
        }
        page += "\n";
    }
    let names: Vec<String> = sources.iter().map(|(_, source)| format!("`{source}`")).collect();
    let origin = format!(
        "<!-- Generated from {}: `BLESS=1 cargo test -p rpu-toolchain --test cli book`. -->",
        names.join(", ")
    );
    diagnostic::snapshot::fresh(repository(chapter), format!("# {title}\n\n{origin}\n{page}"));
}

#[test]
fn the_specifications_are_chapters() {
    specification("The cycle model", &[("", "sim/src/timing/mod.rs")], "docs/book/src/cycle-model.md");
    let schedule = [
        ("", "he/runtime/src/schedule.rs"),
        ("\n## Lines to launches\n", "he/runtime/src/launches.rs"),
        ("\n## The order of lines\n", "he/runtime/src/flow/order.rs"),
        ("\n## The mapping\n", "he/runtime/src/mapping.rs"),
    ];
    specification("The schedule of ring programs", &schedule, "docs/book/src/schedule.md");
}

#[test]
fn the_chapter_on_sweeps_names_every_objective() {
    let (_, text) = chapters().into_iter().find(|(name, _)| name == "sweeps.md").expect("the chapter");
    let row = text.lines().find(|line| line.starts_with("| `objectives` |")).expect("the key");
    for measure in lab_sweep::Measure::ALL {
        assert!(row.contains(&format!("`{}`", measure.name())), "{}", measure.name());
    }
}

#[test]
fn the_chapter_on_results_names_every_column_and_key() {
    let (_, text) = chapters().into_iter().find(|(name, _)| name == "results.md").expect("the chapter");
    let folder = tempfile::tempdir().unwrap();
    run("results.md", &text, folder.path());
    let named = |name: &str| {
        let patterns = text.split('`').skip(1).step_by(2);
        patterns.into_iter().any(|pattern| match pattern.split_once('*') {
            Some((begin, end)) => name.starts_with(begin) && name.ends_with(end) && name != pattern,
            None => pattern == name,
        })
    };
    let mut table = csv::Reader::from_path(folder.path().join("r/results.csv")).unwrap();
    let settings = ["kernel", "n", "modulus_bits", "plan", "stream", "vdm.banks"];
    for column in table.headers().unwrap().iter().filter(|column| !settings.contains(column)) {
        assert!(named(column), "results.md does not name the column `{column}`");
    }
    for name in ["run.json", "ring.json"] {
        let json = fs::read_to_string(folder.path().join(name)).unwrap();
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        for key in document.as_object().unwrap().keys() {
            assert!(named(key), "results.md does not name the key `{key}` of {name}");
        }
    }
}
