//! `rpu plot`

use crate::failure::Failure;
use crate::files;
use crate::outputs::check_overwritten;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lab_sweep::compose::{ComposeError, Form, Fronts, Request};
use lab_sweep::outputs::Outputs;
use lab_sweep::{Results, check_presentation, is_sweep};
use plot::{FONT_SIZES, FigureFile, Format, Legend, PlotError, Unplaced, width_pt};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folders of sweeps or explorations, or tables of results (.csv, .csv.gz, .csv.xz). With one folder and
    /// nothing else, its charts and its page are made again from its journal
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Form of the chart
    #[arg(long, value_name = "FORM", default_value = "scatter", value_parser = form_name())]
    form: Form,
    /// Column of the horizontal axis: a setting, any machine key, or a result such as energy_uj. By default
    /// time_us, stream_us of streams, or the first objective of an exploration
    #[arg(long, value_name = "KEY")]
    x: Option<String>,
    /// Column of the vertical axis, or of a tornado chart; by default area_mm2, or the second objective
    #[arg(long, value_name = "KEY")]
    y: Option<String>,
    /// Column whose values get different colours and markers
    #[arg(long, alias = "color", value_name = "KEY")]
    colour: Option<String>,
    /// Column whose value labels each design; by default all axes, if they are at most four
    #[arg(long, value_name = "KEY")]
    label: Option<String>,
    /// Conditions that designs must meet, such as `area < 25 mm2 and hple.count >= 64`
    #[arg(long = "where", value_name = "EXPR")]
    conditions: Option<String>,
    /// Column whose values get a panel each
    #[arg(long, value_name = "KEY")]
    facet: Option<String>,
    /// Draw the Pareto front of each task (the default if less or more is better in both columns)
    #[arg(long, conflicts_with = "no_front")]
    front: bool,
    /// Leave out Pareto fronts
    #[arg(long)]
    no_front: bool,
    /// Designs to mark with a star, such as `machine of the paper: hple.count = 128 and vdm.banks = 128`
    #[arg(long = "mark", value_name = "[LABEL:] EXPR")]
    marks: Vec<String>,
    /// Limit to draw across the chart, such as `area_mm2 <= 20.5`
    #[arg(long = "limit", value_name = "COLUMN OP NUMBER")]
    limits: Vec<String>,
    /// Width of the figure on paper, such as 8.5cm, 85mm, 3.3in or 240pt, with labels of --font-size
    #[arg(long, value_name = "WIDTH", value_parser = width_pt)]
    width: Option<f64>,
    /// Size of labels on paper, in points
    #[arg(long, value_name = "POINTS", default_value_t = 8.0, value_parser = font_size, requires = "width")]
    font_size: f64,
    /// Leave out titles
    #[arg(long)]
    no_title: bool,
    /// Place of the legend
    #[arg(long, value_name = "PLACE", value_parser = legend_place())]
    legend: Option<Legend>,
    /// Write the designs of the chart to a table: panel, series, name, both quantities, and whether a design
    /// is on a front
    #[arg(long, value_name = "FILE.csv")]
    points: Option<PathBuf>,
    /// File to write: .svg, .png, .pdf or .html; by default chart.svg in the first folder, or beside the
    /// first table
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let folders: Vec<&Path> = args.folders.iter().map(PathBuf::as_path).collect();
    let chosen = [&args.x, &args.y, &args.colour, &args.label, &args.conditions, &args.facet];
    let drawn = args.front || args.no_front || !args.marks.is_empty() || !args.limits.is_empty();
    let printed = args.width.is_some() || args.no_title || args.legend.is_some() || args.points.is_some();
    let composed = chosen.into_iter().any(Option::is_some) || drawn || printed;
    if let ([folder], false, Form::Scatter, None) = (&folders[..], composed, args.form, &args.output)
        && folder.is_dir()
    {
        return draw_again(folder);
    }
    args.check_form()?;
    let path = args.output.clone().unwrap_or_else(|| match folders[0].is_file() {
        true => folders[0].with_file_name("chart.svg"),
        false => folders[0].join("chart.svg"),
    });
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let format = if extension == "html" { Some(Format::Svg) } else { Format::of(extension) };
    let Some(format) = format else {
        let message = format!("invalid file name `{}` of a chart", diagnostic::path(&path));
        return Err(Failure::wrong(message, "it must end in `.svg`, `.png`, `.pdf` or `.html`"));
    };
    args.check_outputs(&path)?;
    let request = Request {
        prefix: "--",
        form: args.form,
        x: args.x.clone(),
        y: args.y.clone(),
        conditions: args.conditions.clone(),
        colour: args.colour.clone(),
        label: args.label.clone(),
        facet: args.facet.clone(),
        fronts: match (args.front, args.no_front) {
            (true, _) => Fronts::Always,
            (false, true) => Fronts::Never,
            (false, false) => Fronts::IfBetter,
        },
        marks: args.marks.clone(),
        limits: args.limits.clone(),
    };
    folders.iter().filter(|folder| folder.is_dir()).try_for_each(|folder| check_presentation(folder))?;
    let figure = request.figure(&folders)?;
    let table = args.points.as_ref().map(|path| (path, lab_sweep::compose::points(&figure)));
    let figure = if args.no_title { figure.without_titles() } else { figure };
    let legend = args.legend.unwrap_or_default();
    let file = FigureFile { format, width_pt: args.width, font_pt: args.font_size, legend };
    let drawn = file.draw(&figure).map_err(|error| Failure::from(ComposeError::Plot(error)))?;
    let Unplaced { designs, stars, legend: is_outside } = drawn.unplaced;
    if designs > 0 {
        let names = names_of(designs, "design");
        note!("note: no room for {names} on the front; --points writes a table of all");
    }
    if stars > 0 {
        note!("note: no room for {}: of a reference, or of --mark", names_of(stars, "star"));
    }
    if is_outside {
        note!("note: no room for the legend in the plot; it is outside");
    }
    let mut content = drawn.content;
    if extension == "html" {
        content = page(&String::from_utf8_lossy(&content)).into_bytes();
    }
    files::write(&path, &content)?;
    note!("wrote {}", diagnostic::path(&path));
    if let Some((path, table)) = table {
        files::write(path, table.as_bytes())?;
        note!("wrote {}", diagnostic::path(path));
    }
    Ok(())
}

