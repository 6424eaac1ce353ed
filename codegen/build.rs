//! Lists the files of the library for `src/library.rs`.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=plans");
    let folder = fs::canonicalize("plans")?;
    let mut names = Vec::new();
    for file in fs::read_dir(&folder)? {
        names.push(file?.file_name().into_string().map_err(|name| io::Error::other(format!("{name:?}")))?);
    }
    names.retain(|name| name.ends_with(".toml"));
    names.sort_unstable();
    let row = |name: &String| format!("({name:?}, include_str!({:?})),\n", folder.join(name));
    let rows: String = names.iter().map(row).collect();
    let target = env::var_os("OUT_DIR").expect("cargo names the folder");
    fs::write(Path::new(&target).join("plans.rs"), format!("[{rows}]"))
}
