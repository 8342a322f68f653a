#!/usr/bin/env bash
# profile on a real GPU: the counts of the virtual device, and the same advice.
set -u
cd "$ROOT" || exit 1
TEST_DEVICE=gpu bash tests/profile/exact.sh
TEST_DEVICE=gpu bash tests/profile/planted.sh
