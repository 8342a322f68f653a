#!/usr/bin/env bash
# Four threads ask for the first kernel of a program at once: it is loaded once.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/first_kernel.c first_kernel
timeout 60 "$WARPGRIND" --device=cpu --color=never --tool=memcheck,racecheck \
  "$TEST_DIR/first_kernel" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
check exit_code test $? = 0
check right has "$TEST_DIR/out" "4 threads are right"
check once has "$TEST_DIR/err" "kernel launches: 4, different kernels: 1"
