#!/usr/bin/env bash
# Installs a headless browser for tests/cli/pages.rs from npm, or says why it cannot.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v npm > /dev/null; then
    echo "there is no npm: pages are not tested in a browser"
elif ! npm install --silent --no-audit --no-fund --no-package-lock; then
    echo "npm failed: pages are not tested in a browser"
fi
