#!/usr/bin/env bash
# The programs of this folder on the real GPU: every race is found there, too, and nothing else.
export RACECHECK_DEVICE=gpu RACECHECK_QUICK=1
top=$TEST_DIR
names=$(cd "$ROOT/tests/racecheck/programs" && ls *.cu)
for name in $names; do
  mkdir -p "$top/$name"
  TEST_DIR=$top/$name RACECHECK_ONLY=${name%.cu} bash "$(dirname "$0")/programs.sh" > "$top/$name/output" 2>&1 &
done
for what in read write set later first rows pinned copies free; do
  mkdir -p "$top/copies.$what"
  TEST_DIR=$top/copies.$what RACECHECK_COPIES=$what bash "$(dirname "$0")/copies.sh" > "$top/copies.$what/output" 2>&1 &
done
mkdir -p "$top/oracle"
TEST_DIR=$top/oracle ORACLE_SEEDS=4 ORACLE_KERNELS=20 bash "$(dirname "$0")/oracle.sh" > "$top/oracle/output" 2>&1 &
wait
cat "$top/oracle/output" "$top"/copies.*/output
for name in $names; do cat "$top/$name/output"; done
