#!/usr/bin/env bash
# timeout: 300
# unoptimised.cu, compiled with -G: the lines of the program with a kind in their comment are those of the report. Without its mistakes it is silent.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
cp tests/report/unoptimised.cu "$TEST_DIR/"
cd "$TEST_DIR" || exit 1
nvcc -w -G -arch=compute_75 -o program unoptimised.cu > nvcc.log 2>&1 || { cat nvcc.log; echo "FAIL nvcc"; exit 1; }
places() { # report: kind and line of the program
  python3 - "$1" << 'P'
import json, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    print(f["kind"], next((p["line"] for p in [f] + f.get("inlined_at", []) if (p.get("file") or "").endswith("unoptimised.cu")), "?"))
P
}
wanted() { grep -n "// $1" unoptimised.cu | sed 's#\([0-9]*\):.*// \(.*\)#\2 \1#'; }
for tool in memcheck fpcheck; do
  wanted "$([ $tool = memcheck ] && echo oob || echo fp)" | sort > want
  "$WARPGRIND" --device=cpu --tool=$tool --json=wrong.json -- ./program wrong > out 2> err
  places wrong.json | sort > got
  check $tool diff want got
  "$WARPGRIND" --device=cpu --tool=$tool --json=right.json -- ./program > out 2> err
  check ${tool}_right [ -z "$(places right.json)" ]
done
