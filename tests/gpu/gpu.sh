#!/usr/bin/env bash
# The programs of this folder on the real GPU: plain, and under Warpgrind on both devices; then with
# trouble around them.
export GPU_DEVICE=${GPU_DEVICE:-gpu}
bash "$(dirname "$0")/identity.sh" "$@"
[ $# != 0 ] || for script in trouble mps; do bash "$(dirname "$0")/$script.sh"; done
