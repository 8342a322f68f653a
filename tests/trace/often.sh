#!/usr/bin/env bash
# Questions about places that very many operations touched (often.c).
set -u
. "$ROOT/tests/trace/lib.sh"
build_program often
timeout 100 "$TEST_DIR/often" || echo "FAIL often: exit code $?"
