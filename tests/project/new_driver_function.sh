#!/usr/bin/env bash
# timeout: 300
# docs/new-driver-function.md, followed: the function is exported and does what the page's test
# expects.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/lesson.sh
# The row stays where it was: what is made from other rows is the same.
follow_lesson docs/new-driver-function.md driver/api.o driver/device.o || { echo "FAIL build"
  exit 1; }
d=$TEST_DIR lib=$tree/$tree_build/lib
$CC -std=gnu11 -g -O1 -Wall -I"$tree/src" -Itests/driver -pthread -o "$d/program" \
  "$tree/tests/driver/exec_affinity.c" -L"$lib" -l:libcuda.so.1 \
  -Wl,--allow-shlib-undefined || { echo "FAIL link"; exit 1; }
check runs     [ "$(code "$tree/$tree_build/warpgrind" --device=cpu --tool=none -q "$d/program")" \
  = 0 ]
check passes   has "$d/out" 'all checks passed'
check not_yet  grep -q 'cuDeviceGetExecAffinitySupport.*NOT_SUPPORTED' \
  <("$WARPGRIND" --device=cpu --tool=none "$d/program" 2>&1)
