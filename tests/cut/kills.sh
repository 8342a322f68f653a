#!/usr/bin/env bash
# timeout: 600
# kill -9 of the command, of the program and of both, at random moments: each file that is left can
# be read and is true. SEED and COUNT choose others: SEED=$RANDOM COUNT=100 tests/run
# tests/cut/kills
set -u
cd "$ROOT" || exit 1
$CC -std=gnu11 -g -O1 -Wall -Isrc -o "$TEST_DIR/ladder" tests/cut/ladder.c -L"$BUILD/lib" \
  -l:libcuda.so.1 -Wl,--allow-shlib-undefined || exit 1
if python3 tests/cut/kills.py "$WARPGRIND" "$TEST_DIR/ladder" "$TEST_DIR" "${SEED:-1}" \
  "${COUNT:-$([ "${TEST_SIZE:-}" = long ] && echo 100 || echo 8)}" > "$TEST_DIR/kills.txt" 2>&1
  then
  echo "ok kills"
else
  cat "$TEST_DIR/kills.txt"
  echo "FAIL kills: seed ${SEED:-1}"
fi
