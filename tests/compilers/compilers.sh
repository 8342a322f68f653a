#!/usr/bin/env bash
# quick: yes
# timeout: 600
# Kernels as compilers write them (tests/compilers/*.ptx), with all tools: nothing is reported but
# what their annotations say, everything is checked, and results are those of a plain run.
set -u
cd "$ROOT" || exit 1
. tests/lib/steps.sh
host=$(ptxhost) || exit 1
device=${TEST_DEVICE:-cpu}
checked() {
  python3 -c 'import json, sys
sys.exit(bool(json.load(open(sys.argv[1]))["coverage"].get("uncovered")))' "$1"
}
for file in tests/compilers/${TEST_ONLY:-*}.ptx; do
  name=$(basename "$file" .ptx)
  for tool in all racecheck fpcheck initcheck memcheck,racecheck,initcheck,synccheck; do
    d=$TEST_DIR/$name.$tool
    mkdir -p "$d"
    timeout 100 "$WARPGRIND" --device="$device" --tool="$tool" --json="$d/report.json" -- \
      "$host" "$file" > "$d/out" 2>&1
    code=$?
    if ! python3 tests/lib/findings.py "$file" "$d/report.json" --tools="$tool" --without-notes; then
      cat "$d/out"; echo "FAIL $name $tool: other findings"
    elif ! checked "$d/report.json"; then cat "$d/out"; echo "FAIL $name $tool: not checked"
    elif [ $code != 0 ] && [ $code != 99 ]; then cat "$d/out"; echo "FAIL $name $tool: exit code $code"
    else echo "ok $name $tool"; fi
  done
done
