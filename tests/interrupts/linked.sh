#!/usr/bin/env bash
# timeout: 300
# Programs that are linked with -lwarpgrind run by themselves, with a static runtime and with the
# driver's functions; and with the command in front as others do.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
export WARPGRIND_DEVICE=${TEST_DEVICE:-cpu}
program=$TEST_DIR/calls
expected=tests/interrupts/programs/calls.expected
tests/lib/nvcc -std=c++17 -arch=sm_75 -lineinfo -Iinclude -o "$program" \
  tests/interrupts/programs/calls.cu -L"$BUILD/lib" -Xlinker --no-as-needed -lwarpgrind \
  -Xlinker -rpath="$BUILD/lib" ||
  { echo "FAIL build"; exit 1; }
check static_runtime bash -c "timeout 60 '$program' | diff '$expected' -"
check with_command bash -c \
  "timeout 60 '$WARPGRIND' -q --device=$WARPGRIND_DEVICE --tool=none '$program' |
   diff '$expected' -"
check with_memcheck bash -c \
  "timeout 60 '$WARPGRIND' -q --device=$WARPGRIND_DEVICE --tool=memcheck '$program' |
   diff '$expected' -"
cat > "$TEST_DIR/driver.c" <<'END'
#include <stdio.h>
int cuInit(unsigned), cuDeviceGetCount(int *);
int main(void) {
  int n = 0, result = cuInit(0);
  if (!result) result = cuDeviceGetCount(&n);
  printf("%d %d\n", result, n > 0);
}
END
$CC -o "$TEST_DIR/driver" "$TEST_DIR/driver.c" -L"$BUILD/lib" -lwarpgrind \
  -Wl,-rpath="$BUILD/lib"
check driver bash -c "timeout 60 '$TEST_DIR/driver' | grep -qx '0 1'"
