#!/usr/bin/env bash
# initcheck and kernels of machine code, on the real GPU.
set -u
source=$(dirname "$0")/programs/initialised.cu program=$TEST_DIR/initialised
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
{ nvcc -DCLOSED -gencode "arch=compute_$sm,code=sm_$sm" -c -o "$TEST_DIR/closed.o" "$source" &&
  nvcc -gencode "arch=compute_$sm,code=compute_$sm" -lineinfo -c -o "$TEST_DIR/open.o" "$source" &&
  nvcc -o "$program" "$TEST_DIR/closed.o" "$TEST_DIR/open.o"; } > "$TEST_DIR/nvcc" 2>&1 ||
  { echo "FAIL nvcc"; cat "$TEST_DIR/nvcc"; exit 1; }
# run NAME EXIT_CODE LINE ARGUMENTS...: the report has the line, and all launches are checked
run() {
  local name=$1 want=$2 line=$3 log=$TEST_DIR/$1.log
  shift 3
  "$WARPGRIND" --device=gpu --tool=initcheck "$program" "$@" > "$TEST_DIR/$name.out" 2> "$log"
  local code=$? text
  for text in "$line" '(100%)'; do
    grep -qF -- "$text" "$log" && continue
    echo "FAIL $name: the report lacks: $text"; sed 's/^/  /' "$log" | head -n 40; return
  done
  if [ $code = "$want" ]; then echo "ok $name"; else echo "FAIL $name: exit code $code"; fi
}
run input 0 '(uninit-input)' input
run input-ok 0 'ERROR SUMMARY: 0 errors' input ok
run other 99 '(uninit-use)' other
run other-ok 0 'ERROR SUMMARY: 0 errors' other ok
if grep -q uninit-input "$TEST_DIR/input-ok.log"; then echo "FAIL input-ok: has a note"; fi
