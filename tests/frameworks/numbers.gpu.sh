#!/usr/bin/env bash
# PyTorch on a real GPU: NaN and infinity that are born in closed kernels are found and attributed
# to the line of Python; the correct twins, masks and training are silent.
set -u
folder=$(dirname "$0")
python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null ||
  { echo "skip torch: there is no PyTorch"; exit 0; }
program=$folder/torch_numbers.py
run() {
  local name=$1
  shift
  "$WARPGRIND" --device=gpu --tool=fpcheck python3 "$program" "$@" > "$TEST_DIR/$name.out" 2> \
    "$TEST_DIR/$name.log"
  echo $? > "$TEST_DIR/$name.code"
}
# judge NAME EXIT_CODE PATTERN...: the report has each pattern
judge() {
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
line() { grep -n "born here${1:+: $1}" "$program" | cut -d: -f1; }
bugs="log log-bf16 divide matmul matmul-bf16 backward" fine="mask mask-bf16 training training-bf16"
for what in $bugs; do run $what $what & run $what-ok $what ok & done
for what in $fine; do run $what $what & done
wait
for what in $bugs; do
  [ $what = backward ] && continue
  judge $what 99 'fp-\(nan\|inf\)' "torch_numbers.py:$(line ${what%-bf16})" '(100%)'
  judge $what-ok 0 'ERROR SUMMARY: 0 errors' '(100%)'
done
judge backward 99 'fp-inf' "in the forward pass (.*torch_numbers.py:$(line backward))" '(100%)'
judge backward-ok 0 'ERROR SUMMARY: 0 errors' '(100%)'
for what in $fine; do judge $what 0 'ERROR SUMMARY: 0 errors' '(100%)'; done
# the example of docs/frameworks.md
program=examples/nan_hunt/train.py
run hunt
run hunt-ok ok
judge hunt 99 'fp-nan' "train.py:$(line '' | head -n 1)" 'aten::sqrt' '(100%)'
judge hunt-ok 0 'ERROR SUMMARY: 0 errors' '(100%)'