/// The names of several things, or of one.
fn names_of(count: usize, thing: &str) -> String {
    if count == 1 { format!("the name of 1 {thing}") } else { format!("the names of {count} {thing}s") }
}

/// A size of labels, in points.
fn font_size(text: &str) -> Result<f64, String> {
    let size = text.parse::<f64>().ok().filter(|size| FONT_SIZES.contains(size));
    size.ok_or_else(|| "expected a number from 3 to 72".to_owned())
}

fn legend_place() -> impl TypedValueParser<Value = Legend> {
    let names = Legend::ALL.map(|place| PossibleValue::new(place.name()));
    PossibleValuesParser::new(names)
        .map(|name| Legend::ALL.into_iter().find(|place| place.name() == name).unwrap_or_default())
}

fn form_name() -> impl TypedValueParser<Value = Form> {
    let value = |form: Form| PossibleValue::new(form.row().0).help(form.row().1);
    PossibleValuesParser::new(Form::ALL.map(value))
        .map(|name| Form::ALL.into_iter().find(|form| form.row().0 == name).unwrap_or_default())
}

impl Args {
    /// Checks that each option has an effect on the form.
    fn check_form(&self) -> Result<(), Failure> {
        let given = [
            ("x", self.x.is_some()),
            ("front", self.front),
            ("colour", self.colour.is_some()),
            ("label", self.label.is_some()),
            ("mark", !self.marks.is_empty()),
            ("limit", !self.limits.is_empty()),
            ("legend", self.legend.is_some()),
            ("points", self.points.is_some()),
        ];
        let (form, _, without) = self.form.row();
        match given.into_iter().find(|(option, is_given)| *is_given && without.contains(option)) {
            Some((option, _)) => {
                let message = format!("`--{option}` has no effect on `--form {form}`");
                Err(Failure::wrong(message, "leave it out, or choose another form"))
            }
            None => Ok(()),
        }
    }

