#!/usr/bin/env bash
# quick: yes
# What src/sass reads in machine code: kernels of stores.cu, compiled for each generation. What a
# kernel stores is said by the comment before it.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "skipped: there is no nvcc"; exit 0; }
san=
[ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -Wall $san -Isrc -o "$TEST_DIR/stores" tests/sass/stores.c "$BUILD"/obj/sass/*.o \
  "$BUILD"/obj/image/*.o "$BUILD"/obj/base/*.o -lzstd -llz4 -pthread || exit 1
code=0
# From what generation on a kernel exists: the lines between #if and #endif.
expected() {
  awk -v sm="$1" '/^#if .*__CUDA_ARCH__ >= 800/ { off = sm < 80 } /^#endif/ { off = 0 }
    /^\/\/ stores: / { want = substr($0, 12) }
    /^K / { sub(/\(.*/, "", $2); if (!off) print $2 "\t" want }' tests/sass/stores.cu
}
for sm in 75 80 90 100 120; do
  nvcc -cubin -arch=sm_$sm -o "$TEST_DIR/$sm.cubin" tests/sass/stores.cu || { echo "FAIL nvcc $sm"
    code=1; continue; }
  while IFS=$'\t' read -r kernel want; do
    got=$("$TEST_DIR/stores" "$TEST_DIR/$sm.cubin" "$kernel")
    if [ "$got" = "$want" ]; then echo "ok sm_$sm $kernel"
    else echo "FAIL sm_$sm $kernel: $got; expected: $want"; code=1; fi
  done < <(expected $sm)
  # what they load through
  for pair in scale:0 gathers:'0 8' by_value:'16 24' fills: copies:0; do
    got=$("$TEST_DIR/stores" "$TEST_DIR/$sm.cubin" "${pair%%:*}" loads)
    if [ "$got" = "${pair#*:}" ]; then echo "ok sm_$sm loads of ${pair%%:*}"
    else echo "FAIL sm_$sm loads of ${pair%%:*}: $got; expected: ${pair#*:}"; code=1; fi
  done
done
exit $code
