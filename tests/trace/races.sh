#!/usr/bin/env bash
# timeout: 1800
# Races of a recorded run are those that racecheck finds: every sixth program of tests/racecheck,
# recorded with racecheck running along; one in three alone, too (all for make check-long and on a
# GPU). races_differ.txt has what a recording cannot know, and why.
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
need nvcc
export TEST_JOBS=${TEST_JOBS:-2}
[ "$device" = gpu ] || export TEST_SHARE=6  # make check-long: all

# The races of program $name that differ: NAME=REASON
differences() {
  awk -v p="$name" '$1 == p { n = split($2, names, ","); $1 = $2 = ""
    for (i = 1; i <= n; i++) print names[i] "=" $0 }' tests/trace/races_differ.txt
}

one() {
  local differ tool code tools="racecheck none"
  # all of CUB with both tools: half a million lines of PTX
  if [ "$device/$name" = gpu/library_ok ]; then
    echo "skip $name: the driver compiles it for more than five minutes"; return
  fi
  [ "${TEST_SIZE:-}" = long ] || [ $(($(cksum <<< "$name" | cut -d' ' -f1) % 3)) = 0 ] ||
    tools=racecheck
  mapfile -t differ < <(differences)
  build "$file" "$d/program" -g -O3 --extended-lambda || return
  for tool in $tools; do
    rm -f "$d/run.wg"
    timeout 200 "$WARPGRIND" --device="$device" --tool=$tool --record -o "$d/run.wg" "$d/program" \
      > "$d/out" 2>&1
    code=$?
    if [ $code != 0 ] && [ $code != 99 ]; then
      tail -n 5 "$d/out"; echo "FAIL $name $tool: does not run"; continue
    fi
    python3 tests/trace/races.py "$WARPGRIND" "$d/run.wg" "$file" "${differ[@]}" > "$d/wrong" 2>&1
    if [ -s "$d/wrong" ]; then
      cat "$d/wrong"; echo "FAIL $name $tool: other races"
    else
      echo "ok $name $tool"
    fi
  done
}
programs tests/racecheck/programs
