#!/usr/bin/env bash
# --opencl=system in front of a platform whose compiler returns PTX, as NVIDIA's does (a stand-in,
# tests/opencl/installed/standin.c): its kernels are checked, and nothing else changes.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
[ "$SAN" = 0 ] || { echo "skip installed: the stand-in is not made with sanitizers"; exit 0; }
make -s BUILD="$BUILD" "$BUILD/tests/libopencl-standin.so" > "$TEST_DIR/log" 2>&1 ||
  { echo "FAIL installed: the stand-in cannot be made"; cat "$TEST_DIR/log"; exit 1; }
mkdir -p "$TEST_DIR/vendors"
echo "$(realpath "$BUILD")/tests/libopencl-standin.so" > "$TEST_DIR/vendors/standin.icd"
export OCL_ICD_VENDORS=$TEST_DIR/vendors OPENCL_VENDOR_PATH=$TEST_DIR/vendors
build examples/opencl/example.c example
build tests/opencl/api.c api
build tests/opencl/installed/program.c program
run() {
  timeout 100 "$WARPGRIND" --opencl=system --device=cpu --color=never "$@" > "$TEST_DIR/out" \
    2> "$TEST_DIR/err"
}
run_code() { run "${@:2}"; [ $? = "$1" ]; }
platform() {
  printf 'import ctypes\ncl = ctypes.CDLL("libOpenCL.so.1")\nn = ctypes.c_uint()\n%s' \
    'print(cl.clGetPlatformIDs(0, None, ctypes.byref(n)), n.value)' > "$TEST_DIR/platforms.py"
  run --tool=none python3 "$TEST_DIR/platforms.py"
  grep -q '^0 [1-9]' "$TEST_DIR/out"
}
platform || { echo "skip installed: the installed loader does not find the stand-in"; exit 0; }

# kind of each error; the platform's compiler has left no lines
kinds() { sed -nE 's/^==[0-9]+== Error: .*\(([a-z-]+)\).*/\1/p' "$TEST_DIR/err" | sort -u; }
for kernel in overrun local_overrun race barrier nan read_only; do
  tool=$(sed -n 's|^// tools: ||p' "examples/opencl/$kernel.cl")
  sed -nE 's/^==[^ ]*== Error: .*\(([a-z-]+)\).*/\1/p' "tests/opencl/$kernel.expected" | sort -u \
    > "$TEST_DIR/want"
  run --tool="$tool" "$TEST_DIR/example" "examples/opencl/$kernel.cl"
  check "found_$kernel" diff "$TEST_DIR/want" <(kinds)
  check "covered_$kernel" has "$TEST_DIR/err" "1 launches (100%) of 1 kernels"
  run --tool="$tool" -q "$TEST_DIR/example" "examples/opencl/${kernel}_fixed.cl"
  check "silent_$kernel" eval '[ ! -s "$TEST_DIR/err" ]'
done
run "$TEST_DIR/example" examples/opencl/overrun.cl
check words has "$TEST_DIR/err" "by work-item"
check allocated has "$TEST_DIR/err" "at main (examples/opencl/example.c:"
check code_99 run_code 99 "$TEST_DIR/example" examples/opencl/overrun.cl
run --tool=none "$TEST_DIR/api" tests/opencl/api.cl
cp "$TEST_DIR/out" "$TEST_DIR/plain"
run --tool=memcheck,racecheck,synccheck "$TEST_DIR/api" tests/opencl/api.cl
check same_results diff "$TEST_DIR/plain" "$TEST_DIR/out"
# threads, queues, events, all kinds of arguments; the stand-in's images are memory that nobody told
# us of
program=("$TEST_DIR/program" tests/opencl/installed/program.cl buffers)
run --tool=none "${program[@]}"
cp "$TEST_DIR/out" "$TEST_DIR/plain"
check program_runs grep -q "^counts: 301" "$TEST_DIR/plain"
run --tool=memcheck,racecheck,synccheck,fpcheck -q "${program[@]}"
check program_unchanged diff "$TEST_DIR/plain" "$TEST_DIR/out"
check program_silent eval '[ ! -s "$TEST_DIR/err" ]'
# a host that opens the library at run time
run python3 tests/opencl/installed/host.py examples/opencl/overrun.cl
check opened_at_run_time has "$TEST_DIR/err" "Read outside of an allocation (oob-read)"
check python_stack has "$TEST_DIR/err" "tests/opencl/installed/host.py:"
run --tool=initcheck "$TEST_DIR/example" examples/opencl/overrun_fixed.cl
check named has "$TEST_DIR/err" "initcheck cannot follow them"
