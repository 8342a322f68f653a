#!/usr/bin/env bash
# quick: yes
# The probe runtime and the channel: natively, on the virtual device, and as PTX that assembles.
# timeout: 300
set -u
cd "$ROOT" || exit 1
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -Wno-address $san -pthread -Isrc \
  -I"$BUILD/gen" -Itests/count -o "$TEST_DIR/report_test" tests/weave/report_test.c \
  "$BUILD"/obj/{base,ptx,ir,weave,jit,vgpu,vgpu/*}/*.o "$BUILD"/obj/tools/tools.o \
    "$BUILD"/obj/tools/*/weave*.o "$BUILD/obj/probe/embedded.o" -lm -lrt -ldl ||
    { echo "FAIL report_test: does not compile"; exit 1; }
$CC -std=gnu11 -g -O1 -Wall -Wextra $san -pthread -Isrc -I"$BUILD/gen" -o "$TEST_DIR/native_test" \
  tests/weave/native_test.c || { echo "FAIL native_test: does not compile"; exit 1; }
"$TEST_DIR/native_test"
"$TEST_DIR/report_test" || echo "FAIL report_test: exit code $?"

# what the probes make of the test kernels is PTX, for old targets and new ones
command -v ptxas >/dev/null || { echo "skip assemble: ptxas is not installed"; exit 0; }
SHOW=1 "$TEST_DIR/report_test" |
  awk -v dir="$TEST_DIR" '/^\.version/ { n++ } /^(ok|FAIL)/ { next } { print > (dir "/" n ".ptx") }'
for arch in sm_75 sm_90; do
  for f in "$TEST_DIR"/[0-9].ptx; do
    ptxas -arch=$arch -o /dev/null "$f" > "$TEST_DIR/ptxas.out" 2>&1 ||
      { echo "FAIL assemble: $f for $arch"; head -5 "$TEST_DIR/ptxas.out"; exit 1; }
  done
done
echo "ok assemble"
