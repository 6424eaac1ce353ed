//! The commands that a user types after `:`.

use diagnostic::{Diagnostic, nearest};

/// A command: its name, its arguments and its effect.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) argument: &'static str,
    pub(crate) effect: &'static str,
    pub(crate) action: Action,
}

/// The effect of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Break,
    Delete,
    Watch,
    Unwatch,
    Check,
    GoTo,
    Cycle,
    Step,
    Back,
    Vdm,
    Lane,
    Quit,
}

/// Every command.
pub(crate) const COMMANDS: [Command; 12] = {
    const fn command(
        name: &'static str,
        argument: &'static str,
        effect: &'static str,
        action: Action,
    ) -> Command {
        Command { name, argument, effect, action }
    }
    [
        command(
            "break",
            "LINE|#INDEX|SYMBOL",
            "set breakpoints: one, or at each access of a symbol",
            Action::Break,
        ),
        command("delete", "LINE|#INDEX|SYMBOL|all", "delete breakpoints", Action::Delete),
        command(
            "watch",
            "v3|s0|a1|m2|y|y+5|y+0..7",
            "stop if an instruction changes the value",
            Action::Watch,
        ),
        command("unwatch", "all", "watch nothing", Action::Unwatch),
        command("check", "", "go behind the store of the first wrong coefficient", Action::Check),
        command("goto", "LINE|#INDEX|SYMBOL|end", "go to an instruction", Action::GoTo),
        command("cycle", "CYCLE", "show a cycle", Action::Cycle),
        command("step", "COUNT", "go forward by some instructions", Action::Step),
        command("back", "COUNT", "go back by some instructions", Action::Back),
        command("vdm", "ADDRESS|SYMBOL", "show these words of the vector memory", Action::Vdm),
        command("lane", "LANE", "show the registers from this lane on", Action::Lane),
        command("quit", "", "leave the debugger", Action::Quit),
    ]
};

/// Reads a command and its argument.
///
/// # Errors
/// Returns an error if there is no such command, or its argument is missing or one too many.
pub(crate) fn parse(text: &str) -> Result<(Action, &str), Diagnostic> {
    let text = text.trim();
    let (name, argument) = text.split_once(' ').unwrap_or((text, ""));
    let command = COMMANDS.iter().find(|command| command.name == name).ok_or_else(|| {
        let error = Diagnostic::new(format!("unknown command `{name}`"));
        match nearest(name, COMMANDS.iter().map(|command| command.name)) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error.with_help("? lists all"),
        }
    })?;
    let argument = argument.trim();
    if argument.is_empty() != command.argument.is_empty() {
        return Err(Diagnostic::new(format!("write `{} {}`", command.name, command.argument).trim_end()));
    }
    Ok((command.action, argument))
}
