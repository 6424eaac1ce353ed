//! The library that is part of the crate.

use super::{Entry, Measured, Target, Task};
use crate::recipe::Recipe;
use crate::request::Request;
use sim::Machine;
use sim::machine::Speed;
use std::sync::{LazyLock, OnceLock};

/// A library. Each of its files is read when it is first needed.
pub struct Library {
    files: Vec<File>,
}

/// The file of a task.
struct File {
    name: &'static str,
    task: LazyLock<Task, Box<dyn FnOnce() -> Task + Send>>,
    /// The speeds of the machines of its [programs](Task::programs), in their order.
    speeds: OnceLock<Vec<Speed>>,
}

impl File {
    fn speeds(&self) -> &[Speed] {
        let speed = |known: &Measured| known.machine.machine().speed();
        self.speeds.get_or_init(|| self.task.programs().map(|(_, _, known)| speed(known)).collect())
    }
}

/// The files of the built-in library: name and content.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/plans.rs"));

/// The built-in library.
pub static BUILT_IN: LazyLock<Library> = LazyLock::new(|| {
    let file = |&(name, text): &(&'static str, &'static str)| {
        let read =
            move || toml::from_str(text).unwrap_or_else(|error| panic!("codegen/plans/{name}: {error}"));
        File { name, task: LazyLock::new(Box::new(read)), speeds: OnceLock::new() }
    };
    Library { files: FILES.iter().map(file).collect() }
});

impl Library {
    /// All tasks.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.files.iter().map(|file| &*file.task)
    }

    /// The tasks of an operation at one degree, with any number of rings.
    pub fn tasks_of(&self, operation: &str, n: u32) -> impl Iterator<Item = &Task> {
        self.files_of(operation, n).map(|file| &*file.task)
    }

    fn files_of(&self, operation: &str, n: u32) -> impl Iterator<Item = &File> {
        let stem = format!("{operation}-{n}");
        let is_of = move |file: &&File| {
            let rest = file.name.strip_prefix(&*stem);
            rest.is_some_and(|rest| rest == ".toml" || rest.starts_with("-x"))
        };
        self.files.iter().filter(is_of)
    }

    /// The file for a request's operation, degree and number of rings.
    fn file(&self, request: &Request) -> Option<&File> {
        let mut files = self.files_of(request.operation.name(), request.n());
        files.find(|file| file.task.towers == request.towers())
    }

    /// The entries for a request's operation, degree and number of rings.
    fn entries(&self, request: &Request) -> &[Entry] {
        self.file(request).map_or(&[], |file| &file.task.entries)
    }

    /// The recipes for a request's operation, degree and number of rings, on any machine.
    pub fn recipes(&self, request: &Request) -> impl Iterator<Item = &Recipe> {
        self.entries(request).iter().map(|entry| &entry.recipe)
    }

    /// The recipes for a request's operation, degree and number of rings, each with the most similar of its targets:
    /// those for similar targets first.
    pub fn nearest<'a>(
        &'a self,
        request: &Request,
        target: &Target,
    ) -> impl Iterator<Item = (&'a Recipe, &'a Target)> + use<'a> {
        let mut entries: Vec<(u32, &Recipe, &Target)> = Vec::new();
        for entry in self.entries(request) {
            let targets = entry.targets.iter().map(|known| (known.machine.distance(target), &known.machine));
            entries.extend(targets.min_by_key(|(distance, _)| *distance).map(|(d, t)| (d, &entry.recipe, t)));
        }
        // The sort is stable: of equals, the library's first comes first.
        entries.sort_by_key(|(distance, ..)| *distance);
        entries.into_iter().map(|(_, recipe, target)| (recipe, target))
    }

    /// The fastest program for a request of a target that a machine [dominates](Machine::dominates).
    pub fn fastest_of_worse(&self, request: &Request, machine: &Machine) -> Option<(&Recipe, &Target)> {
        let (file, speed) = (self.file(request)?, machine.speed());
        let programs = file.task.programs().zip(file.speeds());
        let worse = programs.filter(|(_, other)| speed.dominates(other)).map(|(program, _)| program);
        let (_, entry, known) = worse.min_by_key(|(_, _, known)| known.cycles)?;
        Some((&entry.recipe, &known.machine))
    }

    /// Looks up the recipe for a request on a target. Falls back to the nearest number of rings if the request has several.
    pub fn find(&self, request: &Request, target: &Target) -> Option<&Recipe> {
        let towers = request.towers();
        let tasks = self.tasks_of(request.operation.name(), request.n());
        let mut tasks: Vec<&Task> = tasks.filter(|task| (task.towers > 1) == (towers > 1)).collect();
        tasks.sort_by_key(|task| task.towers.abs_diff(towers));
        let mut entries = tasks.iter().flat_map(|task| &task.entries);
        let entry = entries.find(|entry| entry.targets.iter().any(|known| known.machine == *target));
        entry.map(|entry| &entry.recipe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_file_has_the_name_and_the_text_of_its_task() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plans");
        assert!(FILES.len() > 30, "{} files", FILES.len());
        for ((name, _), task) in FILES.iter().zip(BUILT_IN.tasks()) {
            assert_eq!(*name, task.file_name());
            assert_eq!(toml::from_str::<Task>(&task.to_toml()).as_ref(), Ok(task), "{name}");
            bless::fresh(folder.join(name), task.to_toml());
        }
    }
}
