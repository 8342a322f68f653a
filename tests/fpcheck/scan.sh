#!/usr/bin/env bash
# quick: yes
# The kernel with which fpcheck looks at what closed kernels write, on the virtual device.
set -u
cd "$ROOT" || exit 1
$CC -std=gnu11 -g -O1 -Wall -Isrc -o "$TEST_DIR/scan" tests/fpcheck/scan.c -L"$BUILD/lib" -lcuda \
  -lm || { echo "FAIL compile"; exit 1; }
"$WARPGRIND" --device=cpu --tool=none -q "$TEST_DIR/scan" "$BUILD/gen/scan_kernel.ptx"
