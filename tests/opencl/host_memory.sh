#!/usr/bin/env bash
# --opencl-calls: host memory that changes, or is gone, while a write may still read it. What the
# program does after it has learned that the write is complete is not reported, nor what other
# commands do.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/host_memory.c host_memory
run() {
  timeout 60 "$WARPGRIND" --device=cpu --tool=none -q --opencl-calls="$TEST_DIR/$1-$2" \
    "$TEST_DIR/host_memory" "$1" "$2" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
found() {
  run "$1" "$2" &&
    has "$TEST_DIR/$1-$2" ", $4 bytes, of $5, called at host_memory+" &&
    has "$TEST_DIR/$1-$2" "$3 before the command was complete" &&
    has "$TEST_DIR/$1-$2" "a write of it was complete: 1 times"
}
silent() { run "$1" "$2" && ! grep '^host memory' "$TEST_DIR/$1-$2"; }
run buffer finish
grep -q clCreateContext "$TEST_DIR/buffer-finish" ||
  { echo "skip host_memory: this loader has no layers"; exit 0; }
check buffer/changed found buffer early "was changed" 1048576 clEnqueueWriteBuffer
check rectangle/changed found rectangle early "was changed" 1048064 clEnqueueWriteBufferRect
check image/changed found image early "was changed" 1048064 clEnqueueWriteImage
check unmapped found buffer unmapped "was unmapped" 1048576 clEnqueueWriteBuffer
for form in buffer rectangle image; do
  for what in finish wait blocking beside in_place; do
    check $form/$what silent $form $what
  done
done
for what in callback staged shared; do check $what silent buffer $what; done
# an event of ours is not one that the program has left
check no_leak has "$TEST_DIR/buffer-finish" "objects that were not released: 0"
