#!/usr/bin/env bash
# The headers compile without a warning in C and in every standard of C++ from C++11 on, for the
# host and for the device. nvcc 12 knows the same standards as nvcc 13.
set -u
. tests/lib/check.sh
printf '#include "warpgrind.h"\nint main(void) { return 0; }\n' > "$TEST_DIR/host.c"
cp "$TEST_DIR/host.c" "$TEST_DIR/host.cpp"
silent() {  # COMMAND…
  "$@" > "$TEST_DIR/out" 2>&1 && [ ! -s "$TEST_DIR/out" ] && return
  cat "$TEST_DIR/out"
  return 1
}
for standard in c99 c11; do
  check "$standard" silent "$CC" -std=$standard -Wall -Wextra -Wpedantic -Iinclude -fsyntax-only \
    "$TEST_DIR/host.c"
done
for compiler in g++ clang++; do
  command -v $compiler > /dev/null || { echo "skip $compiler: it is not installed"; continue; }
  for standard in c++11 c++14 c++17 c++20; do
    check "$compiler.$standard" silent $compiler -std=$standard -Wall -Wextra -Iinclude \
      -fsyntax-only "$TEST_DIR/host.cpp"
  done
done
command -v nvcc > /dev/null || { echo "skip nvcc: it is not installed"; exit 0; }
cat > "$TEST_DIR/device.cu" << 'END'
#include "warpgrind_functions.h"
WG_INTERRUPT_OR(lookup, int(int key, double scale), -1);
__global__ void kernel(int *out) {
  wg_assert(out[0] > 0, out[0]);
  out[1] = lookup(out[0], 0.5);
  wg_printf("%d\n", out[1]);
}
WG_HANDLER(lookup, wg_callers &callers, wg_list<int> key, wg_list<double> scale,
           wg_results<int> found) {
  for (size_t i = 0; i < callers.size(); i++) found[i] = (int)(key[i] * scale[i]);
}
END
for standard in $(nvcc --help | grep -oE 'c\+\+(11|14|17|20)' | sort -u); do
  check "nvcc.$standard" silent nvcc -std="$standard" -Iinclude -ptx -o "$TEST_DIR/$standard.ptx" \
    "$TEST_DIR/device.cu"
  check "suspended.$standard" silent bash -c \
    "'$WARPGRIND' ptx --interrupts '$TEST_DIR/$standard.ptx' > '$TEST_DIR/split.ptx'"
done
