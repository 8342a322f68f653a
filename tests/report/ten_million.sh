#!/usr/bin/env bash
# timeout: 600
# A run with more than ten million findings ends in time, counts every one, and its report can be
# read.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/annotations.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
n=10000000; [ "$SAN" = 0 ] || n=100000
nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/program" tests/report/ten_million.cu > \
  "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"; exit 1; }
cd "$TEST_DIR" || exit 1
timed() {
  local from=$EPOCHREALTIME; "$@"; python3 -c "print('%.1f seconds: ' % ($EPOCHREALTIME - $from))" |
    tr -d '\n'; echo "${*: -3}"
}
quarter=$((n / 4))
timed code "$WARPGRIND" --device=cpu --tool=none ./program $n
timed code "$WARPGRIND" --device=cpu ./program $n
check silent         has err 'ERROR SUMMARY: 0 errors from 0 places'
timed code "$WARPGRIND" --device=cpu --json=r.json --sarif=r.sarif --junit=r.xml -o r.wg ./program \
  $n far > times
cat times
check exit_code      [ "$(head -n 1 times)" = 99 ]
check summary        has err "ERROR SUMMARY: $((n + 5 * quarter)) errors from 6 places"
check report_size    [ "$(wc -l < err)" -lt 100 ]
check counts         [ "$(python3 -c 'import json; print(*sorted("%s %d" % (f["kind"], f["count"])
  for f in json.load(open("r.json"))["findings"]), sep=",")')" = \
  "oob-atomic $quarter,oob-read $quarter,oob-read $quarter,oob-write $n,oob-write "\
"$quarter,oob-write $quarter" ]
at() { echo "ten_million.cu:$(line_of "$1" "$ROOT/tests/report/ten_million.cu")"; }
check repeats        grep -q "$n times: oob-write at .*$(at one) in kernel one" err
check atomic_place   grep -q "$quarter times: oob-atomic at .*$(at atomic) in kernel five" err
check formats        eval 'python3 "$ROOT/tests/report/check_sarif.py" r.sarif &&
  python3 "$ROOT/tests/report/check_junit.py" r.xml'
check again          eval '"$WARPGRIND" report r.wg 2> again;
  grep -q "ERROR SUMMARY: $((n + 5 * quarter)) errors from 6 places" again'
