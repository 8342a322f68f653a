#!/usr/bin/env bash
# The programs of this folder on the real GPU: the findings are those of the virtual device.
export TEST_DEVICE=gpu
top=$TEST_DIR folder=$(dirname "$0")
. "$ROOT/tests/lib/abreast.sh"
for kind in programs memory; do
  for f in "$folder/$kind"/*.cu; do
    TEST_ONLY=$(basename "$f" .cu) abreast "$kind.$(basename "$f" .cu)" bash "$folder/$kind.sh"
  done
done
wait
