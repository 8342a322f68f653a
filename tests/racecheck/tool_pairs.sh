#!/usr/bin/env bash
# quick: yes
# timeout: 200
# struct_calls.ptx with every pair of tools: calls that stay calls, of functions that an earlier
# tool has changed already. Results are the same, everything is checked, nothing is reported.
set -u
cd "$ROOT" || exit 1
. tests/lib/steps.sh
host=$(ptxhost) || exit 1
d=$TEST_DIR file=tests/racecheck/struct_calls.ptx
run() {
  "$WARPGRIND" --device=cpu --tool="$1" --json="$d/report.json" -- "$host" "$file" > "$d/out" 2>&1
  local code=$?
  if [ $code != 0 ]; then tail -n 5 "$d/out"; echo "FAIL $1: exit code $code"; return; fi
  python3 - "$d/report.json" << 'P' || { cat "$d/out"; echo "FAIL $1: not checked"; return; }
import json, sys
coverage = json.load(open(sys.argv[1]))["coverage"]
sys.exit(coverage["launches"] != 1 or coverage.get("uncovered", []) != [])
P
  echo "ok $1"
}
tools=(memcheck initcheck racecheck synccheck fpcheck count)
for ((i = 0; i < ${#tools[@]}; i++)); do
  for ((j = i + 1; j < ${#tools[@]}; j++)); do run "${tools[$i]},${tools[$j]}"; done
done
run all
