#!/usr/bin/env bash
# timeout: 300
# NVTX ranges: what the program launched and copied in each, in words, in JSON and in the trace.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skip nvtx: nvcc is not installed"; exit 77; }
d=$TEST_DIR
tests/lib/nvcc -w -std=c++17 -O2 -lineinfo -arch=compute_75 -o "$d/ranges" \
  tests/profile/nvtx/ranges.cu -ldl > "$d/nvcc" 2>&1 ||
  { grep -q nvToolsExt.h "$d/nvcc" && echo "this toolkit has no NVTX" && exit 77; cat "$d/nvcc"
    exit 1; }
"$WARPGRIND" profile --device="${TEST_DEVICE:-cpu}" --profile-trace="$d/trace" --json="$d/json" \
  -o "$d/run.wg" "$d/ranges" > "$d/out" 2> "$d/err"
check exit_code [ $? = 0 ]
check pop_of_none has "$d/out" -1
check table python3 - "$d/json" <<'END'
import json, sys
ranges = json.load(open(sys.argv[1]))["ranges"]
def path(r): return (path(ranges[r["parent"]]) + "/" if "parent" in r else "") + r["name"]
seen = {path(r): (r["times"], r["launches"], r["copies"], r["bytes"]) for r in ranges}
expected = {
    "whole run": (1, 8, 3, 12000),
    "m\u00e4in": (1, 6, 3, 12000),
    "m\u00e4in/step": (3, 6, 3, 12000),
    "m\u00e4in/step/copy": (3, 0, 3, 12000),
    "m\u00e4in/step/compute": (3, 6, 0, 0),
    "library: reduce": (1, 1, 0, 0),
    "other thread": (1, 1, 0, 0),
}
assert seen == expected, seen
END
words() {
  grep -Eq ' 3 +6 +0 +0\.0 .* {4}compute$' "$1" && grep -Eq ' 1 +8 +3 +12\.0 .*whole run$' "$1"
}
check words words "$d/err"
"$WARPGRIND" report "$d/run.wg" > "$d/again" 2>&1
check from_the_file words "$d/again"
check trace python3 - "$d/trace" <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
ranges = [e for e in events if e["cat"] == "nvtx"]
launches = [e for e in events if e["cat"] == "host" and e["name"].startswith("add")]
def inside(e, r): return r["ts"] <= e["ts"] and e["ts"] + e["dur"] <= r["ts"] + r["dur"] + 1e-6
computes = [r for r in ranges if r["name"] == "compute"]
assert [sum(inside(e, r) and e["tid"] == r["tid"] for e in launches) for r in computes] == [2, 2, 2]
threads = {r["name"]: r["tid"] for r in ranges}
assert threads["other thread"] != threads["step"] and threads["whole run"] == 0
END
"$WARPGRIND" --device="${TEST_DEVICE:-cpu}" --tool=none "$d/ranges" > "$d/out" 2> "$d/err"
check nobody_listens_without_the_tool [ "$(cat "$d/out")" != -1 ]
