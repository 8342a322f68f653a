#!/usr/bin/env bash
# quick: yes
# count is exact: closed formulas for hand-written kernels, and agreement with the simplest counting
# over random programs.
# timeout: 600
set -u
cd "$ROOT" || exit 1
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
for name in formulas_test random_test; do
  # shellcheck disable=SC2086
  $CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -Wno-address $san -pthread -Isrc \
    -Itests/count -o "$TEST_DIR/$name" tests/count/$name.c \
    "$BUILD"/obj/{base,ptx,ir,weave,jit,vgpu,vgpu/*}/*.o "$BUILD"/obj/tools/tools.o \
      "$BUILD"/obj/tools/*/weave*.o "$BUILD/obj/probe/embedded.o" -lm -lrt -ldl ||
      { echo "FAIL $name: does not compile"; exit 1; }
done
"$TEST_DIR/formulas_test" tests/count/cases.ptx || echo "FAIL formulas: exit code $?"
"$TEST_DIR/random_test" 1 "$([ "$SAN" = 0 ] && echo 600 || echo 100)" ||
  echo "FAIL random: exit code $?"
