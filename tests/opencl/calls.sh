#!/usr/bin/env bash
# --opencl-calls: every call, each error with its meaning, and the objects that were not released.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/wrong_calls.c wrong_calls
calls=$TEST_DIR/calls.txt
timeout 100 "$WARPGRIND" --device=cpu --tool=none -q --opencl-calls="$calls" \
  "$TEST_DIR/wrong_calls" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
check errors test $? = 0
cat "$TEST_DIR/out"
wrong=$(sed -n 's/ wrong calls$//p' "$TEST_DIR/out")
check sixty test "$wrong" -ge 60
if ! grep -q clCreateContext "$calls" 2> /dev/null; then
  echo "skip calls: this loader has no layers"
  exit 0
fi
check counted grep -q ", failed: $wrong\$" "$calls"
check explained test "$(grep -cE '\) = CL_[A-Z_]+: [a-z]' "$calls")" = "$wrong"
check no_number eval '! grep -qE "\) = -[0-9]" "$calls"'
check sentence grep -q \
  'clSetKernelArg(.*arg_index=3.*CL_INVALID_ARG_INDEX: the kernel has fewer arguments' "$calls"
sed -n '/^objects/,$p' "$calls" | sed -E 's/0x[0-9a-f]+/…/g; s/ in main//' > "$TEST_DIR/left"
cat > "$TEST_DIR/want" << 'END'
objects that were not released: 3
  cl_context … made by clCreateContext, called at wrong_calls+…; references left: 1
  cl_mem … made by clCreateBuffer, called at wrong_calls+…; references left: 1
  cl_kernel … made by clCreateKernel, called at wrong_calls+…; references left: 1
END
check leaks diff -u "$TEST_DIR/want" "$TEST_DIR/left"

# the functions that led to what was not released
cat > "$TEST_DIR/nested.c" << 'END'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
static __attribute__((noinline)) cl_context make(cl_device_id *d) {
  cl_context c = clCreateContext(0, 1, d, 0, 0, 0);
  __asm__ volatile("" ::: "memory");
  return c;
}
static __attribute__((noinline)) cl_context outer(cl_device_id *d) {
  cl_context c = make(d);
  __asm__ volatile("" ::: "memory");
  return c;
}
int main(void) {
  cl_platform_id p;
  cl_device_id d;
  clGetPlatformIDs(1, &p, 0);
  clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, 0);
  return outer(&d) == 0;
}
END
build "$TEST_DIR/nested.c" nested
timeout 60 "$WARPGRIND" --device=cpu --tool=none -q --opencl-calls="$calls" "$TEST_DIR/nested"
lines() {
  grep -E 'called at|^    by' "$calls" | grep -oE 'nested\+0x[0-9a-f]+' | cut -d+ -f2 |
    addr2line -f -e "$TEST_DIR/nested" | sed -n 'p;n' | grep -vx _start | tr '\n' ' '
}
check stack eval '[ "$(lines)" = "make outer main " ]'
