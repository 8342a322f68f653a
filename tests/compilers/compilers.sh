#!/usr/bin/env bash
# timeout: 900
# Kernels as compilers write them (tests/compilers/*.ptx), with all tools: nothing is reported,
# everything is checked, and results are those of a plain run. Those in bugs/ have a mistake, whose
# result is not always the same: what their annotations say is reported, and nothing else.
set -u
cd "$ROOT" || exit 1
. tests/lib/steps.sh
host=$(ptxhost) || exit 1
device=${TEST_DEVICE:-cpu} number=0
# make check: each kernel with all tools together and with one alone
alone() { [ "${TEST_SIZE:-}" != usual ] || [ -n "${ALONE:-}" ] || [ $((number % 3)) = "$1" ]; }
checked() {
  python3 -c 'import json, sys
sys.exit(bool(json.load(open(sys.argv[1]))["coverage"].get("uncovered")))' "$1"
}
for file in tests/compilers/${TEST_ONLY:-*}.ptx tests/compilers/bugs/${TEST_ONLY:-*}.ptx; do
  [ -e "$file" ] || continue
  name=${file#tests/compilers/} name=${name%.ptx}
  number=$((number + 1)) tools=all
  alone 0 && tools+=" racecheck"
  alone 1 && tools+=" fpcheck"
  alone 2 && tools+=" initcheck"
  for tool in $tools; do
    d=$TEST_DIR/$name.$tool
    mkdir -p "$d"
    timeout 100 "$WARPGRIND" --device="$device" --tool="$tool" --json="$d/report.json" -- \
      "$host" "$file" > "$d/out" 2>&1
    code=$?
    if ! python3 tests/lib/findings.py "$file" "$d/report.json" --tools="$tool" --without-notes
      then
      cat "$d/out"; echo "FAIL $name $tool: other findings"
    elif ! checked "$d/report.json"; then cat "$d/out"; echo "FAIL $name $tool: not checked"
    elif [ $code != 0 ] && [ $code != 99 ]; then cat "$d/out"
      echo "FAIL $name $tool: exit code $code"
    else echo "ok $name $tool"; fi
  done
done
