#!/usr/bin/env bash
# --opencl-calls: host memory that changes, or is gone, while a write may still read it. What the
# program does after it has learned that the write is complete is not reported.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/host_memory.c host_memory
run() {
  timeout 60 "$WARPGRIND" --device=cpu --tool=none -q --opencl-calls="$TEST_DIR/$1" \
    "$TEST_DIR/host_memory" "$1" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
found() {
  run "$1" &&
    has "$TEST_DIR/$1" ", 1048576 bytes, of clEnqueueWriteBuffer, called at host_memory+" &&
    has "$TEST_DIR/$1" "$2 before the command was complete" &&
    has "$TEST_DIR/$1" "a write of it was complete: 1 times"
}
silent() { run "$1" && ! grep '^host memory' "$TEST_DIR/$1"; }
run finish
grep -q clCreateContext "$TEST_DIR/finish" ||
  { echo "skip host_memory: this loader has no layers"; exit 0; }
check changed found early "was changed"
check unmapped found unmapped "was unmapped"
for what in finish wait blocking callback part; do check "$what" silent $what; done
# an event of ours is not one that the program has left
check no_leak has "$TEST_DIR/finish" "objects that were not released: 0"
