#!/usr/bin/env bash
# NaN and infinity in what kernels of machine code write, on the real GPU: fpcheck scans their
# buffers.
set -u
folder=$(dirname "$0")/programs
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
program=$TEST_DIR/numbers
nvcc -gencode "arch=compute_$sm,code=sm_$sm" -o "$program" "$folder/numbers.cu" \
  > "$TEST_DIR/nvcc" 2>&1 || { echo "FAIL nvcc"; cat "$TEST_DIR/nvcc"; exit 1; }

bad() { echo "FAIL $1: $2"; sed 's/^/  /' "$TEST_DIR/$1.log" | head -n 40; }
# run NAME ARGUMENTS...
run() {
  name=$1 log=$TEST_DIR/$1.log
  shift
  "$WARPGRIND" --device=gpu --tool=fpcheck "$program" "$@" > "$TEST_DIR/$name.out" 2> "$log"
  exit_code=$?
}
expect() {
  local line
  for line in '1 errors from 1 places' '(100%)' 'its inputs were finite' "$@"; do
    grep -qF -- "$line" "$log" || { bad "$name" "the report lacks: $line"; return; }
  done
  [ $exit_code = 99 ] || { bad "$name" "exit code $exit_code"; return; }
  echo "ok $name"
}
silent() {
  grep -q 'ERROR SUMMARY: 0 errors' "$log" || { bad "$name" "something is found"; return; }
  grep -q '(100%)' "$log" || { bad "$name" "not all launches are checked"; return; }
  [ $exit_code = 0 ] || { bad "$name" "exit code $exit_code"; return; }
  echo "ok $name"
}
for format in f32 f64 f16 bf16; do
  run $format $format; expect 'fp-nan' "1 NaN ($format)"
done
run overflow overflow; expect 'fp-inf' '1 infinite value (f32)' 'squares'
run overflow-f16 overflow-f16; expect 'fp-inf' '1 infinite value (f16)'
run struct struct; expect 'fp-nan' 'by_value'
for what in f32 f64 f16 bf16 overflow overflow-f16 struct; do
  run "$what-ok" $what ok; silent
done
for what in carried mask integers places partial again; do run $what $what; silent; done
