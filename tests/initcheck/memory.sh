#!/usr/bin/env bash
# timeout: 600
# tests/initcheck/memory/*.cu: which memory counts as written, and what is said when it leaves for
# the host. All programs print what they print without the tool. `devices: N`: how many it wants.
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
need nvcc

# What the macros of include/warpgrind.h answer in marks.cu.
asked() {
  local answer=3f
  [ "$device" = gpu ] || answer=2b
  grep -q "asked: $answer" "$d/err" && grep -q 'asked: 7f' "$d/none.err" &&
    { echo "ok $name answers"; return; }
  grep -h asked "$d/err" "$d/none.err"
  echo "FAIL $name: other answers"
}

one() {
  local devices
  devices=$(setting devices "$file")
  [ -n "$devices" ] && [ "$device" = gpu ] && { echo "skip $name: it wants $devices devices"
    return; }
  build "$file" "$d/program" -O1 -Xcompiler -g -Iinclude || return
  run_plain "$d" ${devices:+--devices="$devices"}
  run_tools "$d" initcheck --error-exitcode=0 ${devices:+--devices="$devices"}
  judge "$name" "$file" "$d" initcheck --error-exitcode=0
  [ "$name" != marks ] || asked
}
programs tests/initcheck/memory
