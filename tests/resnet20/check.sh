#!/usr/bin/env bash
# ResNet-20 on encrypted images has the classes and the logits of the network in the clear: the example `resnet20` of the crate test-client,
# with weights and images that he/test-client/data/resnet20.py fetches from PyPI; or says why it cannot. With --required that is an error.
# Further arguments are those of the example: the number of images, and the ring degree. The default
# degree is 65536, at which the example says on the standard error what an image takes: many minutes and gigabytes.
set -euo pipefail
cd "$(dirname "$0")/../.."

what="ResNet-20 on data"
required=${1:-}
. tests/environment.sh
[[ $# == 0 ]] || shift
environment resnet20/venv tests/resnet20/requirements.txt NumPy
venv=target/resnet20/venv
if [[ ! -e target/resnet20/images.txt ]]; then
    "$venv/bin/python" -W error he/test-client/data/resnet20.py || skip "the packages with weights and images cannot be fetched"
fi
cargo run --release --quiet -p rpu-test-client --example resnet20 -- "$@"
