#!/usr/bin/env bash
# The programs of this folder and the examples on the real GPU: the findings are those of the
# virtual device, and counting is quick: a launch of 100 million threads that each make a NaN ends
# within a few seconds. Scripts in Python: those whose framework can be imported.
export TEST_DEVICE=gpu FPCHECK_MANY=100000000
top=$TEST_DIR folder=$(dirname "$0")
. "$ROOT/tests/lib/abreast.sh"
for script in functions births launches flow situations across examples frameworks together
  do abreast $script bash "$folder/$script.sh"; done
wait
for mode in full fast; do
  ms=$(sed -n "s/^many $mode: launch: \([0-9]*\).*/\1/p" "$top/situations/output")
  if [ "${ms:-99999}" -lt 3000 ]; then
    echo "ok many: quick, $mode ($ms ms)"
  else
    echo "FAIL many: quick, $mode: ${ms:-no} ms"
  fi
done
