#!/usr/bin/env bash
# timeout: 400
# Copies and sets against launches on another stream: a race with nothing between them, none with an
# event, the host or a common stream, or where they access other bytes.
set -u
cd "$ROOT" || exit 1
device=${TEST_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
# shellcheck disable=SC2086
tests/lib/nvcc -w ${TEST_NVCC:-} -g -O3 -lineinfo -gencode arch=compute_75,code=compute_75 -o \
  "$TEST_DIR/copies" tests/racecheck/copies.cu || { echo "FAIL nvcc"; exit 1; }

# copies WHAT ORDER MODE
copies() {
  local what=$1 order=$2 mode=$3 code found want=0 races=0
  # shellcheck disable=SC2086
  timeout 60 "$WARPGRIND" --device="$device" --tool=racecheck $mode --json="$TEST_DIR/report.json" \
    -- "$TEST_DIR/copies" $what $order > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  code=$?
  [ $order = none ] && want=99 races=1
  found=$(python3 -c 'import json, sys; print(len({f["kind"] for f in
    json.load(open(sys.argv[1]))["findings"] if f["kind"] == "race-host"}))' \
    "$TEST_DIR/report.json")
  if [ $code = $want ] && [ "$found" = $races ] && grep -q done "$TEST_DIR/out"
    then echo "ok $what $order $mode"
  else cat "$TEST_DIR/err"; echo "FAIL $what $order $mode: exit code $code, $found findings"; fi
}

[ -n "${RACECHECK_COPIES:-}" ] || copies waited host ""
for what in ${RACECHECK_COPIES:-read write set later first rows pinned copies free}; do
  for order in none event host stream; do copies $what $order ""; done
  [ -n "${RACECHECK_QUICK:-}" ] && continue
  case $what in rows | pinned | copies | free | later) copies $what apart "" ;; esac
  copies $what none --race=full
  copies $what event --race=full
done
