#!/usr/bin/env bash
# A recording that stops while threads take records (stopped.c).
set -u
. "$ROOT/tests/trace/lib.sh"
build_program stopped
check stopped "$TEST_DIR/stopped"
