#!/usr/bin/env bash
# Programs in SPIR-V: they run, a mistake is found at its line, and without a translator the program
# and the report say so.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/spirv.c spirv
run() {
  timeout 100 "$WARPGRIND" --device=cpu --color=never "$@" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
: > "$TEST_DIR/empty.spv"
WARPGRIND_LLVM_SPIRV=/nonexistent run --tool=none "$TEST_DIR/spirv" "$TEST_DIR/empty.spv"
check without eval '[ $? = 0 ] && has "$TEST_DIR/out" "no translator"'
check said has "$TEST_DIR/err" "apt-get install llvm-spirv-15"
translator=$(ls /usr/bin/llvm-spirv-1[4-9] 2> /dev/null | tail -n 1)
clang=/usr/bin/clang-14  # its bitcode has typed pointers, which all of them read
if [ -z "$translator" ] || [ ! -x "$clang" ]; then
  echo "skip spirv: no llvm-spirv, or no clang-14"
  exit 0
fi
# compile DEBUG NAME
compile() {
  "$clang" -cc1 -triple spir64 -x cl -cl-std=CL1.2 -finclude-default-header -O1 \
    -debug-info-kind="$1" -dwarf-version=4 -emit-llvm-bc -o "$TEST_DIR/$2.bc" \
    tests/opencl/spirv.cl && "$translator" -o "$TEST_DIR/$2.spv" "$TEST_DIR/$2.bc" ||
    { echo "FAIL spirv: not compiled"; exit 1; }
}
compile line-tables-only spirv
compile limited variables  # clang crashes over what describes variables
run --tool=memcheck,initcheck,racecheck,synccheck "$TEST_DIR/spirv" "$TEST_DIR/spirv.spv"
check exit_code test $? = 0
cat "$TEST_DIR/out"
check all test "$(grep -c '^ok ' "$TEST_DIR/out")" = 7
check silent has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors from 0 places"
line() { grep -n "label: $1\$" tests/opencl/spirv.cl | cut -d: -f1; }
for module in spirv variables; do
  run --tool=memcheck "$TEST_DIR/spirv" "$TEST_DIR/$module.spv" beyond
  check "beyond_$module" test $? = 99
  check "line_$module" eval 'grep -A2 "outside of an allocation (oob-write): 4 bytes" \
    "$TEST_DIR/err" | sed "s/.*at //; s/.*spirv.cl/spirv.cl/" | tail -n 2 |
    diff - <(echo "spirv.cl:$(line beyond) in put"; echo "spirv.cl:$(line call) in beyond")'
done
