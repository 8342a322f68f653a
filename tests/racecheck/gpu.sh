#!/usr/bin/env bash
# The programs of this folder on the real GPU: every race is found there, too, and nothing else.
export TEST_DEVICE=gpu RACECHECK_QUICK=1
top=$TEST_DIR folder=$(dirname "$0")
. "$ROOT/tests/lib/abreast.sh"
ORACLE_SEEDS=4 ORACLE_KERNELS=20 abreast oracle bash "$folder/oracle.sh"
for f in "$folder"/programs/*.cu; do
  TEST_ONLY=$(basename "$f" .cu) abreast "programs.$(basename "$f" .cu)" bash "$folder/programs.sh"
done
for what in read write set later first rows pinned copies free; do
  RACECHECK_COPIES=$what abreast "copies.$what" bash "$folder/copies.sh"
done
wait
