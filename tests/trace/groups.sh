#!/usr/bin/env bash
# quick: yes
# timeout: 600
# Records of several operations: the same answers as with a record for each (groups.c).
set -u
. "$ROOT/tests/trace/lib.sh"
build_program groups
for seed in 1 2 3; do check "seed-$seed" "$TEST_DIR/groups" $seed 15; done
check many "$TEST_DIR/groups" 4 60
