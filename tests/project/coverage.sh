#!/bin/bash
# docs/coverage.md is what tools/gen-coverage makes of the tables and tests.
# timeout: 300
set -eu
command -v nvcc > /dev/null || { echo "skip coverage: nvcc is not installed"; exit 0; }
$CC -std=gnu11 -O1 -o "$TEST_DIR/semantics" tests/semantics/*.c -lm -ldl
python3 tools/gen-coverage "$TEST_DIR/semantics" > "$TEST_DIR/coverage.md"
if cmp -s "$TEST_DIR/coverage.md" docs/coverage.md; then echo "ok coverage"
else
  diff "$TEST_DIR/coverage.md" docs/coverage.md | head -n 10
  echo "FAIL coverage: docs/coverage.md is out of date; make it anew with tools/gen-coverage"
fi
