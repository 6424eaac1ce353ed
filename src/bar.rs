//! Progress bars on standard error.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::time::Duration;

/// The time since the beginning of work whose length is not known, after `message`. Only terminals show it.
pub(crate) fn clock(message: String) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}").expect("the template is right");
    let bar = ProgressBar::new_spinner().with_style(style).with_message(message);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// A bar of `length` of the things that `noun` names, as wide as the terminal. `rest` stands behind the time
/// left, such as `, {msg}`.
pub(crate) fn bar(length: usize, noun: &str, rest: &str) -> ProgressBar {
    let template = format!("{{wide_bar}} {{pos}}/{{len}} {noun}, {{rate}}, {{eta}} left{rest}");
    let style = ProgressStyle::with_template(&template).expect("the template is right");
    // The rate of the library has four decimals.
    let rate = |state: &ProgressState, text: &mut dyn Write| {
        let decimals = if state.per_sec() < 10.0 { 1 } else { 0 };
        // Writing to a line cannot fail.
        let _ = write!(text, "{:.decimals$}/s", state.per_sec());
    };
    ProgressBar::new(length as u64).with_style(style.with_key("rate", rate))
}
