#!/usr/bin/env bash
# The programs of this folder on the real GPU: they print what they print on the virtual device, and
# without Warpgrind the calls give their defaults.
export TEST_DEVICE=gpu
bash "$(dirname "$0")/programs.sh"
