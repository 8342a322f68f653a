#!/usr/bin/env bash
# Variables whose types are parameters of a template: `T s[N]` of tiles<float, 4> is `float s[4]`.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/templates" \
  tests/viewer/templates.cu > "$TEST_DIR/nvcc.log" 2>&1 ||
  { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"; exit 1; }
"$WARPGRIND" --device=cpu --record -q -o "$TEST_DIR/run.wg" "$TEST_DIR/templates" > \
  "$TEST_DIR/out" 2>&1 || { cat "$TEST_DIR/out"; echo "FAIL recording"; exit 1; }
# variable NAME KERNEL: "type dimensions"
variable() {
  "$WARPGRIND" sql "$TEST_DIR/run.wg" "select t.name || ' ' || coalesce(v.dims, '') from
    kernel_variable v join kernel k on k.id = v.kernel join type t on t.id = v.type
    where v.name = '$1' and k.readable like '$2%'" | tail -n +2
}
small='void tiles<float, 4, false>' large='void tiles<double, 8, true>'
check array test "$(variable s "$small")" = "float 4"
check array_other test "$(variable s "$large")" = "double 8"
check two_dimensions test "$(variable tile "$large")" = "double 8,9"
check struct_of_template test "$(variable pairs "$small")" = "Pair<float> 4"
check local_array test "$(variable mine "$large")" = "double 8"
check variadic test "$(variable kept 'void pack<')" = "double 2"
