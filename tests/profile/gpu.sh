#!/usr/bin/env bash
# profile on a real GPU: the counts of the virtual device, and the same advice.
set -u
cd "$ROOT" || exit 1
TEST_DEVICE=gpu bash tests/profile/exact.sh
TEST_DEVICE=gpu bash tests/profile/planted.sh

# What the GPU can do, and a run that is compared with it; times by CUPTI, where it is installed.
export WARPGRIND_STATE_DIR=$TEST_DIR/state
"$WARPGRIND" profile --calibrate > "$TEST_DIR/peaks" 2>&1 && echo "ok calibrate" ||
  { cat "$TEST_DIR/peaks"; echo "FAIL calibrate"; }
cat "$TEST_DIR/peaks"
device=$(sed -n 's/^device //p' "$WARPGRIND_STATE_DIR/peaks")
nvcc -w -O2 -g -lineinfo -arch=sm_90 -o "$TEST_DIR/work" tests/profile/cupti/work.cu || exit 1
"$WARPGRIND" profile --json="$TEST_DIR/json" "$TEST_DIR/work" > "$TEST_DIR/out" 2>&1
cat "$TEST_DIR/out"
grep -q "of the device, by \(CUPTI\|events\): kernels" "$TEST_DIR/out" && echo "ok timeline" ||
  echo "FAIL timeline"
grep -q "of $device" "$TEST_DIR/out" && echo "ok calibrated" || echo "FAIL calibrated"
nvcc -w -O3 -lineinfo -arch=sm_90 -o "$TEST_DIR/kernels" bench/profile/kernels.cu || exit 1
"$WARPGRIND" profile --profile-stalls "$TEST_DIR/kernels" > "$TEST_DIR/out" 2>&1
grep "its warps wait\|CUPTI" "$TEST_DIR/out"
grep -q "its warps wait" "$TEST_DIR/out" && echo "ok stalls" || echo "FAIL stalls"
# Lines of the samples: this machine code has a line table.
grep -q "kernels.cu:[0-9]*: [0-9]*% of the samples" "$TEST_DIR/out" && echo "ok stall_lines" ||
  echo "FAIL stall_lines"

# Warps on a multiprocessor, no more than fit. A launch of many blocks has some warps everywhere.
"$WARPGRIND" --tool=profile --profile-part=timeline --profile-occupancy --json="$TEST_DIR/json" \
  "$TEST_DIR/kernels" > /dev/null 2> "$TEST_DIR/out"
python3 - "$TEST_DIR/json" <<'END' && echo "ok achieved" || echo "FAIL achieved"
import json, sys
kernels = json.load(open(sys.argv[1]))["kernels"]
for k in kernels:
    print(f"{k['kernel']:60} {k.get('achieved_warps', 0):6.1f} of {k['occupancy']['warps']}")
assert all(0 < k["achieved_warps"] <= 1.02 * k["occupancy"]["warps"] for k in kernels)
END

# Nodes of a graph have times of their own, by CUPTI.
nvcc -w -O2 -g -lineinfo -arch=sm_90 -o "$TEST_DIR/graph" \
  tests/profile/programs/graph_ok.cu || exit 1
"$WARPGRIND" profile --json="$TEST_DIR/json" "$TEST_DIR/graph" > "$TEST_DIR/out" 2>&1
python3 - "$TEST_DIR/json" <<'END' && echo "ok graph_nodes" || echo "FAIL graph_nodes"
import json, sys
run = json.load(open(sys.argv[1]))
k = run["kernels"][0]
print(k["launches"], k["nodes"], k.get("node_runs"), k.get("ns"), run["device_time"])
assert run["device_time"]["times"] != "CUPTI" or (k["nodes"], k["node_runs"]) == (120, 360)
assert not run["advice"], run["advice"]
END
