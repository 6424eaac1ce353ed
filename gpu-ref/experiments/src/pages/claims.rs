//! Verdicts on the papers' claims.

use super::{lines, table};
use serde::Deserialize;
use std::io::Result;

/// A line of `examples/ablation.rs`: a claim in one mode.
#[derive(Deserialize)]
struct Judged {
    paper: String,
    claim: String,
    claimed: String,
    mode: String,
    gain: f64,
    low: f64,
    high: f64,
    verdict: String,
}

impl Judged {
    fn cells(&self) -> [String; 2] {
        [format!("{:.2} ({:.2} to {:.2})", self.gain, self.low, self.high), self.verdict.clone()]
    }
}

const FILE: &str = "h200-ablation.csv";

/// Number of claims per verdict for each paper and mode.
pub(super) fn verdicts() -> Result<String> {
    let claims: Vec<Judged> = lines(FILE)?;
    let verdicts = ["reproduced", "weaker", "refuted"];
    let papers = ["Cheddar", "HE-Booster", "Shivdikar et al.", "Caramel"];
    let rows = papers.iter().flat_map(|&paper| ["warm", "cold"].map(|mode| (paper, mode)));
    let row = |(paper, mode): (&str, &str)| {
        let counts = verdicts.map(|verdict| {
            let wanted =
                |claim: &&Judged| [&claim.paper, &claim.mode, &claim.verdict] == [paper, mode, verdict];
            claims.iter().filter(wanted).count().to_string()
        });
        [vec![paper.to_owned(), mode.to_owned()], counts.to_vec()].concat()
    };
    Ok(table(&[&["paper", "mode"][..], &verdicts].concat(), rows.map(row)))
}

/// The claims with a number: the paper's gain, and the gains on this card.
pub(super) fn numbers() -> Result<String> {
    let claims: Vec<Judged> = lines(FILE)?;
    let warm = claims.iter().filter(|claim| claim.mode == "warm");
    let row = |warm: &Judged| {
        let claimed: f64 = warm.claimed.parse().ok()?;
        let cold = claims.iter().find(|cold| cold.claim == warm.claim && cold.mode == "cold");
        let head = [warm.paper.clone(), warm.claim.clone(), format!("{claimed:.2}")];
        Some([&head[..], &warm.cells(), &cold.map_or_else(Default::default, Judged::cells)].concat())
    };
    let header = ["paper", "claim", "claimed", "warm", "verdict", "cold", "verdict"];
    Ok(table(&header, warm.filter_map(row)))
}
