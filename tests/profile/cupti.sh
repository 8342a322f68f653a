#!/usr/bin/env bash
# timeout: 300
# Times by CUPTI: what the device did, and who let it idle; samples: why warps wait. The stand-ins
# for the driver and for CUPTI make them known beforehand; without CUPTI events measure.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/gpumode/lib.sh
command -v nvcc > /dev/null || { echo "skip cupti: nvcc is not installed"; exit 77; }
shared_runtime
d=$TEST_DIR
tests/lib/nvcc -w -O2 -g -lineinfo -cudart=shared -arch=compute_75 -o "$d/work" \
  tests/profile/cupti/work.cu > "$d/nvcc" 2>&1 ||
  { cat "$d/nvcc"; exit 1; }
mkdir -p "$d/cupti"
$CC -std=gnu11 -O1 -fPIC -shared -Isrc -o "$d/cupti/libcupti.so.13" \
  tests/profile/cupti/fake_cupti.c || exit 1

profiled() {  # NAME VARIABLES…
  local name=$1; shift
  env LD_LIBRARY_PATH="$d/cupti:$LD_LIBRARY_PATH" "$@" "$WARPGRIND" --device=gpu --tool=profile \
    --profile-part=timeline --json="$d/$name.json" "$d/work" > "$d/$name.out" 2> "$d/$name.err"
}
profiled cupti FAKE_CUPTI="c 4096 0 100 k 2 64 200 300 k 2 64 500 600 k 3 64 700 800 c 4096 750 900"
check by_cupti python3 - "$d/cupti.json" <<'END'
import json, sys
t = json.load(open(sys.argv[1]))["device_time"]
assert t["times"] == "CUPTI", t
sums = {k: round(t[k], 6) for k in ("ms", "kernel_ms", "copy_ms", "both_ms", "idle_ms")}
assert sums == {"ms": 0.9, "kernel_ms": 0.3, "copy_ms": 0.25, "both_ms": 0.05, "idle_ms": 0.4}, sums
gaps = sorted((g["cause"], round(g["ms"], 6), g["times"]) for g in t["gaps"])
assert gaps == [("host", 0.1, 1), ("wait", 0.1, 1), ("wait", 0.2, 1)], gaps
END
check words grep -q \
  "profile: 0.9 ms of the device, by CUPTI: kernels 33%, copies 28%, both at once 6%, idle 44%" \
  "$d/cupti.err"
check gap grep -q "idle for 0.2 ms after the host waited at .* (1 time)" "$d/cupti.err"
profiled graph FAKE_CUPTI="c 4096 0 100 k 2 64 200 300 k 2 64 500 600 k 3 64 700 800 \
g 2 64 800 900 g 2 64 900 1000 c 4096 1000 1100"
check graph_nodes python3 - "$d/graph.json" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
k = run["kernels"][0]
assert (k["launches"], k["node_runs"], k["ns"]) == (3, 2, 500000), k
nodes = [c for c in run["timeline"] if c["kind"] == "node"]
assert [c["ended"] - c["started"] for c in nodes] == [100000, 100000], nodes
assert round(run["device_time"]["kernel_ms"], 6) == 0.5, run["device_time"]
END
stalled() {
  grep -q "its warps wait: 60% for data from global or local memory (long_scoreboard), \
30% for other warps at a barrier (barrier)" "$d/stalls.err"
}
stalled_lines() {
  grep -q "work.cu:4: 50% of the samples, most of them wait for data from global" "$d/stalls.err"
}
profiled stalls FAKE_CUPTI="" WARPGRIND_PROFILE_STALLS=yes
check stalls stalled
check stall_lines stalled_lines
check stall_lines_json python3 - "$d/stalls.json" <<'END'
import json, sys
lines = json.load(open(sys.argv[1]))["kernels"][0]["stall_lines"]
assert [(l["file"], l["line"], l["samples"], l["reason"]) for l in lines] == [
    ("/src/work.cu", 4, 100, "long_scoreboard")], lines
END

# Stamps at the entry and the exits of kernels: no more warps than fit.
profiled achieved FAKE_CUPTI="" WARPGRIND_PROFILE_OCCUPANCY=yes
check achieved python3 - "$d/achieved.json" <<'END'
import json, sys
k = json.load(open(sys.argv[1]))["kernels"][0]
assert 0 < k["achieved_warps"] <= 64, k
END
check achieved_words grep -q "achieved occupancy: .* warps on a multiprocessor" "$d/achieved.err"
profiled both FAKE_CUPTI="" WARPGRIND_PROFILE_OCCUPANCY=yes WARPGRIND_PROFILE_STALLS=yes
check one_at_a_time grep -q "are for two runs" "$d/both.err"
profiled events
check by_events grep -q "of the device, by events: kernels" "$d/events.err"
headers=$(dirname "$(dirname "$(command -v nvcc)")")/include
if [ -e "$headers/cupti_pcsampling.h" ]; then
  check layout "$CC" -fsyntax-only -Isrc -I"$headers" tests/profile/cupti/layout.c
else
  echo "skip layout: this toolkit has no headers of CUPTI"
fi
