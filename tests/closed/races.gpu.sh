#!/usr/bin/env bash
# racecheck and kernels of machine code, on the real GPU: they race with launches and copies on
# other streams. Each bug has a correct twin, which is silent.
set -u
source=$(dirname "$0")/programs/races.cu program=$TEST_DIR/races
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
{ nvcc -DCLOSED -gencode "arch=compute_$sm,code=sm_$sm" -c -o "$TEST_DIR/closed.o" "$source" &&
  nvcc -gencode "arch=compute_$sm,code=compute_$sm" -lineinfo -c -o "$TEST_DIR/open.o" "$source" &&
  nvcc -o "$program" "$TEST_DIR/closed.o" "$TEST_DIR/open.o"; } > "$TEST_DIR/nvcc" 2>&1 ||
  { echo "FAIL nvcc"; cat "$TEST_DIR/nvcc"; exit 1; }
# judge NAME EXIT_CODE LINE: the report has the line
judge() {
  local log=$TEST_DIR/$1.log
  if [ "$(cat "$TEST_DIR/$1.code")" = "$2" ] && grep -qF -- "$3" "$log"; then
    echo "ok $1"
    return
  fi
  echo "FAIL $1: exit code $(cat "$TEST_DIR/$1.code"), expected $2 and: $3"
  sed 's/^/  /' "$log" | head -n 40
}
run() {  # NAME COMMAND...
  local name=$1
  shift
  "$WARPGRIND" --device=gpu --tool=racecheck "$@" > "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.log"
  echo $? > "$TEST_DIR/$name.code"
}
for what in launches woven behind copy; do
  run $what "$program" $what &
  run $what-ok "$program" $what ok &
done
if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
  script=tests/frameworks/torch_streams.py
  for what in reuse wait; do
    run torch-$what python3 $script $what &
    run torch-$what-ok python3 $script $what ok &
  done
else
  script=; echo "skip torch: there is no PyTorch"
fi
wait
for what in launches woven behind copy ${script:+torch-reuse torch-wait}; do
  judge $what 99 race-host
  judge $what-ok 0 'ERROR SUMMARY: 0 errors'
done
