#!/usr/bin/env bash
# PyTorch on a real GPU: bugs in calls of a closed library are found and attributed to the line of
# Python; the correct twins and a training step are silent, and every launch is checked.
set -u
folder=$(dirname "$0")
python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null ||
  { echo "skip torch: there is no PyTorch"; exit 0; }
line=$(grep -n 'the line of the launch' "$folder/torch_bugs.py" | cut -d: -f1)

# judge NAME EXIT_CODE PATTERN...: the report has each pattern
judge() {
  local name=$1 log=$TEST_DIR/$1.log want=$2 pattern
  shift 2
  for pattern; do
    grep -q -- "$pattern" "$log" && continue
    echo "FAIL $name: the report lacks $pattern"; grep -v 'not checked' "$log" | head -n 40; return
  done
  [ "$(cat "$TEST_DIR/$name.code")" = "$want" ] ||
    { echo "FAIL $name: exit code $(cat "$TEST_DIR/$name.code")"; return; }
  echo "ok $name"
}
run() {
  local name=$1
  shift
  "$WARPGRIND" --device=gpu --tool=memcheck python3 "$@" > "$TEST_DIR/$name.out" 2> \
    "$TEST_DIR/$name.log"
  echo $? > "$TEST_DIR/$name.code"
}

run overrun "$folder/torch_bugs.py" overrun &
run freed "$folder/torch_bugs.py" freed &
run overrun-ok "$folder/torch_bugs.py" overrun ok &
run freed-ok "$folder/torch_bugs.py" freed ok &
run step bench/frameworks/train.py small bf16 3 &
wait
judge overrun 99 'oob-write' 'in the machine code of' "torch_bugs.py:$line"
judge freed 99 'use-after-free' 'in the machine code of' "torch_bugs.py:$line"
for name in overrun-ok freed-ok step; do
  judge $name 0 'ERROR SUMMARY: 0 errors' 'coverage (memcheck): .*(100%)'
done
