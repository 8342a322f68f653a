#!/usr/bin/env bash
# quick: yes
# What the parts of a chunk are made of is read as it was written.
set -u
. "$ROOT/tests/trace/lib.sh"
build_program columns
"$TEST_DIR/columns" || echo "FAIL columns: exit code $?"
