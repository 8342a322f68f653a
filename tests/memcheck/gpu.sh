#!/usr/bin/env bash
# The programs of this folder on the real GPU: the findings are those of the virtual device. One
# takes all of the memory: by itself, at the end.
export TEST_DEVICE=gpu
top=$TEST_DIR folder=$(dirname "$0")
. "$ROOT/tests/lib/abreast.sh"
for f in "$folder"/programs/*.cu; do
  TEST_ONLY=$(basename "$f" .cu) abreast "programs.$(basename "$f" .cu)" bash "$folder/memcheck.sh"
done
for f in "$folder"/heap/*.cu; do
  [ "$(basename "$f")" = all_memory.cu ] || TEST_ONLY=$(basename "$f" .cu) abreast \
    "heap.$(basename "$f" .cu)" bash "$folder/heap.sh"
done
wait
TEST_ONLY=all_memory abreast heap.all_memory bash "$folder/heap.sh"
wait
