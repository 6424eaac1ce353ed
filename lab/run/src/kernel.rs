//! Plans and numbers as command lines and sweeps name them.

use codegen::search::Effort;
use codegen::{Merit, PlanChoice, Recipe};
use diagnostic::input::{self, Content};
use diagnostic::{Code, Diagnostic, Diagnostics, nearest};
use std::path::Path;

/// The named plans, with a description of each.
pub const PLANS: [(&str, &str); 5] = [
    ("best", "the fastest known for the machine"),
    (
        "kl",
        "the classical constant-geometry algorithms, as in the paper: Korn-Lambiotte forward, Pease inverse",
    ),
    ("pease", "the same as kl: used in the other direction, each algorithm would need two digit reversals"),
    ("paper", "kl with the settings of the reproduction, for the machine rpu-128x128-paper"),
    ("unoptimised", "kl in textbook order, not scheduled for the machine"),
];

/// Reads a plan's name, or a recipe from a TOML file.
///
/// # Errors
/// Returns an error if the name is not in [`PLANS`] and is not the path of a file; else all errors of the
/// file.
pub fn plan(name: &str, path: &Path) -> Result<PlanChoice, Diagnostics> {
    match name {
        "best" => return Ok(PlanChoice::Best),
        "kl" | "pease" => return Ok(PlanChoice::Classical),
        "paper" => return Ok(PlanChoice::Paper),
        "unoptimised" => return Ok(PlanChoice::Unoptimised),
        _ => {}
    }
    let file = diagnostic::path(path);
    let text = input::read_text(path, Content::Document).map_err(|cause| {
        // Without such a file, a name without an ending is an unknown plan.
        let is_name = cause.kind() == std::io::ErrorKind::NotFound && Path::new(name).extension().is_none();
        let names: Vec<String> = PLANS.iter().map(|(name, _)| format!("`{name}`")).collect();
        let help = match nearest(name, PLANS.iter().map(|(name, _)| *name)) {
            Some(near) if is_name => format!("did you mean `{near}`?"),
            _ => format!("the plans are {}, or the path of a plan's TOML file", names.join(", ")),
        };
        let message =
            if is_name { format!("unknown plan `{name}`") } else { format!("cannot read `{name}`: {cause}") };
        Diagnostic::new(message).with_code(Code::Unreadable.name()).with_help(help)
    })?;
    Ok(PlanChoice::Recipe(Box::new(Recipe::parse(&file, &text)?)))
}

/// A plan whose search has this effort, or none, and this merit; named plans have neither.
pub fn minimising(plan: PlanChoice, merit: Merit, effort: Option<Effort>) -> PlanChoice {
    match (plan, merit, effort) {
        (PlanChoice::Best, Merit::Energy | Merit::EnergyDelay, effort) => PlanChoice::Least(merit, effort),
        (PlanChoice::Best, Merit::Cycles, None) => PlanChoice::Known,
        (PlanChoice::Best, Merit::Cycles, Some(effort)) if effort != Effort::QUICK => {
            PlanChoice::Tuned(effort)
        }
        (plan, ..) => plan,
    }
}

/// Parses a decimal number, or a hexadecimal one after `0x`; digits may be separated by `_`.
pub fn parse_u128(text: &str) -> Option<u128> {
    diagnostic::number_with_separators(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_have_names_or_files() {
        for (name, _) in PLANS {
            assert!(plan(name, Path::new("absent.toml")).is_ok());
        }
        let error = plan("fastest", Path::new("absent.toml")).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("D007: unknown plan `fastest`"), "{error}");
        let error = plan("fastest.toml", Path::new("absent.toml")).unwrap_err().to_string();
        assert!(error.starts_with("D007: cannot read `fastest.toml`: "), "{error}");
        assert!(error.contains("`kl`"), "{error}");
        let help =
            |name: &str| plan(name, Path::new("absent")).unwrap_err().iter().next().unwrap().help.clone();
        assert_eq!(help("paser").as_deref(), Some("did you mean `paper`?"));
        assert!(help("best.o").unwrap().starts_with("the plans are"));
    }

    #[test]
    fn only_searches_of_the_best_plan_minimise() {
        let of = |plan, merit, effort| minimising(plan, merit, effort);
        assert_eq!(of(PlanChoice::Best, Merit::Cycles, None), PlanChoice::Known);
        assert_eq!(of(PlanChoice::Best, Merit::Cycles, Some(Effort::QUICK)), PlanChoice::Best);
        assert_eq!(of(PlanChoice::Best, Merit::Cycles, Some(Effort::FULL)), PlanChoice::Tuned(Effort::FULL));
        let least = PlanChoice::Least(Merit::Energy, Some(Effort::QUICK));
        assert_eq!(of(PlanChoice::Best, Merit::Energy, Some(Effort::QUICK)), least);
        assert_eq!(of(PlanChoice::Paper, Merit::Energy, None), PlanChoice::Paper);
    }
}
