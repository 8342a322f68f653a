#!/usr/bin/env bash
# A library that was opened RTLD_LOCAL reaches its own NVRTC; on a GPU it gets the machine code it
# asks for.
set -u
. tests/gpumode/lib.sh
nvcc=$(command -v nvcc) || { echo "skip nvrtc: nvcc is not installed"; exit 0; }
root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
lib=
for d in "$root/lib64" "$root/lib"; do [ -e "$d/libnvrtc.so" ] && lib=$d && break; done
[ -n "$lib" ] || { echo "skip nvrtc: there is no libnvrtc beside nvcc"; exit 0; }
$CC -fPIC -shared -I"$root/include" -o "$TEST_DIR/plugin.so" tests/gpumode/nvrtc/plugin.c -L"$lib" \
  -lnvrtc -Wl,-rpath,"$lib" || exit 1
$CC -o "$TEST_DIR/program" tests/gpumode/nvrtc/program.c -ldl || exit 1
for device in gpu:"machine code" cpu:PTX; do
  said=$("$WARPGRIND" --device="${device%%:*}" --tool=none -q -- "$TEST_DIR/program" \
    "$TEST_DIR/plugin.so" 2>&1)
  if [ "$said" = "${device#*:}" ]; then
    echo "ok ${device%%:*}"
  else
    echo "FAIL ${device%%:*}"; echo "$said"
  fi
done
