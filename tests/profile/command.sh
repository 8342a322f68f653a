#!/usr/bin/env bash
# warpgrind profile: limits for CI, the trace, two runs side by side, and what a run file keeps.
# timeout: 300
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skip command: nvcc is not installed"; exit 77; }
d=$TEST_DIR
for name in transposed transposed_ok waits; do
  tests/lib/nvcc -w -g -O3 -lineinfo -gencode "arch=compute_90,code=[compute_90,sm_90]" \
    -o "$d/$name" "tests/profile/programs/$name.cu" || exit 1
  "$WARPGRIND" profile --device=cpu -q -o "$d/$name.wg" --json="$d/$name.json" \
    --profile-trace="$d/$name.trace" -- "$d/$name" > "$d/$name.out" 2> "$d/$name.err"
done
profile() { "$WARPGRIND" profile --device=cpu "$@" > "$d/out" 2> "$d/err"; }
check first_screen [ "$(grep -c 'uncoalesced' "$d/transposed.err")" = 1 ]
check says_what_to_write grep -q 'stage a tile in shared memory' "$d/transposed.err"
check says_no_times grep -q 'has no times' "$d/transposed.err"
check quiet_twin grep -q 'no rule found anything' "$d/transposed_ok.err"
tests/lib/nvcc -w -O3 -arch=compute_90 -o "$d/no_lines" tests/profile/programs/transposed.cu
profile -- "$d/no_lines"
check names_the_flag grep -q 'compile with nvcc -lineinfo' "$d/err"
profile --fail-if 'transpose:sectors/request > 6' -- "$d/transposed"; code=$?
check over_budget [ $code = 99 ]
check names_the_limit grep -q 'over budget: sectors/request of transpose' "$d/err"
profile --fail-if 'transpose:sectors/request > 6' -- "$d/transposed_ok"; code=$?
check within_budget [ $code = 0 ]
profile --fail-if 'transpose:sectors/request > 6' --fail-if '*:bank-conflict > 0' \
  --junit="$d/junit.xml" -- "$d/transposed"
check limits_in_junit python3 -c 'import sys, xml.etree.ElementTree as E
root = E.parse(sys.argv[1]).getroot()
cases = {c.get("name").split(" of ")[0]: c.find("failure") for c in root.iter("testcase")}
assert cases["bank-conflict"] is None
assert "--fail-if allows 6" in cases["sectors/request"].get("message")
assert root.get("failures") == "1", root.attrib' "$d/junit.xml"
profile --fail-if '*:uncoalesced > 0' -- "$d/transposed"; code=$?
check rule_as_metric [ $code = 99 ]
profile --fail-if 'transposed:sectors > 0' -- "$d/transposed_ok"; code=$?
check unknown_kernel [ $code = 99 ]
check names_the_kernel grep -q 'no kernel with transposed in its name was launched' "$d/err"
profile --fail-if '*:sync-wait > 0' -- "$d/waits"; code=$?
check rule_about_the_program [ $code = 99 ]
profile --fail-if 'nonsense' -- "$d/transposed"; code=$?
check refuses_nonsense [ $code = 125 ]
check explains_limits grep -q 'expected KERNEL:METRIC > NUMBER' "$d/err"
profile --profile-arch=sm_42 -- "$d/transposed"; code=$?
check refuses_architecture [ $code = 125 ]
"$WARPGRIND" profile --diff "$d/transposed.wg" "$d/transposed_ok.wg" > "$d/diff"; code=$?
check runs_differ [ $code = 1 ]
check names_what_is_gone grep -q '^gone: uncoalesced at transposed.cu:5' "$d/diff"
"$WARPGRIND" profile --diff "$d/transposed.wg" "$d/transposed.wg" > "$d/diff"; code=$?
check same_run [ $code = 0 ]
"$WARPGRIND" report "$d/transposed.wg" > "$d/again" 2>&1
check report_again grep -q 'lanes of a warp access memory far apart (uncoalesced)' "$d/again"
check occupancy_again grep -q 'occupancy on sm_90' "$d/again"
check trace_is_json python3 -c 'import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
assert sum(e["name"] == "cuCtxSynchronize" for e in events) >= 20, events
rows = {e["tid"] for e in events if e["ph"] == "X"}
named = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
assert rows == set(named), named
assert all(n.startswith("host thread") for n in named.values()), named' "$d/waits.trace"
