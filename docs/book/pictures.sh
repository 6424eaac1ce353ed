#!/usr/bin/env bash
# Takes the pictures of pages in the book: the tests that open the pages in a headless browser leave them. Needs npm.
set -euo pipefail
cd "$(dirname "$0")/../.."
pictures=$(mktemp -d)
trap 'rm -r "$pictures"' EXIT
tests/pages/install.sh
RPU_PICTURES=$pictures cargo test --workspace --test cli pages::
for picture in sweep-hover:sweep sweep-served:served run-timeline:timeline ring-light:ring; do
    cp "$pictures/${picture%:*}.png" "docs/book/src/img/${picture#*:}.png"
done
