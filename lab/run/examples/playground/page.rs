//! Writes the page: `cargo run -p rpu-lab-run --example page -- playground.html`.

use base64::prelude::{BASE64_STANDARD, Engine};
use maud::{PreEscaped, html};
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

const TARGET: &str = "wasm32-unknown-unknown";
const SCRIPT: &str = include_str!("page.js");
const PROGRAM: &str = include_str!("start.b512");

fn main() -> Result<(), Box<dyn Error>> {
    let [_, output] = <[String; 2]>::try_from(env::args().collect::<Vec<_>>())
        .map_err(|_| "write `cargo run -p rpu-lab-run --example page -- FILE.html`")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let build = [
        "build",
        "--locked",
        "--package",
        env!("CARGO_PKG_NAME"),
        "--example",
        "playground",
        "--profile",
        "playground",
        "--target",
        TARGET,
    ];
    let built = Command::new(env!("CARGO")).args(build).current_dir(root).status()?;
    if !built.success() {
        return Err(format!("cargo failed; is the target there? `rustup target add {TARGET}`").into());
    }
    let target = env::current_exe()?;
    let target = target.ancestors().nth(3).ok_or("the example is not in a target folder")?;
    let module =
        BASE64_STANDARD.encode(fs::read(target.join(TARGET).join("playground/examples/playground.wasm"))?);
    let body = html! {
        h1 { "B512 playground" }
        p {
            "Assembler, simulator, timeline and registers of the Ring Processing Unit, in this page alone. The first line may set "
            "machine keys. Inputs hold 0, 1, 2 and so on. The address of the page has the program."
        }
        textarea #program rows="22" spellcheck="false" aria-label="Program" style="width:100%; font:13px/1.45 ui-monospace, monospace" {}
        div.controls {
            label { "registers after " input #at type="range" min="0" max="0" value="0"; }
            output #told {}
        }
        pre #errors style="overflow-x:auto" {}
        div #report {}
        script #module type="application/octet-stream" { (PreEscaped(module)) }
        script #start type="text/plain" { (PreEscaped(PROGRAM)) }
        script { (PreEscaped(SCRIPT)) }
    };
    fs::write(output, lab_run::page_parts::shell("B512 playground", &body, None).into_string())?;
    Ok(())
}
