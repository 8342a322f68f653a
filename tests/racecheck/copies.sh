#!/usr/bin/env bash
# timeout: 200
# Copies and sets against launches on another stream: a race with nothing between them, none with an event, the host or a common stream.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
nvcc -w -g -O3 -lineinfo -gencode arch=compute_75,code=compute_75 -o "$TEST_DIR/copies" tests/racecheck/copies.cu || { echo "FAIL nvcc"; exit 1; }
for what in read write set later; do
  for order in none event host stream; do
    for mode in "" --race=full; do
      # shellcheck disable=SC2086
      timeout 60 "$WARPGRIND" --device=cpu --tool=racecheck $mode --json="$TEST_DIR/report.json" -- "$TEST_DIR/copies" $what $order > "$TEST_DIR/out" 2> "$TEST_DIR/err"
      code=$?
      want=0 races=0
      [ $order = none ] && want=99 races=1
      found=$(python3 -c 'import json, sys; print(len({f["kind"] for f in json.load(open(sys.argv[1]))["findings"] if f["kind"] == "race-host"}))' "$TEST_DIR/report.json")
      if [ $code = $want ] && [ "$found" = $races ] && grep -q done "$TEST_DIR/out"; then echo "ok $what $order $mode"
      else cat "$TEST_DIR/err"; echo "FAIL $what $order $mode: exit code $code, $found findings"; fi
    done
  done
done
