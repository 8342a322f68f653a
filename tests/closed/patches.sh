#!/usr/bin/env bash
# quick: yes
set -u
$CC -std=gnu11 -g -O1 -Wall -Wno-unused-function -Isrc -I"$BUILD/gen" -o "$TEST_DIR/patches" \
  tests/closed/patches.c || exit 1
"$TEST_DIR/patches"
