#!/usr/bin/env bash
# Races of runs that were recorded on a GPU, eight at a time: most of the time goes into compiling.
TEST_DEVICE=gpu TEST_JOBS=${TEST_JOBS:-8} exec "$ROOT/tests/trace/races.sh"
