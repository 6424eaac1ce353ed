#!/usr/bin/env bash
# ResNet-20 on encrypted images has the classes and the logits of the network in the clear: the example `resnet20` of the crate test-client,
# with weights and images that he/test-client/data/resnet20.py fetches from PyPI; or says why it cannot. With --required that is an error.
# Further arguments are those of the example: the number of images, and the ring degree. The default
# degree is 65536, at which the example says on the standard error what an image takes: many minutes and gigabytes.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() {
    echo "SKIPPED, NOT TESTED: ResNet-20 on data: $*" >&2
    [[ $required != --required ]] || exit 1
    exit 0
}

required=${1:-}
[[ $# == 0 ]] || shift
command -v python3 > /dev/null || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "NumPy needs Python 3.11 or later"
venv=target/resnet20/venv
if ! cmp -s tests/resnet20/requirements.txt "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv" || skip "python3 has no venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r tests/resnet20/requirements.txt || skip "pip cannot install from PyPI"
    cp tests/resnet20/requirements.txt "$venv/requirements.txt"
fi
if [[ ! -e target/resnet20/images.txt ]]; then
    "$venv/bin/python" -W error he/test-client/data/resnet20.py || skip "the packages with weights and images cannot be fetched"
fi
cargo run --release --quiet -p rpu-test-client --example resnet20 -- "$@"
