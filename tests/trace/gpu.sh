#!/usr/bin/env bash
# Races of runs that were recorded on a GPU, all programs at the same time.
TEST_DEVICE=gpu TEST_JOBS=12 exec "$ROOT/tests/trace/races.sh"
