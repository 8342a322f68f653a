#!/usr/bin/env bash
# Races of runs that were recorded on a GPU, four at a time: compiling takes gigabytes.
TEST_DEVICE=gpu TEST_JOBS=4 exec "$ROOT/tests/trace/races.sh"
