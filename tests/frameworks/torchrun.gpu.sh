#!/usr/bin/env bash
# torchrun with two processes on a real GPU: one report has what was found in all of them.
set -u
folder=$(dirname "$0")
python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null ||
  { echo "skip torchrun: there is no PyTorch"; exit 0; }
run() {  # NAME ARGUMENTS…
  local name=$1
  shift
  timeout 120 "$WARPGRIND" --device=gpu --tool=fpcheck python3 -m torch.distributed.run \
    --standalone --nproc_per_node=2 "$folder/torch_ranks.py" "$@" > "$TEST_DIR/$name.out" 2> \
    "$TEST_DIR/$name.log"
  echo $? > "$TEST_DIR/$name.code"
}
bad() { echo "FAIL $1: $2"; head -n 50 "$TEST_DIR/$1.log"; }
run wrong & run ok ok &
wait
line=$(grep -n 'born here' "$folder/torch_ranks.py" | cut -d: -f1)
for name in wrong ok; do
  want=99 found="ERROR SUMMARY: [1-9]"
  [ $name = ok ] && want=0 found="ERROR SUMMARY: 0 errors"
  if [ "$(cat "$TEST_DIR/$name.code")" != $want ]; then
    bad $name "exit code $(cat "$TEST_DIR/$name.code")"
  elif [ "$(grep -c 'ERROR SUMMARY' "$TEST_DIR/$name.log")" != 1 ]; then
    bad $name "not one report"
  elif ! grep -q "$found" "$TEST_DIR/$name.log"; then bad $name "lacks $found"
  elif ! grep -q 'coverage (fpcheck): .*(100%)' "$TEST_DIR/$name.log"; then bad $name "coverage"
  elif [ "$(grep -c '^rank [01] of 2' "$TEST_DIR/$name.out")" != 2 ]; then bad $name "ranks"
  elif [ $name = wrong ] && ! grep -q "torch_ranks.py:$line" "$TEST_DIR/$name.log"; then
    bad $name "lacks the line"
  else echo "ok $name"; fi
done
