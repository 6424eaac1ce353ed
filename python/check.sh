#!/usr/bin/env bash
# Builds the Python package and tests it, with its notebooks, in a virtual environment; or says why it cannot.
# With BLESS=1, the outputs of the notebooks are written.
set -euo pipefail
cd "$(dirname "$0")"

skip() {
    echo "NOT TESTED: the Python package: $*" >&2
    exit 0
}

command -v python3 > /dev/null || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "the pinned packages need Python 3.11 or later"
venv=../target/python
if ! cmp -s requirements.txt "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv" || skip "python3 has no venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt || skip "pip cannot install from PyPI"
    cp requirements.txt "$venv/requirements.txt"
fi
# The development profile: its dependencies are the same as those of the tests, as far as their features are.
VIRTUAL_ENV=$(cd "$venv" && pwd) "$venv/bin/maturin" develop --quiet --locked
"$venv/bin/python" -m unittest discover --quiet --start-directory tests
"$venv/bin/python" tests/notebooks.py
