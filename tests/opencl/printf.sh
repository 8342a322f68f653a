#!/usr/bin/env bash
# printf.cl prints what its comments say, with and without a tool.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build examples/opencl/example.c example
sed -n 's|^.*// prints: ||p' tests/opencl/printf.cl > "$TEST_DIR/expected"
for tool in none memcheck,initcheck; do
  timeout 100 "$WARPGRIND" --device=cpu --tool=$tool -q "$TEST_DIR/example" tests/opencl/printf.cl \
    > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  check "exit_code_$tool" test $? = 0
  check "printed_$tool" diff -u "$TEST_DIR/expected" "$TEST_DIR/out"
  check "silent_$tool" test ! -s "$TEST_DIR/err"
done
