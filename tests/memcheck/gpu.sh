#!/usr/bin/env bash
# The programs of this folder on the real GPU: the findings are those of the virtual device. One after the other: one takes all of the memory.
export MEMCHECK_DEVICE=gpu HEAP_DEVICE=gpu
top=$TEST_DIR
for script in memcheck heap; do
  mkdir -p "$top/$script"
  TEST_DIR=$top/$script bash "$(dirname "$0")/$script.sh"
done
