#!/usr/bin/env bash
# timeout: 300
# Programs that are linked with -lwarpgrind run by themselves, with a static runtime, with a shared
# one, with the driver's functions and with plugins; and with the command in front as others do.
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
linked() {  # OUT OPTION…: the same program, or a plugin of it
  local out=$1
  shift
  tests/lib/nvcc -std=c++17 -arch=sm_75 -lineinfo -Iinclude "$@" -o "$out" \
    tests/interrupts/programs/calls.cu || echo "FAIL build of $out"
}
libraries=(-L"$BUILD/lib" -Xlinker --no-as-needed -lwarpgrind -Xlinker -rpath="$BUILD/lib")
linked "${program}_shared" -cudart=shared "${libraries[@]}"
check shared_runtime bash -c "timeout 60 '${program}_shared' | diff '$expected' -"

# Plugins: the host is linked with the library, or the plugin is; each runtime lies in the plugin
# or beside it.
cat > "$TEST_DIR/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **args) {
  void *plugin = dlopen(args[1], RTLD_NOW | RTLD_LOCAL);
  int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "main") : 0;
  if (!run) puts(dlerror());
  return run ? run() : 1;
}
END
$CC -o "$TEST_DIR/plain_host" "$TEST_DIR/host.c" -ldl
$CC -o "$TEST_DIR/linked_host" "$TEST_DIR/host.c" -ldl -L"$BUILD/lib" -Wl,--no-as-needed \
  -lwarpgrind -Wl,-rpath="$BUILD/lib"
for runtime in static shared; do
  plugin=(-shared -Xcompiler -fPIC -cudart=$runtime)
  linked "$TEST_DIR/${runtime}_plugin.so" "${plugin[@]}"
  linked "$TEST_DIR/${runtime}_linked.so" "${plugin[@]}" "${libraries[@]}"
  check ${runtime}_plugin_of_host bash -c \
    "timeout 60 '$TEST_DIR/linked_host' '$TEST_DIR/${runtime}_plugin.so' | diff '$expected' -"
  check ${runtime}_plugin_alone bash -c \
    "timeout 60 '$TEST_DIR/plain_host' '$TEST_DIR/${runtime}_linked.so' | diff '$expected' -"
done
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
