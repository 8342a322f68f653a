#!/usr/bin/env bash
# timeout: 600
# Questions about recorded operations against the plain memory of made-up programs (questions.c):
# many small programs, and some whose chunks have many blocks.
set -u
. "$ROOT/tests/trace/lib.sh"
build_program questions
small=5 tiny=30 large=8000
[ "${TEST_SIZE:-}" != long ] || small=60 tiny=300 large=20000
check small  "$TEST_DIR/questions" 1 $small
check tiny   "$TEST_DIR/questions" 1000 $tiny 5 15
check large  "$TEST_DIR/questions" 2000 1 3 $large
