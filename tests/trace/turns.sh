#!/usr/bin/env bash
# Launches that run at the same time share rings (turns.c).
set -u
. "$ROOT/tests/trace/lib.sh"
build_program turns
check turns "$TEST_DIR/turns"
