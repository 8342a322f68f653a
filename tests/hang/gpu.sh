#!/usr/bin/env bash
# The programs of this folder on the real GPU.
export HANG_DEVICE=gpu HANG_JOBS=6
bash "$(dirname "$0")/hang.sh"
