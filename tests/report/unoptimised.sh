#!/usr/bin/env bash
# timeout: 300
# unoptimised.cu, compiled with -G: the lines of the program with a kind in their comment are those
# of the report. Without its mistakes it is silent.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
cp tests/report/unoptimised.cu "$TEST_DIR/"
cd "$TEST_DIR" || exit 1
nvcc -w -G -arch=compute_75 -o program unoptimised.cu > nvcc.log 2>&1 || { cat nvcc.log
  echo "FAIL nvcc"; exit 1; }
# findings KIND…: those of the program's annotations, but for these kinds
findings() { python3 "$ROOT/tests/lib/findings.py" unoptimised.cu wrong.json "${@/#/--without=}"; }
for tool in memcheck fpcheck; do
  "$WARPGRIND" --device=cpu --tool=$tool --json=wrong.json -- ./program wrong > out 2> err
  if [ $tool = memcheck ]; then
    check $tool findings fp-nan fp-inf
  else
    check $tool findings oob-atomic
  fi
  "$WARPGRIND" --device=cpu --tool=$tool --json=right.json -- ./program > out 2> err
  check ${tool}_right has right.json '"findings":[]'
done
