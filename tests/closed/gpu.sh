#!/usr/bin/env bash
# Kernels that are machine code only, on the real GPU: what memcheck finds by patches. Each program
# has a correct twin, which is silent.
set -u
folder=$(dirname "$0")/programs
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
code="-gencode arch=compute_$sm,code=sm_$sm"
bad() { echo "FAIL $1: $2"; sed 's/^/  /' "$TEST_DIR/$1.log" | head -n 40; }

# shellcheck disable=SC2086
build() { nvcc $code -o "$TEST_DIR/$1" "$folder/$1.cu" ${2:-} > "$TEST_DIR/$1.nvcc" 2>&1; }

# run NAME PROGRAM ARGUMENTS...: the report is in $log
run() {
  name=$1 log=$TEST_DIR/$1.log
  shift
  "$WARPGRIND" --device=gpu --tool=memcheck "$@" > "$TEST_DIR/$name.out" 2> "$log"
  exit_code=$?
}
# The report has each of these.
expect() {
  local line
  for line; do
    grep -qF -- "$line" "$log" || { bad "$name" "the report lacks: $line"; return 1; }
  done
  [ $exit_code = 99 ] || { bad "$name" "exit code $exit_code"; return 1; }
  echo "ok $name"
}
# Nothing is found, and all launches were checked.
silent() {
  grep -q 'ERROR SUMMARY: 0 errors' "$log" || { bad "$name" "something is found"; return 1; }
  grep -q 'coverage (memcheck): .*(100%)' "$log" || { bad "$name" "not all launches are checked"
    return 1; }
  [ $exit_code = 0 ] || { bad "$name" "exit code $exit_code"; return 1; }
  echo "ok $name"
}

if build accesses; then
  program=$TEST_DIR/accesses
  for what in write read atomic async struct indirect freed streams reset; do
    run "$what-ok" "$program" $what ok; silent
  done
  run write "$program" write
  expect 'oob-write' 'in the machine code of store(int*, int)' '100%' \
    ', 1 of them in machine code' '2 errors from 1 places'
  run read "$program" read; expect 'oob-read' 'in the machine code of load('
  run atomic "$program" atomic; expect 'oob-atomic' 'in the machine code of add('
  run async "$program" async; expect 'oob-read' 'in the machine code of copy_async('
  run struct "$program" struct; expect 'oob-write' 'in the machine code of store_all(' \
    '6 errors from 3 places'
  run indirect "$program" indirect; expect 'oob-write' 'in the machine code of store_indirect('
  run freed "$program" freed; expect 'use-after-free' 'in the machine code of store('
  run streams "$program" streams; expect 'oob-write' 'launch 486' '2 errors from 1 places'
  run reset "$program" reset; expect 'oob-write'
  run all-ok --tool=all "$program" write ok
  if grep -q 'ERROR SUMMARY: 0 errors' "$log"; then
    echo "ok all-ok"
  else
    bad all-ok "something is found"
  fi
  run every --closed-every=100 "$program" streams ok
  if grep -qE 'coverage .memcheck.: [1-9][0-9]* launches \([0-9]%\)' "$log"; then
    echo "ok every"
  else
    bad every "--closed-every=100 does not check few launches"
  fi
  run skip --closed=skip "$program" write
  if grep -q 'NOTHING WAS CHECKED' "$log"; then
    echo "ok skip"
  else
    bad skip "--closed=skip checks"
  fi
  run missing --closed-library=/nowhere/libsanitizer-public.so "$program" write
  if grep -q 'the library that --closed-library names cannot be loaded' "$log"; then
    echo "ok missing"
  else
    bad missing "does not say why"
  fi
else
  echo "FAIL accesses: nvcc"; cat "$TEST_DIR/accesses.nvcc"
fi
if build cublas -lcublas; then
  run cublas-ok "$TEST_DIR/cublas" ok; silent
  run cublas "$TEST_DIR/cublas"; expect 'oob-write' 'in the machine code of'
else
  echo "skip cublas: $(tail -n 1 "$TEST_DIR/cublas.nvcc")"
fi
