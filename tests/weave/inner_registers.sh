#!/usr/bin/env bash
# Registers that braces declare: a check outside of them that reads one, and a check inside that
# reads another register of the same name. The braces go, and their register gets a name of its own.
set -u
d=$TEST_DIR f=$ROOT/tests/weave/inner_registers.ptx
command -v ptxas > /dev/null || { echo "skip: ptxas is not installed"; exit 77; }
for tool in count memcheck initcheck racecheck synccheck fpcheck profile record; do
  "$WARPGRIND" ptx --tool=$tool "$f" > "$d/$tool.ptx" &&
    ptxas -c -arch=sm_80 -o /dev/null "$d/$tool.ptx" && echo "ok $tool" || echo "FAIL $tool"
done
for k in moved hidden; do
  sed -n "/^\.visible \.entry $k(/,/^}/p" "$d/memcheck.ptx" | grep -q '_in0_, \|_in0_;' &&
    echo "ok $k" || echo "FAIL $k: its inner register has no name of its own"
done
