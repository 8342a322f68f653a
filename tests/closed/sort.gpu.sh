#!/usr/bin/env bash
# No kernel drags another down: CUB's radix sort and scan, and a kernel with tight launch bounds,
# linked as one program (-rdc=true) and not, are checked to the last launch by every tool.
set -u
folder=$(dirname "$0")/programs
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
target="-gencode arch=compute_$sm,code=[sm_$sm,compute_$sm]"
# shellcheck disable=SC2086
for way in plain rdc; do
  nvcc -O2 $target $([ $way = rdc ] && echo -rdc=true) -o "$TEST_DIR/$way" "$folder/sort.cu" > \
    "$TEST_DIR/$way.nvcc" 2>&1 &
done
wait
for way in plain rdc; do
  [ -x "$TEST_DIR/$way" ] || { echo "FAIL $way: nvcc"; cat "$TEST_DIR/$way.nvcc"; exit 1; }
  "$TEST_DIR/$way" > "$TEST_DIR/$way.out"
  for tool in memcheck initcheck fpcheck racecheck synccheck; do
    (timeout 150 "$WARPGRIND" --device=gpu --tool=$tool "$TEST_DIR/$way" > \
      "$TEST_DIR/$way.$tool.out" 2> "$TEST_DIR/$way.$tool.log"
     echo $? > "$TEST_DIR/$way.$tool.code") &
  done
done
wait
for way in plain rdc; do
  for tool in memcheck initcheck fpcheck racecheck synccheck; do
    log=$TEST_DIR/$way.$tool.log
    code=$(cat "$TEST_DIR/$way.$tool.code")
    if [ "$code" = 0 ] && grep -q "coverage ($tool): .*(100%)" "$log" &&
      cmp -s "$TEST_DIR/$way.out" "$TEST_DIR/$way.$tool.out"; then echo "ok $way $tool"
    else echo "FAIL $way $tool"; head -n 30 "$log"; fi
  done
done
