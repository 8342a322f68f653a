#!/usr/bin/env bash
# The programs of this folder on the real GPU: the findings are those of the virtual device.
export INITCHECK_DEVICE=gpu
top=$TEST_DIR
for script in programs memory; do
  mkdir -p "$top/$script"
  TEST_DIR=$top/$script bash "$(dirname "$0")/$script.sh" > "$top/$script/output" 2>&1 &
done
wait
cat "$top/programs/output" "$top/memory/output"
