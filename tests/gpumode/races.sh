#!/usr/bin/env bash
# timeout: 600
# Races of recordings in GPU mode: what orders launches, copies and nodes of graphs, and what is
# said to be meant.
set -u
. tests/gpumode/lib.sh
shared_runtime
export TEST_ONLY="branches branches_ok dependent* freed* graph* said* streams*"
. tests/trace/races.sh
