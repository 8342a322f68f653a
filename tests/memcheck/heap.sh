#!/usr/bin/env bash
# timeout: 900
# tests/memcheck/heap/*.cu: allocations and frees. All print what they print without the tool,
# unless it prevents what a GPU would do. `runtime: ours`: not with NVIDIA's runtime.
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
need nvcc
real_gpu() { [ "$device" = gpu ] && [ -z "${WARPGRIND_REAL_DRIVER:-}" ]; }
one() {
  local prevented=()
  real_gpu && [ "$(setting runtime "$file")" = ours ] && return
  real_gpu && prevented=(--prevented)
  build "$file" "$d/program" -g -O2 || return
  run_plain "$d"
  run_tools "$d" memcheck
  judge "$name" "$file" "$d" memcheck "${prevented[@]}"
}
programs tests/memcheck/heap
