#!/usr/bin/env bash
# A recording shows a round of an interrupt as a step between the two parts of its kernel, with
# callers, arguments and results: on the virtual device, in GPU mode, and on a GPU.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
. tests/lib/steps.sh
program=$TEST_DIR/interrupts run=$TEST_DIR/run.wg
sql() { "$WARPGRIND" sql "$run" "$1" | tail -n +2; }
steps="ask(int*, int const*, int),interrupt lookup,resumed ask(int*, int const*, int)"
seven=0A000000000000000000604000000000  # key 10, weight 3.5
recorded() {  # DEVICE SUFFIX OPTION…: of nvcc
  local device=$1 suffix=$2
  shift 2
  tests/lib/nvcc -w -std=c++17 -lineinfo -arch=compute_75 -Iinclude "$@" -o "$program$suffix" \
    tests/viewer/interrupts.cu || { echo "FAIL build$suffix"; return; }
  rm -f "$run"
  check "prints$suffix" [ "$(timeout 60 "$WARPGRIND" --device="$device" --tool=none --record -q \
    -o "$run" "$program$suffix")" = "301 1001" ]
  check "steps$suffix" [ "$(sql "select group_concat(x) from (select coalesce(k.readable, s.call)
    as x from step s left join launch l on l.id = s.launch left join kernel k on k.id = l.kernel
    where s.kind = 'launch' or s.call like 'interrupt %' order by s.id)")" = "$steps" ]
  check "types$suffix" [ "$(sql "select param_bytes from interrupt")" = "4s,4f=4s" ]
  check "callers$suffix" [ "$(sql "select group_concat(c) from (select thread || ' ' ||
    hex(arguments) || ' ' || hex(result) as c from interrupt_caller where number in (0, 7))")" = \
    "0 03000000000000000000000000000000 2C01000000000000,7 $seven E803000000000000" ]
}
recorded "${TEST_DEVICE:-cpu}" ""
[ "${TEST_DEVICE:-cpu}" = cpu ] || exit 0
. tests/gpumode/lib.sh
shared_runtime
recorded gpu .gpu -cudart=shared
