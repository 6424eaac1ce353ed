//! The files of a generated ring program: its text, its manifest, and its plaintexts.

use crate::failure::Failure;
use crate::files;
use crate::outputs::{Outputs, check_overwritten};
use lab_run::RingFile;
use programs::Generated;
use ring_program::Manifest;
use ring_program::data::Words;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use test_client::Client;

/// What to write.
#[derive(Clone, Copy)]
pub(crate) struct RingOutput<'p> {
    output: &'p Path,
    /// Whether calls are written as the lines of their functions.
    flat: bool,
    /// The folder of plaintexts.
    plaintexts: Option<&'p Path>,
}

impl<'p> RingOutput<'p> {
    /// Refuses a name that is none of a ring program, and that of a file among the command's `inputs`.
    pub(crate) fn new(
        output: &'p Path,
        flat: bool,
        plaintexts: Option<&'p Path>,
        inputs: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, Failure> {
        if output.extension().is_none_or(|extension| extension != "fhetch") {
            let message = format!("invalid file name `{}` of a ring program", diagnostic::path(output));
            return Err(Failure::wrong(message, "it must end in `.fhetch`"));
        }
        let manifest = RingFile::manifest_beside(output);
        let option = format!("--output {}", diagnostic::path(output));
        check_overwritten([(option.clone(), output), (option, &manifest)], inputs)?;
        Ok(Self { output, flat, plaintexts })
    }

    /// Writes a program with a title of one line, and with a comment of several.
    pub(crate) fn write(&self, generated: &Generated, title: String, comment: &str) -> Result<(), Failure> {
        let mut outputs = Outputs::default();
        if let Some(folder) = self.plaintexts {
            add_plaintexts(&mut outputs, folder, generated)?;
        }
        let lines = if self.flat { generated.program.flat() } else { Cow::Borrowed(&generated.program) };
        let mut text = Vec::new();
        let comment = comment.to_owned() + &generated.ledger.to_string();
        lines.write(&comment, &mut text).map_err(|error| Failure::Work(error.to_string()))?;
        outputs.add(self.output, &text)?;
        let mut manifest = Manifest::of(&lines);
        manifest.title = Some(title);
        outputs.add(&RingFile::manifest_beside(self.output), manifest.to_json().as_bytes())?;
        outputs.finish()
    }
}

/// Adds the inputs that anybody can make.
fn add_plaintexts(outputs: &mut Outputs, folder: &Path, generated: &Generated) -> Result<(), Failure> {
    let groups = generated.inputs.iter().zip(generated.program.inputs());
    let mut public = groups.filter(|(input, _)| input.definition.is_public()).peekable();
    if public.peek().is_none() {
        let message =
            "`--plaintexts` has no effect: no input of the program is a plaintext with a definition";
        return Err(Failure::wrong(
            message,
            "leave it out; bootstraps and applications have such plaintexts",
        ));
    }
    // They do not depend on the client's secret.
    let client = Client::new(generated.set.clone(), 0).map_err(|error| Failure::wrong(error, None))?;
    let inputs = client.inputs(generated, &[])?;
    files::create_folder(folder)?;
    for (input, group) in public {
        let limbs: Vec<Words> =
            group.limbs.iter().map(|&limb| inputs.words(limb).expect("a definition")).collect();
        outputs.add_limbs(&folder.join(format!("{}.npy", input.name)), &generated.program, &limbs)?;
    }
    Ok(())
}
