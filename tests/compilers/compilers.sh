#!/usr/bin/env bash
# quick: yes
# timeout: 600
# Kernels as compilers write them (tests/compilers/*.ptx), with all tools: nothing is reported but
# what `// finds: KIND …` says, and results are those of a plain run.
set -u
cd "$ROOT" || exit 1
. tests/lib/steps.sh
host=$(ptxhost) || exit 1
device=${COMPILERS_DEVICE:-cpu}
for file in tests/compilers/${COMPILERS_ONLY:-*}.ptx; do
  name=$(basename "$file" .ptx) wanted=$(sed -n 's|^// finds: ||p' "$file")
  for tool in all racecheck fpcheck initcheck memcheck,racecheck,initcheck,synccheck; do
    d=$TEST_DIR/$name.$tool; mkdir -p "$d"
    timeout 100 "$WARPGRIND" --device="$device" --tool="$tool" --json="$d/report.json" -- "$host" "$file" > "$d/out" 2>&1
    code=$?
    python3 - "$d/report.json" "$tool" $wanted > "$d/wrong" << 'P'
import json, sys
report, tool, wanted = json.load(open(sys.argv[1])), sys.argv[2], set(sys.argv[3:])
tools = {"fp": "fpcheck", "race": "racecheck", "uninit": "initcheck", "oob": "memcheck", "barrier": "synccheck"}
if tool != "all":
    wanted = {k for k in wanted if tools[k.split("-")[0]] in tool.split(",")}
found = {f["kind"] for f in report["findings"] if f["severity"] != "note"}
for kind in sorted(found - wanted):
    print("not expected:", kind)
for kind in sorted(wanted - found):
    print("not found:", kind)
if report["coverage"].get("uncovered"):
    print("not checked:", report["coverage"]["uncovered"])
P
    if [ -s "$d/wrong" ]; then cat "$d/wrong" "$d/out"; echo "FAIL $name $tool: other findings"
    elif [ $code != 0 ] && [ $code != 99 ]; then cat "$d/out"; echo "FAIL $name $tool: exit code $code"
    else echo "ok $name $tool"; fi
  done
done
