#!/usr/bin/env bash
# A round of an interrupt is a step between the two parts of its kernel, with its callers, what
# they passed and what the handler returned; a value that a thread goes on with leads back to it.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/viewer/lib.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
tests/lib/nvcc -w -g -std=c++17 -lineinfo -arch=compute_75 -Iinclude -o "$TEST_DIR/interrupts" \
  tests/viewer/interrupts.cu || exit 1
run=$TEST_DIR/interrupts.wg
check prints [ "$("$WARPGRIND" --device=cpu --tool=none --record -q -o "$run" \
  "$TEST_DIR/interrupts")" = "301 1001" ]
sql() { "$WARPGRIND" sql "$run" "$1" | tail -n +2; }
check steps [ "$(sql "select group_concat(x) from (select coalesce(k.readable, s.call) as x from
  step s left join launch l on l.id = s.launch left join kernel k on k.id = l.kernel where s.kind =
  'launch' or s.call like 'interrupt %' order by s.id)")" = \
  "ask(int*, int const*, int),interrupt lookup,resumed ask(int*, int const*, int)" ]
seven=0A000000000000000000604000000000  # key 10, weight 3.5
check callers [ "$(sql "select group_concat(thread || ' ' || hex(arguments) || ' ' || hex(result))
  from interrupt_caller where number in (0, 7)")" = \
  "0 03000000000000000000000000000000 2C01000000000000,7 $seven E803000000000000" ]
command -v node > /dev/null && command -v chromium > /dev/null || { echo "skip page: no chromium"
  exit 0; }
serve "$run" || exit 1
node tests/viewer/interrupts.mjs "$URL" "$TEST_DIR/interrupts.png"
end_server
