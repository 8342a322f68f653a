#!/usr/bin/env bash
# Every overload of every built-in that clang's header declares for OpenCL C 1.2 and 3.0 is in
# libclc or in src/opencl/library: a program that calls all of them has no undefined function.
# timeout: 200
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build examples/opencl/example.c example
# the cache has our library as bitcode then
timeout 100 "$WARPGRIND" --device=cpu --tool=none -q "$TEST_DIR/example" \
  examples/opencl/overrun_fixed.cl > /dev/null 2>&1
library=$(ls "$TEST_DIR"/cache/opencl/*/library.bc)
clang=$(ls /usr/bin/clang-1[7-9] /usr/bin/clang-2* 2> /dev/null | tail -n 1)
libclc=$(ls /usr/lib/clc/nvptx64--nvidiacl.bc /usr/share/clc/nvptx64--nvidiacl.bc 2> /dev/null |
  head -n 1)
header=$("$clang" -print-resource-dir)/include/opencl-c.h
extensions=$(sed -n '/"-cl-ext=/,/[^\\]$/p' src/opencl/compiler.c | tr -d '" \\\n')
flags=(--target=nvptx64--nvcl -Xclang -target-cpu -Xclang sm_70 -Xclang "$extensions" -w -O2
  -D__opencl_c_atomic_order_acq_rel=1 -D__opencl_c_atomic_order_seq_cst=1
  -D__opencl_c_atomic_scope_device=1)
# what the devices do not have, and what clang's header declares for them all the same
absent='_depth_t|_msaa_|sub_group|pipe|queue_t|clk_event_t|work_group_(all|any|broadcast|reduce|scan)'
for std in CL1.2 CL3.0; do
  "$clang" "${flags[@]}" -cl-std=$std -x cl -E "$header" > "$TEST_DIR/header.cl" || exit 1
  python3 tests/opencl/overloads.py "$TEST_DIR/header.cl" | grep -vE "$absent" \
    > "$TEST_DIR/calls.cl" || exit 1
  calls=$(wc -l < "$TEST_DIR/calls.cl")
  "$clang" "${flags[@]}" -cl-std=$std -x cl -Xclang -finclude-default-header -Xclang \
    -disable-llvm-passes -emit-llvm -c -o "$TEST_DIR/calls.bc" "$TEST_DIR/calls.cl" || exit 1
  "$clang" "${flags[@]}" -x ir -Xclang -disable-llvm-passes -Xclang -mlink-builtin-bitcode -Xclang \
    "$library" -Xclang -mlink-builtin-bitcode -Xclang "$libclc" -emit-llvm -S \
    -o "$TEST_DIR/linked.ll" "$TEST_DIR/calls.bc" || exit 1
  sed -n 's/^declare .*@\(_Z[0-9A-Za-z_]*\)(.*/\1/p' "$TEST_DIR/linked.ll" | c++filt \
    > "$TEST_DIR/missing_$std"
  echo "$std: $calls overloads, missing: $(wc -l < "$TEST_DIR/missing_$std")"
  sed 's/(.*//' "$TEST_DIR/missing_$std" | sort | uniq -c
  check "many_$std" test "$calls" -ge 11000
  check "all_$std" test ! -s "$TEST_DIR/missing_$std"
done
