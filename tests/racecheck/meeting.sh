#!/usr/bin/env bash
# quick: yes
# Two copies that are entered at the same time (src/tools/racecheck/probe_copy.h).
set -u
cd "$ROOT" || exit 1
$CC -std=gnu11 -g -O1 -Wall -Isrc -o "$TEST_DIR/meeting" tests/racecheck/meeting.c ||
  { echo "FAIL compile"; exit 1; }
"$TEST_DIR/meeting"
