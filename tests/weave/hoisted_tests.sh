#!/usr/bin/env bash
# Tests of indices in loops that get a copy without checks: the copy does without a test that says
# the same in every turn, and every index outside is reported as often as it is used.
set -u
. tests/lib/check.sh
. tests/lib/steps.sh
d=$TEST_DIR f=tests/weave/index_loops.ptx
host=$(ptxhost) || exit 1
"$WARPGRIND" ptx --tool=memcheck $f > "$d/woven.ptx"
# the woven kernel
kernel() { sed -n "/^\.visible .entry $1(/,/^}/p" "$d/woven.ptx"; }
# lines KERNEL PATTERN N
lines() { [ "$(kernel "$1" | grep -c "$2")" = "$3" ]; }
for k in same counts; do
  check "${k}_has_copy" lines $k ld.global.u32 2
done
check same_is_asked_before lines same and.pred 1
check same_is_not_in_copy lines same 'or.pred\|mov.pred' 2
check counts_stays_in_copy lines counts and.pred 0
if command -v ptxas > /dev/null; then
  check assembles ptxas -arch=sm_80 -o /dev/null "$d/woven.ptx"
else
  echo "skip assembles: ptxas is not installed"
fi
for jit in off always; do
  "$WARPGRIND" --device=cpu --jit=$jit --tool=memcheck "$host" $f 2> "$d/err"
  check "same_$jit" has "$d/err" " 20 times: oob-index in kernel same"
  check "counts_$jit" has "$d/err" " 64 times: oob-index in kernel counts"
done
