#!/usr/bin/env bash
# Host stacks begin where the program called the CUDA runtime, whatever the runtime is made of; so
# buffers have their names there too.
set -u
. tests/gpumode/lib.sh
. tests/lib/check.sh
D=tests/gpumode/runtime_frames
{ $CC -O2 -c -o "$TEST_DIR/runtime.o" $D/runtime.c && $CC -g -O1 -o "$TEST_DIR/program" \
  $D/program.c "$TEST_DIR/runtime.o" -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined
  } ||
  { echo "FAIL build"; exit 1; }
"$WARPGRIND" --device=gpu --leak-check=full -o "$TEST_DIR/run.wg" -- "$TEST_DIR/program" > \
  "$TEST_DIR/out" 2> "$TEST_DIR/err"
line=$(sed -n '/\/\/ here/=' $D/program.c)
check runs grep -q '^done' "$TEST_DIR/out"
check stack grep -q "at make ($D/program.c:$line)" "$TEST_DIR/err"
check no_runtime bash -c "! grep -q 'libcudart_static\|cudaMalloc (in' '$TEST_DIR/err'"
check name grep -q 'the end of heights, an allocation of 4000 bytes' "$TEST_DIR/err"
