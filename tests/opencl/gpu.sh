#!/usr/bin/env bash
# The OpenCL platform on a GPU: every call works as on the virtual device, and the mistakes of
# examples/opencl are found at the same lines. A machine without libclc needs what another one has
# compiled: OPENCL_CACHE names that folder (tests/opencl/fill_cache makes it).
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
cache=${OPENCL_CACHE:-$BUILD/opencl-cache}
if [ -d "$cache" ]; then export WARPGRIND_CACHE_DIR=$cache; fi
device=${GPU_DEVICE:-gpu}
for program in tests/opencl/api.c tests/opencl/images.c examples/opencl/example.c; do
  ${CC:-gcc} -std=gnu11 -g -O1 -pthread -o "$TEST_DIR/$(basename "$program" .c)" "$program" \
    -lOpenCL -lm || { echo "FAIL $program: does not compile"; exit 1; }
done
for tool in none memcheck,initcheck,racecheck,synccheck; do
  timeout 100 "$WARPGRIND" --device="$device" --tool=$tool "$TEST_DIR/api" tests/opencl/api.cl \
    > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  check "api_$tool" eval \
    "[ $? = 0 ] || { grep FAIL $TEST_DIR/out; tail -n 15 $TEST_DIR/err; false; }"
done
for tool in none memcheck; do
  (cd tests/opencl && timeout 100 "$WARPGRIND" --device="$device" --tool=$tool "$TEST_DIR/images") \
    > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  check "images_$tool" eval \
    "[ $? = 0 ] || { grep FAIL $TEST_DIR/out; tail -n 15 $TEST_DIR/err; false; }"
done
# kind and line of each error of a report; which work-item was first is left to the device
same() {
  sed -E 's/^==[^ ]*== *//' "$1" | awk '
    /^Error: / { match($0, /\([a-z-]+\)/); kind = substr($0, RSTART, RLENGTH) }
    /^at / && kind { n = split($2, part, "/"); print kind, part[n]; kind = "" }' | sort -u
}
for kernel in examples/opencl/*.cl; do
  name=$(basename "$kernel" .cl)
  tool=$(sed -n 's|^// tools: ||p' "$kernel")
  timeout 60 "$WARPGRIND" --device="$device" --color=never -q --tool="$tool" \
    "$TEST_DIR/example" "$kernel" 2> "$TEST_DIR/$name.err"
  same "$TEST_DIR/$name.err" > "$TEST_DIR/$name.got"
  : > "$TEST_DIR/$name.want"
  [ ! -e "tests/opencl/$name.expected" ] ||
    same "tests/opencl/$name.expected" > "$TEST_DIR/$name.want"
  check "$name" diff -u "$TEST_DIR/$name.want" "$TEST_DIR/$name.got"
done
