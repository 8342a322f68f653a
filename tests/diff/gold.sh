#!/usr/bin/env bash
# warpgrind gold: the first launch whose results differ on the second device; what may
# differ may.
# timeout: 600
set -u
. tests/diff/lib.sh
GOLD_DEVICES=${GOLD_DEVICES:-cpu,cpu}
built golden steps graph || { echo "FAIL build"; exit 1; }
# gold CODE ARGUMENT…
gold() {
  local wanted=$1 got
  shift
  TMPDIR=$TEST_DIR timeout 200 "$WARPGRIND" gold --devices="$GOLD_DEVICES" "$@" > "$TEST_DIR/said" \
    2>&1
  got=$?
  [ "$got" = "$wanted" ] || { echo "exit code $got, not $wanted:"; cat "$TEST_DIR/said"; return 1; }
}
other=${GOLD_DEVICES#*,}
gold 0 "$TEST_DIR/steps" && said "cpu and $other computed the same, bit by bit" &&
  said "8 launches compared"; result "the same"
gold 0 "$TEST_DIR/graph" && said "computed the same, bit by bit"; result "graphs"
gold 1 "$TEST_DIR/golden" plant &&
  said "the first launch whose results on $other differ from those on cpu is launch 1 of exact(" \
  && said "[77] = 20.25 and 20.25" && said "1 ULP" && said "its results must be the same bit by bit"
  result "a planted difference"
gold 0 "$TEST_DIR/golden" approximate && said "of them within their limits" &&
  said "within the limits of approximate instructions"; result "approximate instructions"
gold 1 "$TEST_DIR/golden" far && said "launch 2 of approximate(" &&
  said "it uses approximate instructions (div." ; result "beyond what they promise"
gold 0 "$TEST_DIR/golden" sum &&
  said "total(float const*, float*, int, int) depends on the order of threads"
  result "a sum in any order"
gold 0 --tolerance=10000ulp "$TEST_DIR/golden" far; result "a tolerance of the user's"
gold 1 "--json=$TEST_DIR/g.json" "$TEST_DIR/golden" plant && python3 - "$TEST_DIR/g.json" \
  <<'PY'; result "as JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["exit_code"] == 1 and d["first"]["launch"] == 1, d
assert d["first"]["buffers"][0]["first_element"] == 77, d
assert any(k.get("order_dependent") for k in d["kernels"]), d
assert any(k.get("approximate") for k in d["kernels"]), d
PY
gold 1 "--keep=$TEST_DIR/kept" "$TEST_DIR/golden" plant && [ -s "$TEST_DIR/kept/1-cpu.wg" ] &&
  [ -s "$TEST_DIR/kept/2-$other-contents.wg" ]; result "runs that are kept"
gold 2 --devices=tpu,cpu "$TEST_DIR/golden" && said "expected two of cpu and gpu"
  result "devices that are none"
gold 2 "$TEST_DIR/nothing" && said "could not be run on cpu"; result "a program that is none"
[ -z "$(ls -d "$TEST_DIR"/warpgrind-gold-* 2> /dev/null)" ]; result "nothing is left behind"
