#!/usr/bin/env bash
# Our own libOpenCL.so.1: the platform shows where the installed loader does not know
# OCL_ICD_VENDORS, calls are listed where it knows no layers, and --opencl=system leads to it.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
ours=$BUILD/lib/opencl/libOpenCL.so.1
build examples/opencl/example.c example
$CC -g -o "$TEST_DIR/opens" tests/opencl/loader/opens.c -ldl || exit 1
mkdir -p "$TEST_DIR/deaf"
$CC -shared -fPIC -Wl,-soname,libOpenCL.so.1 -o "$TEST_DIR/deaf/libOpenCL.so.1" \
  tests/opencl/loader/deaf_loader.c || exit 1
ln -sf libOpenCL.so.1 "$TEST_DIR/deaf/libOpenCL.so"
export LD_LIBRARY_PATH=$TEST_DIR/deaf
run() {
  timeout 60 "$WARPGRIND" --device=cpu --color=never "$@" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}

check stand_in eval '"$TEST_DIR/opens" libOpenCL.so.1 | grep -q "0, 7 platforms"'
run "$TEST_DIR/example" examples/opencl/overrun.cl
check linked test $? = 99
check found has "$TEST_DIR/err" "overrun.cl:5 in example"
check host_stack has "$TEST_DIR/err" "at main (examples/opencl/example.c:"
for name in libOpenCL.so.1 libOpenCL.so; do
  run --tool=none "$TEST_DIR/opens" $name
  check "opened_$name" has "$TEST_DIR/out" "$name: 0, 1 platforms"
  run --tool=none --opencl=system "$TEST_DIR/opens" $name
  check "system_$name" has "$TEST_DIR/out" "$name: 0, 7 platforms"
  run --tool=none --opencl=system --opencl-calls="$TEST_DIR/calls.txt" "$TEST_DIR/opens" $name
  check "forwarded_$name" has "$TEST_DIR/out" "$name: 0, 7 platforms"
  check "calls_$name" has "$TEST_DIR/calls.txt" "clGetPlatformIDs(num_entries=0, platforms=NULL"
  check "lacking_$name" has "$TEST_DIR/calls.txt" "CL_PLATFORM_NOT_FOUND_KHR: no OpenCL platform"
done
run --tool=none --opencl-calls="$TEST_DIR/calls.txt" "$TEST_DIR/example" \
  examples/opencl/overrun_fixed.cl
check calls has "$TEST_DIR/calls.txt" "clEnqueueNDRangeKernel("
check callers eval '! grep -q "called at libOpenCL" "$TEST_DIR/calls.txt"'
# every name that a program may be linked with, and its version
names() { readelf --dyn-syms -W "$1" | awk '$7 != "UND" && $8 ~ /^cl[A-Z]/ { print $8 }' | sort; }
check names test "$(names "$ours" | wc -l)" -ge 133
unset LD_LIBRARY_PATH
system=$(LC_ALL=C ldd "$TEST_DIR/example" | awk '/libOpenCL/ { print $3 }')
check versions eval '[ -z "$(comm -23 <(names "$system") <(names "$ours"))" ]'
