#!/usr/bin/env bash
# timeout: 900
# From launch to launch: who stored what a kernel reads, and what reaches the host.
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip across: nvcc is not on PATH"; exit 0; }
build across compute_75
line() { line_of "$1" "$t/across.cu"; }
facts() { python3 -c 'import json,sys
for f in json.load(open(sys.argv[1]))["findings"]:
    o = f.get("origin")
    print(f["kind"], f["line"], *(["from %d launch %d" % (o["line"], o["launch"])] if o else []))' \
  "$TEST_DIR/report.json" | grep -v "fp-reached\|fp-compare" | sort; }
expected="fp-input $(line carries) from $(line makes) launch 1
fp-input $(line uses) from $(line carries) launch 2
fp-nan $(line makes)"
for how in "" large; do
  results=$(plain "$TEST_DIR/across" $how)
  for mode in full fast; do
    check "across $how, $mode: exit code" is "$(code fp --fp-mode=$mode "$TEST_DIR/across" $how)" 99
    check "across $how, $mode: the way of the NaN" is "$(facts)" "$expected
fp-output $(line carries)"
    check "across $how, $mode: verdict" has "$TEST_DIR/err" "makes(float*, float const*, int): "\
"they reach an output that is copied to the host, through carries("
    check "across $how, $mode: same results" is "$(cat "$TEST_DIR/out")" "$results"
    check "across $how, $mode: nothing in its twin" is \
      "$(code fp --fp-mode=$mode "$TEST_DIR/across" $how good)" 0
    check "across $how, $mode: no notes either" is "$(kinds)" ""
  done
done
code fp "$TEST_DIR/across" keep > /dev/null
check "kept on the device: no output" is "$(facts)" "$expected"
check "kept on the device: verdict" has "$TEST_DIR/err" "they reach memory"
code fp "$TEST_DIR/across" async > /dev/null
check "asynchronous copy" is "$(facts | grep output)" "fp-output $(line carries)"
code fp --fp-flow "$TEST_DIR/across" keep > /dev/null
check "--fp-flow: where it dies" has "$TEST_DIR/err" "vanishes in max.f32"
