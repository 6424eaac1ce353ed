#!/usr/bin/env bash
# Installs a headless browser for tests/cli/pages.rs from npm, or says why it cannot.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v npm > /dev/null; then
    echo "there is no npm: pages are not tested in a browser"
elif ! npm install --silent --no-audit --no-fund --no-package-lock; then
    echo "npm failed: pages are not tested in a browser"
else
    # The package extracts the browser at its first start, and tests start several at once.
    node --input-type=module --eval 'await (await import("@sparticuz/chromium")).default.executablePath()'
fi
