#!/usr/bin/env bash
# What cannot be suspended is refused by name and place before the launch: refused.def.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
refused() {  # NAME ARCH REASON CODE
  local file=$TEST_DIR/$1.cu
  cat > "$file" << END
#include "warpgrind.h"
WG_INTERRUPT(f, void(int x));
__global__ void kernel(int *out) {
  __shared__ __align__(128) int s[64];
  unsigned at = (unsigned)__cvta_generic_to_shared(s), r = threadIdx.x;
  f(threadIdx.x);
  asm volatile("{ $4 }" : "+r"(at), "+l"(out), "+r"(r) : : "memory");
}
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) {}
END
  tests/lib/nvcc -std=c++17 -lineinfo -arch="$2" -Iinclude -ptx -o "$TEST_DIR/$1.ptx" "$file" ||
    return 1
  "$WARPGRIND" ptx --interrupts "$TEST_DIR/$1.ptx" > /dev/null 2> "$TEST_DIR/err"
  has "$TEST_DIR/err" "kernel _Z6kernelPi calls interrupts and cannot be suspended at" &&
    has "$TEST_DIR/err" "$1.cu:7: $3"
}
check_last() { [ -z "$name" ] || check "$name" refused "$name" "$arch" "$reason" "$code"; }
name=
while IFS= read -r line; do
  case $line in
    "#"*) ;;
    " "*) code+=$line ;;
    *)
      check_last
      read -r name arch reason <<< "$line"
      code= ;;
  esac
done < tests/interrupts/refused.def
check_last
