#!/usr/bin/env bash
# timeout: 300
# A program of two files built with -rdc=true, one kernel with launch bounds that leave it 32
# registers: with every tool its units assemble, and link.
set -u
cd "$ROOT" || exit 1
. tests/lib/session.sh
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -pthread -Isrc -o "$TEST_DIR/linked" \
  tests/gpumode/modules_linked.c src/gpu/modules/{probe_unit,refused}.c "${SESSION_OBJS[@]}" ||
    { echo "FAIL build"; exit 1; }
"$TEST_DIR/linked"
ptxas=$(command -v ptxas) && nvlink=$(command -v nvlink) && nvcc=$(command -v nvcc) ||
  { echo "skip linked: nvcc is not installed"; exit 0; }
for f in caller callee; do
  "$nvcc" -rdc=true -arch=compute_90 -ptx -o "$TEST_DIR/$f.ptx" tests/gpumode/linked/$f.cu ||
    { echo "FAIL nvcc"; exit 1; }
done
# link TOOL LOG: compiles and links the units as the driver would; LOG says what it refused before.
link() {
  local d=$TEST_DIR/$1 objects=() unit registers limit
  rm -rf "$d"; mkdir -p "$d"
  "$TEST_DIR/linked" "$d" "$1" "$2" "$TEST_DIR/caller.ptx" "$TEST_DIR/callee.ptx" || return 1
  for unit in "$d"/*.ptx; do
    registers=$(basename "$unit" .ptx); registers=${registers#*.}
    limit=(); [ "$registers" = 0 ] || limit=(-maxrregcount="$registers")
    "$ptxas" -c -arch=sm_90 "${limit[@]}" -o "$unit.o" "$unit" || return 1
    objects+=("$unit.o")
  done
  "$nvlink" -arch=sm_90 -o "$d/program" "${objects[@]}"
}
for tool in memcheck initcheck racecheck synccheck fpcheck all; do
  log=$TEST_DIR/$tool.log
  if link $tool none > "$log" 2>&1; then echo "ok $tool"
  elif link $tool "$log" > "$log.again" 2>&1
    then echo "ok $tool, with limits for functions of the program"
  else cat "$log" "$log.again"; echo "FAIL $tool"; fi
done
