#!/usr/bin/env bash
# quick: yes
# timeout: 60
# The reader of annotations and the comparison with findings (docs/testing.md): what is missing,
# what is too much and what is at another place is told, each for itself.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/annotations.sh
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }
d=$TEST_DIR
cat > "$d/a.cu" << 'C'
// An ordinary comment: no key.
// nvcc: -O1
//    -lcuda
// says: reads 0x…
// finds-gpu: leak count=2
__global__ void k(int *p) {
  *p = 1;  // finds: oob-write count=3 (a remark)
  // finds-next: uninit-use times=2; oob-read tool=memcheck
  int v = *p;
  p[1] = v;  // finds: race group=pair
  p[2] = p[1];  // some words // finds: race group=pair // label: here
}
C

# report KIND LINE COUNT [OTHER-LINE]…: a report with these findings, one for each argument "KIND
# LINE COUNT OTHER"
report() {
  local finding kind line count other
  for finding; do
    read -r kind line count other <<< "$finding"
    printf '{"kind":"%s","severity":"error","thread":[0],"file":"a.cu","line":%s,"count":%s%s},' \
      "$kind" "$line" "$count" \
      "${other:+,\"other\":{\"thread\":[0],\"file\":\"a.cu\",\"line\":$other\}}"
  done | sed 's/,$//; s/^/{"findings":[/; s/$/]}/' > "$d/report.json"
}
# told FINDING…: what the comparison says of a report with these findings
told() {
  report "$@"
  python3 tests/lib/findings.py "$d/a.cu" "$d/report.json" | sed 's/ count=.*//; s/ line=0//'
}
is() { [ "$1" = "$2" ] || { echo "expected: $2"; echo "found: $1"; return 1; }; }
all=("oob-write 7 3" "uninit-use 9 1" "uninit-use 9 1" "race-shared 10 1 11")

check continued is "$(setting nvcc "$d/a.cu")" "-O1 -lcuda"
check label is "$(line_of here "$d/a.cu")" 11
check right is "$(told "${all[@]}")" ""
check missing is "$(told "${all[@]:1}")" "not found: oob-write line=7"
check counted is "$(told "oob-write 7 4" "${all[@]:1}")" "not expected: oob-write line=7
not found: oob-write line=7"
check other_line is "$(told "oob-write 8 3" "${all[@]:1}")" "not expected: oob-write line=8
not found: oob-write line=7"
check too_many is "$(told "${all[@]}" "uninit-use 9 1")" "not expected: uninit-use line=9"
check too_few is "$(told "${all[@]:2}" "oob-write 7 3")" "not found: uninit-use line=9 times=2"
check other_tool is "$(told "${all[@]}" "oob-read 9 1")" "not expected: oob-read line=9"
check other_side is "$(told "${all[@]:0:3}" "race-shared 10 1 7")" \
  "not expected: race-shared line=10
not found: race line=10 group=pair"
check no_race is "$(told "${all[@]:0:3}" "race-same-value 10 1 11")" \
  "not found: race line=10 group=pair"
check often is "$(told "${all[@]}" "race-global 11 5 10" "race-no-acquire 11 1 10")" ""
check other_device is "$(told "${all[@]}" "leak 0 2")" "not expected: leak"

# judge.py: words, exit code and output
judge() { python3 tests/lib/judge.py a "$d/a.cu" "$d" "$@" | tail -n 1; }
report "${all[@]}"
echo 99 > "$d/code"; echo 0 > "$d/none.code"
echo "it reads 0x12ab" > "$d/err"; echo same > "$d/out"; echo same > "$d/none.out"
check judged is "$(judge)" "ok a"
echo 0 > "$d/code"
check exit is "$(judge)" "FAIL a: exit code 0, expected 99"
check exit_kept is "$(judge --error-exitcode=0)" "ok a"
check twin is "$(judge --twin)" "FAIL a: not expected: oob-write"
echo other > "$d/out"
check output is "$(judge --error-exitcode=0)" "FAIL a: other output"
echo > "$d/err"
check words is "$(judge)" "FAIL a: the report lacks: reads 0x…"
rm "$d/report.json"
check no_report eval 'judge | grep -q "FAIL a: no report"'

# A misspelt attribute is an error, not a comment.
echo 'int x;  // finds: oob-read cuont=3' > "$d/a.cu"
report "oob-read 1 3"
check misspelt eval '! python3 tests/lib/findings.py "$d/a.cu" "$d/report.json" 2> "$d/said" &&
  grep -q "cuont=3" "$d/said"'
