//! From a text to what the page shows.

use b512_asm::reg::{REGISTERS, SReg, VReg};
use b512_asm::{Program, Role, Symbol, assemble};
use diagnostic::{counted, render};
use maud::{Markup, html};
use serde_json::{Value, json};
use sim::functional::Executor;
use sim::timing::simulate;
use sim::{Clock, Machine, MachineBase, Override, Trace, lint};

/// The words of a vector that the page shows.
const SHOWN: usize = 8;

/// What the page shows: `report` as HTML, with the number of `instructions` and the data of the `timeline`;
/// or `errors` as text.
///
/// The first line of a text may set machine keys: `# machine: hple.count=64 vdm.banks=64`. An input without
/// initial words has 0, 1, 2 and so on. Registers and outputs have their values after `instructions`
/// instructions.
pub(crate) fn answer(text: &str, instructions: usize) -> Value {
    match report(text, instructions) {
        Ok(value) => value,
        Err(errors) => json!({ "errors": errors }),
    }
}

fn report(text: &str, instructions: usize) -> Result<Value, String> {
    let machine = machine(text)?;
    let program = assemble(text).map_err(|errors| render(&errors, false))?;
    machine.check_fits(&program).map_err(|error| error.to_string())?;
    let mut defects = lint::errors(&program, &machine);
    if defects.is_empty() {
        // Without claims' ranges, which the golden model knows: inputs are below all moduli.
        defects = lint::ranges(&program, &machine, |_| modulus(&program) - 1);
    }
    if !defects.is_empty() {
        return Err(defects.iter().map(|defect| format!("error: {defect}\n")).collect());
    }
    let timing = simulate(&machine, &program);
    let trace = Trace::new(&machine, &program, &timing);
    let count = program.instructions.len();
    // A program that faults is refused as a whole, wherever the page has stopped.
    execute(&machine, &program, count)?;
    let executor = execute(&machine, &program, instructions.min(count))?;
    let (cycles, clock) = (timing.cycles.0, Clock::of(&machine).ghz());
    let report = html! {
        h2 { (counted(cycles as usize, "cycle", "cycles")) ", " (format!("{:.3} µs at {clock:.2} GHz", cycles as f64 / clock / 1e3)) }
        p {
            (counted(machine.hple.count as usize, "HPLE", "HPLEs")) ", "
            (counted(machine.vdm.banks as usize, "VDM bank", "VDM banks")) ", "
            (counted(count, "instruction", "instructions")) "."
        }
        (lab_run::page_parts::causes(cycles, |cause| timing.stalls.get(cause)))
        h2 { "Pipeline" }
        (lab_run::page_parts::pipeline())
        h2 { "After " (counted(instructions.min(count), "instruction", "instructions")) }
        (values(&program, executor))
    };
    let data = lab_run::page_parts::timeline(&trace);
    Ok(json!({ "report": report.into_string(), "instructions": count, "timeline": data["timeline"] }))
}

/// The machine that the first line names, or the paper's.
fn machine(text: &str) -> Result<Machine, String> {
    let keys = text.lines().next().and_then(|line| line.strip_prefix("# machine:")).unwrap_or_default();
    let overrides = keys.split_whitespace().map(Override::parse).collect::<Result<Vec<_>, _>>();
    let overrides = overrides.map_err(|error| render(&error.into(), false))?;
    let base = MachineBase::built_in("rpu-128x128").map_err(|errors| render(&errors, false))?;
    base.machine(&overrides).map_err(|errors| render(&errors, false))
}

/// The first instructions of a program on its inputs.
fn execute(machine: &Machine, program: &Program, instructions: usize) -> Result<Executor, String> {
    let mut executor = Executor::for_program(machine, program);
    executor.load(program).map_err(|error| error.to_string())?;
    let modulus = modulus(program);
    for input in program.symbols.iter().filter(|symbol| symbol.role == Role::Input) {
        if !has_words(program, input) {
            let words: Vec<u128> = (0..u128::from(input.words)).map(|index| index % modulus).collect();
            executor.write(&input.name, &words).map_err(|error| error.to_string())?;
        }
    }
    executor.start();
    for index in 0..instructions {
        executor.execute(index).map_err(|error| error.to_string())?;
    }
    Ok(executor)
}

/// The smallest modulus at launch.
fn modulus(program: &Program) -> u128 {
    program.moduli.iter().map(|&(_, modulus)| modulus).min().unwrap_or(u128::MAX)
}

fn has_words(program: &Program, symbol: &Symbol) -> bool {
    let mut segments = program.image(symbol.space).segments.iter();
    segments.any(|segment| segment.start < symbol.start + symbol.words && symbol.start < segment.end())
}

/// Outputs, and registers that are not zero.
fn values(program: &Program, mut executor: Executor) -> Markup {
    let outputs = program.symbols.iter().filter(|symbol| symbol.role == Role::Output);
    let mut rows: Vec<(String, Vec<u128>)> = Vec::new();
    for output in outputs {
        let words = executor.words(output.space, output.start..output.start + output.words);
        rows.push((output.name.clone(), words));
    }
    for index in 0..REGISTERS {
        let words = executor.vector(VReg::at(index));
        if words.iter().any(|&word| word != 0) {
            rows.push((format!("v{index}"), words));
        }
    }
    for index in 0..REGISTERS {
        let word = executor.scalar(SReg::at(index));
        if word != 0 {
            rows.push((format!("s{index}"), vec![word]));
        }
    }
    html! {
        div.scroll {
            table style="width:auto" {
                tbody {
                    @for (name, words) in &rows {
                        tr {
                            td.name { (name) }
                            @for word in words.iter().take(SHOWN) { td { (word) } }
                            td { @if words.len() > SHOWN { "… " (words.len()) " words" } }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = include_str!("start.b512");

    fn found(text: &str, instructions: usize) -> String {
        let answer = answer(text, instructions);
        answer["report"].as_str().or(answer["errors"].as_str()).expect("a report or errors").to_owned()
    }

    #[test]
    fn a_program_has_values_at_each_instruction_and_a_machine() {
        assert!(
            found(PROGRAM, usize::MAX).contains("<td class=\"name\">y</td><td>0</td><td>3</td><td>12</td>")
        );
        assert!(found(PROGRAM, 0).contains("<td class=\"name\">y</td><td>0</td><td>0</td>"));
        assert_eq!(answer(PROGRAM, 0)["instructions"], 18);
        assert_eq!(answer(PROGRAM, 0)["timeline"]["instructions"].as_array().map(Vec::len), Some(18));
        let small = PROGRAM.replace("hple.count=128", "hple.count=16");
        assert!(found(&small, 0).contains("16 HPLEs"));
    }

    #[test]
    fn mistakes_are_told_with_their_remedies() {
        for (from, to, error) in [
            ("vmuls ", "vmulz ", "did you mean `vmul`?"),
            ("hple.count=128", "hple.cout=128", "did you mean `hple.count`?"),
            ("hple.count=128", "hple.count", "write `key=value`"),
            ("hple.count=128", "isa.word_bits=64", "128"),
        ] {
            let text = found(&PROGRAM.replace(from, to), 0);
            assert!(text.contains(error), "{text}");
        }
    }
}
