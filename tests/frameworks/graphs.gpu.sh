#!/usr/bin/env bash
# Captured graphs of PyTorch on a real GPU: every launch of every replay is checked, what is born in
# one is found, and the correct twin is silent and computes the same as without tools.
set -u
folder=$(dirname "$0")
python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null ||
  { echo "skip graphs: there is no PyTorch"; exit 0; }
program=$folder/torch_graphs.py
run() {  # NAME TOOL ARGUMENTS…
  local name=$1 tool=$2
  shift 2
  timeout 150 "$WARPGRIND" --device=gpu --tool="$tool" python3 "$program" "$@" > \
    "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.log"
  echo $? > "$TEST_DIR/$name.code"
}
judge() {  # NAME EXIT_CODE PATTERN…: the report has each pattern
  local name=$1 log=$TEST_DIR/$1.log want=$2 pattern
  shift 2
  for pattern; do
    grep -q -- "$pattern" "$log" && continue
    echo "FAIL $name: the report lacks $pattern"; head -n 40 "$log"; return
  done
  [ "$(cat "$TEST_DIR/$name.code")" = "$want" ] ||
    { echo "FAIL $name: exit code $(cat "$TEST_DIR/$name.code")"; return; }
  echo "ok $name"
}
(python3 "$program" graph ok > "$TEST_DIR/plain.out" 2> "$TEST_DIR/plain.log") &
run nan fpcheck graph &
for tool in fpcheck memcheck initcheck; do run $tool-ok $tool graph ok & done
run compiled memcheck compiled ok &
wait
line=$(grep -n 'the line of the replay' "$program" | cut -d: -f1)
judge nan 99 'fp-nan' 'log_kernel' '1 errors from 1 places' "torch_graphs.py:$line" '(100%)'
for tool in fpcheck memcheck initcheck; do
  judge $tool-ok 0 'ERROR SUMMARY: 0 errors' "coverage ($tool): .*(100%)"
  if cmp -s "$TEST_DIR/plain.out" "$TEST_DIR/$tool-ok.out"; then echo "ok $tool-same"; else
    echo "FAIL $tool-same: $(cat "$TEST_DIR/plain.out" "$TEST_DIR/$tool-ok.out")"
  fi
done
judge compiled 0 'ERROR SUMMARY: 0 errors' 'coverage (memcheck): .*(100%)'
