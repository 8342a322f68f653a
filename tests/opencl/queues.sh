#!/usr/bin/env bash
# Commands that nothing orders: kernels of two queues, or of one that is out of order, which write
# the same buffer. With an event, or on buffers of their own, they are silent.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/queues.c queues
run() {
  timeout 60 "$WARPGRIND" --device=cpu --color=never --tool=racecheck "$TEST_DIR/queues" "$@" \
    > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  got=$?
}
for how in two free; do
  run $how
  check "found_$how" eval '[ $got = 99 ] && has "$TEST_DIR/err" "(race-host): write of 4 bytes"'
  check "words_$how" has "$TEST_DIR/err" "nothing orders the two: no queue in which one waits"
  run $how ordered
  check "ordered_$how" eval '[ $got = 0 ] && has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors"'
done
run apart
check apart eval '[ $got = 0 ] && has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors"'
