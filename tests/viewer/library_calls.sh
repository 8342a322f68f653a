#!/usr/bin/env bash
# Calls of CUDA's libraries are steps of a recording: operands that they read and write. A value
# that a kernel reads leads back to the call, in SQL and in the viewer.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/viewer/lib.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
tests/lib/nvcc -w -g -std=c++17 -lineinfo -arch=compute_75 -o "$TEST_DIR/recorded" \
  tests/libraries/recorded.cu -lcublas || exit 1
run=$TEST_DIR/recorded.wg
check prints [ "$("$WARPGRIND" --device=cpu --tool=none --record -q -o "$run" \
  "$TEST_DIR/recorded")" = "9067 8818" ]
sql() { "$WARPGRIND" sql "$run" "$1" | tail -n +2; }
check steps [ "$(sql "select group_concat(coalesce(call, kind), '; ') from step")" = \
  "launch; library cublasSgemm reads A; library cublasSgemm reads B; library cublasSgemm writes C; \
launch; library cublasSscal reads x; library cublasSscal writes x; cuMemcpyDtoH_v2" ]
check stack [ "$(sql "select count(*) from step where call like 'library %' and stack")" = 5 ]
check writer [ "$(sql "select group_concat(distinct s.call) from access a, writer(a.record, a.lane)
  w join step s on s.id = w.step where a.launch = 2 and a.kind = 'load' and a.thread = 3")" = \
  "library cublasSgemm writes C" ]
check reader [ "$(sql "select group_concat(distinct s.call) from access a, reader(a.record, a.lane)
  r join step s on s.id = r.step where a.launch = 1 and a.kind = 'store' and a.thread = 5")" = \
  "library cublasSgemm reads A,library cublasSgemm reads B" ]
step=$(sql "select id from step where call = 'library cublasSgemm writes C'")
check contents [ "$(sql "select distinct known from contents((select id from allocation where
  pointer = 'c'), $step, 0, 128)")" = 1 ]
command -v node > /dev/null && command -v chromium > /dev/null || { echo "skip page: no chromium"
  exit 0; }
serve "$run" || exit 1
node tests/viewer/library_calls.mjs "$URL" "$TEST_DIR/library_calls.png"
end_server
