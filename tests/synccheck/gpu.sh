#!/usr/bin/env bash
# The programs of this folder on the real GPU.
export TEST_DEVICE=gpu TEST_JOBS=12 SYNCCHECK_SECONDS=12
bash "$(dirname "$0")/synccheck.sh"
