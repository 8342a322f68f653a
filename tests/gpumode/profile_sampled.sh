#!/usr/bin/env bash
# A GPU looks at some of the requests of an access that runs often: numbers of requests stay exact,
# the rest is near, and report, JSON, run file, --diff and --fail-if go by the estimates.
# timeout: 300
set -u
. tests/lib/check.sh
. tests/gpumode/lib.sh
command -v nvcc > /dev/null || { echo "skip sampled: nvcc is not installed"; exit 77; }
shared_runtime
d=$TEST_DIR
tests/lib/nvcc -w -O2 -lineinfo -cudart=shared -gencode "arch=compute_90,code=[compute_90,sm_90]" \
  -o "$d/sampled" tests/profile/sampled.cu || exit 1
run() {  # NAME DEVICE OPTIONS…
  local name=$1 device=$2; shift 2
  timeout 120 "$WARPGRIND" --device="$device" --tool=profile -v "$@" -o "$d/$name.wg" \
    --json="$d/$name.json" -- "$d/sampled" > "$d/$name.out" 2> "$d/$name.err"
}
run virtual cpu; check virtual_runs [ $? = 0 ]
run exact gpu --profile-exact; check exact_runs [ $? = 0 ]
run sampled gpu; check sampled_runs [ $? = 0 ]
run again gpu --fail-if 'often:sectors/request > 8'; check over_budget [ $? = 99 ]
run within gpu --fail-if 'often:sectors/request > 14'; check within_budget [ $? = 0 ]
check virtual_is_exact [ "$(grep -c 'estimated' "$d/virtual.err")" = 0 ]
check exact_is_exact python3 tests/profile/sampled.py "$d/virtual.json" "$d/exact.json" --exact
check estimates_are_near python3 tests/profile/sampled.py "$d/virtual.json" "$d/sampled.json"
check says_estimated grep -q 'sampled.cu:[0-9]* .*estimated from 1 in ' "$d/sampled.err"
check says_how_to_avoid grep -q -- '--profile-exact looks at all' "$d/sampled.err"
"$WARPGRIND" report -v "$d/sampled.wg" > "$d/report" 2>&1
check run_file_keeps_it grep -q 'sampled.cu:[0-9]* .*estimated from 1 in ' "$d/report"
"$WARPGRIND" profile --diff "$d/sampled.wg" "$d/again.wg" > "$d/diff"
check samples_agree grep -q 'both runs have the same counts' "$d/diff"
"$WARPGRIND" profile --diff "$d/exact.wg" "$d/virtual.wg" > "$d/diff"
check devices_agree grep -q 'both runs have the same counts' "$d/diff"