    /// Refuses files that would replace a table that is read, results of a sweep, or each other.
    fn check_outputs(&self, chart: &Path) -> Result<(), Failure> {
        let outputs =
            || [("-o", chart)].into_iter().chain(self.points.iter().map(|path| ("--points", &**path)));
        let named = outputs().map(|(option, path)| (format!("{option} {}", diagnostic::path(path)), path));
        check_overwritten(named, self.folders.iter().cloned())?;
        let refused = |message: String| Err(Failure::wrong(message, "name another file"));
        let mut known = BTreeMap::new();
        for (option, path) in outputs() {
            let Some(file) = files::identity(path) else { continue };
            if is_result(&file) {
                let path = diagnostic::path(path);
                return refused(format!("`{option} {path}` would overwrite a file of a sweep's results"));
            }
            if let Some(first) = known.insert(file, option) {
                return refused(format!("`{first}` and `{option}` both write to one file"));
            }
        }
        Ok(())
    }
}

/// Whether a file is one of the results of a sweep, which no chart replaces.
fn is_result(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_journal = name.starts_with("journal") && name.ends_with(".jsonl");
    let is_known = ["sweep.json", "results.jsonl", "results.csv", "results.b3"].contains(&&*name);
    (is_journal || is_known) && file.parent().is_some_and(is_sweep)
}

/// Makes the charts and the page of a folder again. Its results stay as they are.
fn draw_again(folder: &Path) -> Result<(), Failure> {
    check_presentation(folder)?;
    let results = Results::merge(&[folder])?;
    if results.missing() > 0 {
        note!("warning: {} of {} points have not run", results.missing(), results.points());
    }
    let names = Outputs::new(&results).draw(folder)?;
    if names.is_empty() {
        return Err(ComposeError::NoResults.into());
    }
    for name in names {
        note!("wrote {}", diagnostic::path(folder.join(name)));
    }
    Ok(())
}

/// A page with nothing but a chart.
fn page(svg: &str) -> String {
    format!("<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Chart</title>\n{svg}</html>\n")
}

impl From<ComposeError> for Failure {
    fn from(error: ComposeError) -> Self {
        match error {
            ComposeError::Journal(error) => error.into(),
            ComposeError::Condition(error) => error.into(),
            ComposeError::Unknown { message, help } => Self::Wrong { message, help: Some(help) },
            ComposeError::NotNumbers(_) => Failure::wrong(error, "give it to --colour, --label or --facet"),
            ComposeError::Empty(_) => {
                Failure::wrong(error, "choose another column, or the results that have it with --where")
            }
            ComposeError::NoRatio { ref name, .. } => {
                let help = format!(
                    "choose another column or form, or leave these results out: `--where '{name} > 0'`"
                );
                Self::Wrong { message: error.to_string(), help: Some(help) }
            }
            ComposeError::NoFront(_) => {
                Failure::wrong(error, "leave out --front, or choose results such as cycles or energy_uj")
            }
            ComposeError::Colours { .. } => {
                Failure::wrong(error, "give --colour a column with fewer values, or choose some with --where")
            }
            ComposeError::TooMany { .. } => Failure::wrong(error, "choose some with --where"),
            ComposeError::Nothing => Failure::wrong(error, "change --where"),
            ComposeError::NoResults => Failure::wrong(error, "run the sweep, or name another folder"),
            ComposeError::NoAxis(_) => Failure::wrong(error, "choose its column with --x or --y"),
            ComposeError::NoMark(_) => {
                Failure::wrong(error, "change --mark, or --where if that leaves it out")
            }
            ComposeError::NoEffect => {
                Failure::wrong(error, "a tornado chart needs a sweep of full axes; choose another form")
            }
            ComposeError::Plot(PlotError::Narrow { width_mm, font_pt }) => {
                let help = format!("give `--width {width_mm}mm`, or `--font-size {font_pt}`");
                Self::Wrong { message: error.to_string(), help: Some(help) }
            }
            ComposeError::Facets { .. } | ComposeError::Table { .. } | ComposeError::Plot(_) => {
                Failure::wrong(error, None)
            }
        }
    }
}
