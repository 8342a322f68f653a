#!/usr/bin/env bash
# The kernels of this folder on the real GPU: the same findings there.
ALONE=1 TEST_DEVICE=gpu bash "$(dirname "$0")/compilers.sh"
