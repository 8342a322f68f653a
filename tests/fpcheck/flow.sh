#!/usr/bin/env bash
# quick: yes
# timeout: 900
# From birth to effect: --fp-flow, the table of places, and what changed between two builds.
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip flow: nvcc is not on PATH"; exit 0; }
for name in births silent; do build $name compute_80 & done
build births-fastmath compute_80 -use_fast_math &
wait

# --fp-flow: from birth to effect.
code fp --fp-flow "$TEST_DIR/births" > /dev/null
line() { grep -n "$1" "$t/births.cu" | head -n 1 | cut -d: -f1; }
check "--fp-flow: the sum carries what was born before" has "$TEST_DIR/err" \
  "written to memory at births.cu:$(line '  \*out = s;')"
births_alone() {
  python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
report["findings"] = [f for f in report["findings"] if f["kind"] != "fp-flow"]
json.dump(report, open(sys.argv[1], "w"))' "$TEST_DIR/report.json"
  findings births
}
check "--fp-flow: births stay the same" births_alone
code fp --fp-flow "$TEST_DIR/silent" > /dev/null
check "--fp-flow: masks vanish in the maximum" has "$TEST_DIR/err" "-inf (f32) vanishes in max.f32"
check "--fp-flow: no error in a correct program" has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors"
check "the table of places" is "$(code fp --fp-mode=full "$TEST_DIR/births" > /dev/null;
  grep -A5 'places with exceptions' "$TEST_DIR/err" | sed 's/==[0-9]*== *//' | tr -s ' ' |
  grep '^f')" "f16 0 4 0 0
f32 8 9 7 1
f64 3 2 1 1"

# diff of two reports, of two run files with --fp, and fp-diff, its name before: fast math flushes
# subnormal numbers.
for build in births births-fastmath; do
  fp -q --fp-mode=full -o "$TEST_DIR/$build.wg" "$TEST_DIR/$build" > /dev/null 2>&1
    cp "$TEST_DIR/report.json" "$TEST_DIR/$build.json"
done
compared() { # name A B command…: exit code 1, and the one line that only A has
  local name=$1 a=$2 b=$3; shift 3
  check "$name: exit code" is "$(code "$WARPGRIND" "$@" "$TEST_DIR/$a" "$TEST_DIR/$b")" 1
  check "$name: the line" is "$(grep -c 'only in' "$TEST_DIR/out") $(grep -o \
    "only in $a: fp-subnormal f32 at births.cu:[0-9]*" "$TEST_DIR/out")" \
    "1 only in $a: fp-subnormal f32 at births.cu:$(marked finds "$t/births.cu" |
      awk '/fp-subnormal format=f32/ { print $1; exit }')"
}
compared diff births.json births-fastmath.json diff
compared "diff of run files" births.wg births-fastmath.wg diff --fp
compared "diff of both" births.wg births-fastmath.json diff --fp
compared fp-diff births.json births-fastmath.json fp-diff
check "diff: nothing changed" is \
  "$(code "$WARPGRIND" diff "$TEST_DIR/births.json" "$TEST_DIR/births.json")" 0
check "diff: a run file and its report" is \
  "$(code "$WARPGRIND" diff --fp "$TEST_DIR/births.json" "$TEST_DIR/births.wg")" 0
check "diff: reports from pipes" is \
  "$(code "$WARPGRIND" diff <(cat "$TEST_DIR/births.json") <(cat "$TEST_DIR/births.json"))" 0
check "diff: one of each" is \
  "$(code "$WARPGRIND" diff "$TEST_DIR/births.json" "$TEST_DIR/births.wg")" 2
check "diff: an option for outputs" is \
  "$(code "$WARPGRIND" diff --all "$TEST_DIR/births.json" "$TEST_DIR/births.json")" 2
check "diff: not a report" is \
  "$(code "$WARPGRIND" diff --fp "$TEST_DIR/births.json" tests/fpcheck/births.sh)" 2
check "fp-diff: not a report" is \
  "$(code "$WARPGRIND" fp-diff "$TEST_DIR/births.json" tests/fpcheck/births.sh)" 125
