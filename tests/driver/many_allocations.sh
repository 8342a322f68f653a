#!/bin/bash
# Allocating and freeing costs the same however many allocations there are: 200,000 of each kind in
# seconds, where a cost that grows with their number took minutes.
set -u
. tests/lib/check.sh
$CC -std=gnu11 -g -O1 -Wall -Isrc -Itests -pthread -o "$TEST_DIR/many" \
  tests/driver/allocations/many.c -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined -ldl \
  -lm || exit 1
many() {                                # NAME TOOL KIND ORDER
  check "$1" timeout "${LIMIT:-60}" "$WARPGRIND" --device=cpu --tool="$2" -q \
    --log-file="$TEST_DIR/log" "$TEST_DIR/many" "$3" \
    "${COUNT:-$([ "${TEST_SIZE:-}" = long ] && echo 1000000 || echo 200000)}" "$4" 2> \
    "$TEST_DIR/err"
}
many device_fifo none device fifo
many device_random none device random
many device_lifo none device lifo
many pinned none host fifo
many registered none registered fifo
many managed none managed random
many stream_order none async fifo
many pool none pool random
COUNT=100000 many checked memcheck device random
COUNT=100000 many initialised initcheck device random
COUNT=100000 many checked_pool memcheck pool fifo
