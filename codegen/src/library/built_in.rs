//! The library that is part of the crate.

use super::{Measured, Target, Task};
use crate::recipe::Recipe;
use crate::request::Request;
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

    /// The recipes for a request's operation, degree and number of rings, on any machine.
    pub fn recipes(&self, request: &Request) -> impl Iterator<Item = &Recipe> {
        self.file(request).into_iter().flat_map(|file| &file.task.entries).map(|entry| &entry.recipe)
    }

    /// See [`Task::nearest`].
    pub fn nearest<'a>(
        &'a self,
        request: &Request,
        target: &Target,
    ) -> impl Iterator<Item = (&'a Recipe, &'a Target)> + use<'a> {
        let nearest = self.file(request).map(|file| file.task.nearest(target));
        nearest.into_iter().flatten()
    }

    /// The recipes for a request's operation and degree in another number of rings: those for the most
    /// similar number first, of these those for similar targets.
    pub fn nearest_of_other_towers<'a>(
        &'a self,
        request: &Request,
        target: &Target,
    ) -> impl Iterator<Item = &'a Recipe> + use<'a> {
        let tasks =
            self.tasks_by_towers(request).into_iter().skip_while(|task| task.towers == request.towers());
        let recipes: Vec<&Recipe> =
            tasks.flat_map(|task| task.nearest(target)).map(|(recipe, _)| recipe).collect();
        recipes.into_iter()
    }

    /// Looks up the recipe for a request on a target, with the request's number of rings.
    pub fn find(&self, request: &Request, target: &Target) -> Option<&Recipe> {
        let mut entries = self.file(request)?.task.entries.iter();
        let entry = entries.find(|entry| entry.targets.iter().any(|known| known.machine == *target));
        entry.map(|entry| &entry.recipe)
    }

    /// The task for the number of rings nearest to a request's, its own first, and the speeds of its
    /// machines.
    pub(crate) fn nearest_task(&self, request: &Request) -> Option<(&Task, &[Speed])> {
        let nearest = self.tasks_by_towers(request).into_iter().next()?;
        let file = self.files_of(request.operation.name(), request.n());
        file.filter(|file| file.task.towers == nearest.towers).map(|file| (&*file.task, file.speeds())).next()
    }

    /// The tasks of a request's operation and degree, those with the most similar number of rings first.
    /// Several rings have no use for the recipe of one.
    fn tasks_by_towers(&self, request: &Request) -> Vec<&Task> {
        let towers = request.towers();
        let tasks = self.tasks_of(request.operation.name(), request.n());
        let mut tasks: Vec<&Task> = tasks.filter(|task| (task.towers > 1) == (towers > 1)).collect();
        tasks.sort_by_key(|task| task.towers.abs_diff(towers));
        tasks
    }
}
