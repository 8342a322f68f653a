#!/usr/bin/env bash
# Local variables of code that was compiled with -G have their names, types and indexes, in the
# kernel and in functions that it calls; nothing is called by a name that another one has.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
tests/lib/nvcc -w -g -G -arch=compute_75 -o "$TEST_DIR/frames" tests/viewer/frames.cu || exit 1
run=$TEST_DIR/frames.wg
"$WARPGRIND" --device=cpu --tool=none --record -q -o "$run" "$TEST_DIR/frames" || exit 1
sql() { "$WARPGRIND" sql "$run" "$1" | tail -n +2; }
check names [ "$(sql "select group_concat(x) from (select name || ' ' || coalesce(dims, '-') ||
  ' ' || bytes || ' ' || (address is not null) as x from kernel_variable where space = 'local'
  order by name)")" = "inner 2 16 1,p - 8 1,table 2,2 16 1" ]
check types [ "$(sql "select group_concat(x) from (select v.name || ' ' || t.name as x from
  kernel_variable v join type t on t.id = v.type where v.space = 'local' order by v.name)")" = \
  "inner Pair,p Pair,table float" ]
# stores of thread 3, in order, as SQL names them
check stores [ "$(sql "select group_concat(buffer || '+' || offset) from (select buffer, offset from
  access where thread = 3 and kind = 'store' and space = 'local')")" = \
  "p+0,p+4,table+0,table+4,table+8,table+12,inner+8,inner+12,inner+4" ]
