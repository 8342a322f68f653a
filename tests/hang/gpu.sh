#!/usr/bin/env bash
# The programs of this folder on the real GPU.
export TEST_DEVICE=gpu TEST_JOBS=6
bash "$(dirname "$0")/hang.sh"
