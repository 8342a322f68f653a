#!/usr/bin/env bash
# --opencl=system in front of NVIDIA's own OpenCL: the mistakes of examples/opencl are found in the
# code that NVIDIA's compiler makes, their correct twins are silent, results stay the same.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
ldconfig -p | grep -q libnvidia-opencl.so.1 || { echo "skip nvidia: no OpenCL of NVIDIA"; exit 77; }
mkdir -p "$TEST_DIR/vendors"
echo libnvidia-opencl.so.1 > "$TEST_DIR/vendors/nvidia.icd"
export OCL_ICD_VENDORS=$TEST_DIR/vendors OPENCL_VENDOR_PATH=$TEST_DIR/vendors
for program in tests/opencl/installed/program.c examples/opencl/example.c; do
  ${CC:-gcc} -std=gnu11 -g -O1 -pthread -o "$TEST_DIR/$(basename "$program" .c)" "$program" \
    -lOpenCL -lm || { echo "FAIL $program: does not compile"; exit 1; }
done
run() {
  timeout 60 "$WARPGRIND" --opencl=system --device=gpu --color=never "$@" > "$TEST_DIR/out" \
    2> "$TEST_DIR/err"
}
says() { grep -qE "$1" "$TEST_DIR/err" || { cat "$TEST_DIR/err"; false; }; }
kinds() { sed -nE 's/^==[0-9]+== Error: .*\(([a-z-]+)\).*/\1/p' "$TEST_DIR/err" | sort -u; }
for kernel in overrun race barrier nan read_only; do
  tool=$(sed -n 's|^// tools: ||p' "examples/opencl/$kernel.cl")
  sed -nE 's/^==[^ ]*== Error: .*\(([a-z-]+)\).*/\1/p' "tests/opencl/$kernel.expected" | sort -u \
    > "$TEST_DIR/want"
  run --tool="$tool" "$TEST_DIR/example" "examples/opencl/$kernel.cl"
  check "found_$kernel" eval 'diff "$TEST_DIR/want" <(kinds) || { cat "$TEST_DIR/err"; false; }'
  run --tool="$tool" -q "$TEST_DIR/example" "examples/opencl/${kernel}_fixed.cl"
  check "silent_$kernel" eval '[ ! -s "$TEST_DIR/err" ] || { cat "$TEST_DIR/err"; false; }'
done
run --tool=none "$TEST_DIR/program" tests/opencl/installed/program.cl
cp "$TEST_DIR/out" "$TEST_DIR/plain"
check runs grep -q "^counts: 301" "$TEST_DIR/plain"
for tool in memcheck memcheck,racecheck,synccheck,fpcheck; do
  run --tool=$tool "$TEST_DIR/program" tests/opencl/installed/program.cl
  check "unchanged_$tool" diff "$TEST_DIR/plain" "$TEST_DIR/out"
  check "silent_$tool" says "SUMMARY: 0 errors"
  check "covered_$tool" says "coverage .*\(100%\)"
done
