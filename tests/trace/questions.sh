#!/usr/bin/env bash
# timeout: 600
# Questions about recorded operations against the plain memory of made-up programs (questions.c):
# many small programs, and some whose chunks have many blocks.
set -u
. "$ROOT/tests/trace/lib.sh"
build_program questions
check small  "$TEST_DIR/questions" 1 12
check tiny   "$TEST_DIR/questions" 1000 60 5 15
check large  "$TEST_DIR/questions" 2000 1 3 20000
