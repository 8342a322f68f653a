#!/usr/bin/env bash
# Memory that a recording gets before records come (ahead.c).
set -u
. "$ROOT/tests/trace/lib.sh"
build_program ahead
timeout 100 "$TEST_DIR/ahead" || echo "FAIL ahead: exit code $?"
