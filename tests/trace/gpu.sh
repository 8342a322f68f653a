#!/usr/bin/env bash
# Races of runs that were recorded on a GPU, all programs at the same time.
TEST_DEVICE=gpu exec "$ROOT/tests/trace/races.sh"
