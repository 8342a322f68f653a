#!/usr/bin/env bash
# timeout: 120
# The virtual device's memory stays flat over launches whose blocks are suspended in between: what
# initcheck and racecheck do at accesses counts as polling, so blocks are suspended often.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
d=$TEST_DIR most=25
tests/lib/nvcc -O2 -gencode arch=compute_75,code=compute_75 -o "$d/program" \
  tests/vgpu/launch_memory.cu || exit 1
flat() {
  local grown
  grown=$("$WARPGRIND" --device=cpu --workers=4 --tool="$1" -q -- "$d/program" "$2" "$3") ||
    { echo "FAIL $1: exit code"; return; }
  if [ "$grown" -le "$most" ]; then
    echo "ok $1"
  else
    echo "FAIL $1: $grown MB more after $2 launches"
  fi
}
[ "$SAN" = 0 ] || most=400                    # freed memory stays in the sanitizer's quarantine
flat initcheck 50 1
flat racecheck 12 20
