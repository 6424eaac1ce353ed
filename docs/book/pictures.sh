#!/usr/bin/env bash
# Takes the pictures of pages in the book, in a headless browser: those of the first chapter show its sweep, the others are
# left by the tests that open pages. Needs npm.
set -euo pipefail
cd "$(dirname "$0")/../.."
images=$PWD/docs/book/src/img
pages=$PWD/tests/pages
pictures=$(mktemp -d)
trap 'rm -r "$pictures"' EXIT
tests/pages/install.sh
RPU_PICTURES=$pictures cargo test --workspace --test cli pages::
for picture in run-timeline:timeline ring-light:ring; do
    cp "$pictures/${picture%:*}.png" "$images/${picture#*:}.png"
done

cargo build --workspace
rpu=$PWD/target/debug/rpu
awk '/^```toml,file=first.toml$/ { inside = 1; next } /^```$/ { inside = 0 } inside' docs/book/src/first-chart.md >"$pictures/first.toml"
cd "$pictures"
"$rpu" sweep first.toml --out first --progress none
node "$pages/browser.mjs" picture "file://$pictures/first/report.html" "$images/sweep.png"
