#!/usr/bin/env bash
# Run files whose tables lie (damaged.c); bytes that have changed are for tests/fuzz/trace_file.c.
set -u
. "$ROOT/tests/trace/lib.sh"
build_program damaged
"$TEST_DIR/damaged" || echo "FAIL damaged: exit code $?"
