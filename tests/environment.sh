# For checks that need packages of PyPI. They set `what`, the thing that they test, and `required`, which is --required
# if a skip is an error, and source this file.

# skip REASON
skip() {
    echo "SKIPPED, NOT TESTED: $what: $*" >&2
    [[ $required != --required ]] || exit 1
    exit 0
}

# environment NAME REQUIREMENTS PACKAGE: a virtual environment, target/NAME, with some packages. The package is the one
# that needs the version of Python.
environment() {
    local venv
    venv=$(dirname "${BASH_SOURCE[0]}")/../target/$1
    command -v python3 > /dev/null || skip "there is no python3"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "$3 needs Python 3.11 or later"
    if ! cmp -s "$2" "$venv/requirements.txt"; then
        rm -rf "$venv"
        python3 -m venv "$venv" || skip "python3 has no venv"
        # Python compiles what is imported, a small part.
        "$venv/bin/pip" install --quiet --no-compile --disable-pip-version-check -r "$2" || skip "pip cannot install from PyPI"
        cp "$2" "$venv/requirements.txt"
    fi
}
