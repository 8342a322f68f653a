#!/bin/bash
# `make format` has nothing to change in C sources, for the version of clang-format that Debian 12
# has; others lay out some lines in other ways.
# quick: yes
set -u
clang-format --version 2> /dev/null | grep -q 'version 14\.' ||
  { echo "skip format: clang-format 14 is not installed"; exit 0; }
if find src -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror > "$TEST_DIR/said" 2>&1
then echo "ok format"
else
  grep -m 10 'error:' "$TEST_DIR/said"
  echo "FAIL format: make format changes these"
fi
