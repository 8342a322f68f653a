#!/usr/bin/env bash
# quick: yes
# Reports call registers as the program does, also where a tool works on a renamed copy of the
# kernel.
set -u
. tests/lib/steps.sh
host=$(ptxhost) || exit 1
for tool in fpcheck memcheck,fpcheck initcheck,fpcheck all; do
  "$WARPGRIND" --device=cpu --tool=$tool "$host" tests/weave/wide_registers.ptx > "$TEST_DIR/said" \
    2>&1
  said=$(sed -n 's/^==[0-9]*== *instruction: //p' "$TEST_DIR/said" | sort -u)
  if [ "$said" = 'div.rn.f32 %f2, %f1, %f1;' ]; then
    echo "ok $tool"
  else
    cat "$TEST_DIR/said"; echo "FAIL $tool: $said"
  fi
done
