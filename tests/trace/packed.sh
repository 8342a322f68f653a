#!/usr/bin/env bash
# quick: yes
# Records wait in memory packed.
set -u
. "$ROOT/tests/trace/lib.sh"
build_program packed
"$TEST_DIR/packed" || echo "FAIL packed: exit code $?"
