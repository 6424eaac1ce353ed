//! Flags that follow from the rows of a table.

use crate::failure::Failure;
use crate::numbers::degree;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use lab_sweep::parameter::{Form, PARAMETERS, Parameter, Values};
use std::marker::PhantomData;
use std::sync::LazyLock;

/// A table of options.
pub(crate) trait Table {
    /// A flag for each row, with its name as the id and a text as the value.
    fn flags() -> impl Iterator<Item = Arg>;
}

/// The given flags of a table. They are the group [`GROUP`] of arguments.
pub(crate) struct Rows<T> {
    /// The names of rows, and their values as texts.
    pub(crate) given: Vec<(String, String)>,
    table: PhantomData<T>,
}

/// The name of all flags of a table together.
pub(crate) const GROUP: &str = "rows";

impl<T: Table> Args for Rows<T> {
    fn augment_args(command: Command) -> Command {
        let ids = T::flags().map(|flag| flag.get_id().clone());
        command.args(T::flags()).group(ArgGroup::new(GROUP).args(ids).multiple(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Table> FromArgMatches for Rows<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = T::flags().filter_map(|flag| {
            let name = flag.get_id().as_str();
            Some((name.to_owned(), matches.get_one::<String>(name)?.clone()))
        });
        Ok(Self { given: given.collect(), table: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The parameters of kernels. The settings of operations have one flag together, `--setting`.
pub(crate) struct KernelRows;

impl Table for KernelRows {
    fn flags() -> impl Iterator<Item = Arg> {
        flags(|_| true)
    }
}

/// Those that say what a kernel computes.
pub(crate) struct TaskRows;

impl Table for TaskRows {
    fn flags() -> impl Iterator<Item = Arg> {
        flags(|parameter| parameter.identifies)
    }
}

fn flags(wanted: fn(&Parameter) -> bool) -> impl Iterator<Item = Arg> {
    static NAMES: LazyLock<Vec<String>> =
        LazyLock::new(|| PARAMETERS.iter().map(|parameter| parameter.name.replace('_', "-")).collect());
    let rows = PARAMETERS.iter().zip(NAMES.iter()).filter(move |(parameter, _)| {
        let of_kernels = parameter.forms.contains(&Form::Kernel) && parameter.of.is_empty();
        of_kernels && parameter.name != "kernel" && parameter.changes_program && wanted(parameter)
    });
    rows.map(|(parameter, long)| {
        let Parameter { name, values, .. } = parameter;
        let flag = Arg::new(*name).long(long.as_str()).help(parameter.help());
        let flag = flag.value_name(values.placeholder());
        match values {
            Values::Names(names) => flag.value_parser(PossibleValuesParser::new(names)),
            Values::Degree => flag.value_parser(|text: &str| degree(text).map(|n| n.to_string())),
            Values::Integer(..) | Values::Numbers | Values::Integers | Values::Text => flag
                .allow_hyphen_values(true)
                .value_parser(|text: &str| values.check(text).map(|()| text.to_owned())),
        }
    })
}

/// Reads settings such as `by=0x1234`.
pub(crate) fn settings(texts: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let setting = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(Failure::wrong(format_args!("invalid setting `{text}`"), "write NAME=VALUE")),
    };
    texts.iter().map(setting).collect()
}
