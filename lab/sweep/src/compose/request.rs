//! Charts in the words of a user.

use super::{ComposeError, Composition, Condition, Form, Fronts, Mark, Pool};
use plot::Figure;
use std::path::Path;

/// A chart as a user asks for it. What is missing has a default.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Request {
    /// What stands before the names of the fields in errors: `--` on the command line.
    pub prefix: &'static str,
    /// The form.
    pub form: Form,
    /// The horizontal column; by default the first of [`Pool::axes`].
    pub x: Option<String>,
    /// The vertical column; by default the second of [`Pool::axes`].
    pub y: Option<String>,
    /// The column whose values get different colours.
    pub colour: Option<String>,
    /// The column that names designs.
    pub label: Option<String>,
    /// The column whose values get a panel each.
    pub facet: Option<String>,
    /// Conditions that designs must meet.
    pub conditions: Option<String>,
    /// Whether fronts are drawn.
    pub fronts: Fronts,
    /// Designs to mark.
    pub marks: Vec<String>,
    /// Limits to draw.
    pub limits: Vec<String>,
}

impl Request {
    /// The chart of results in folders or tables.
    ///
    /// # Errors
    /// Returns an error if results cannot be read, a text is not of its notation, or [`Pool::compose`]
    /// returns one.
    pub fn figure(&self, folders: &[&Path]) -> Result<Figure, ComposeError> {
        let all = |name: &str, texts: &[String]| -> Result<Vec<Condition>, ComposeError> {
            let name = format!("{}{name}", self.prefix);
            let parse = |text: &String| Condition::parse_all(&name, text);
            Ok(texts.iter().map(parse).collect::<Result<Vec<_>, _>>()?.concat())
        };
        let conditions = all("where", self.conditions.as_slice())?;
        let mark = format!("{}mark", self.prefix);
        let marks = self.marks.iter().map(|text| Mark::parse(&mark, text)).collect::<Result<_, _>>()?;
        let limits = all("limit", &self.limits)?;
        let pool = Pool::read(folders, &conditions)?;
        let [x, y] = pool.axes();
        let Self { form, colour, label, facet, fronts, .. } = self.clone();
        let [x, y] = [(&self.x, x), (&self.y, y)].map(|(own, usual)| own.clone().unwrap_or(usual.into()));
        pool.compose(&Composition { form, x, y, colour, label, facet, fronts, marks, limits })
    }
}
