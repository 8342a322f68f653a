#!/bin/sh
# A program that asks NVRTC for machine code gets PTX of the same architecture.
set -e
nvcc=$(command -v nvcc) || { echo "skipped: nvcc is not installed"; exit 77; }
root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
lib=
for d in "$root/lib64" "$root/lib"; do [ -e "$d/libnvrtc.so" ] && lib=$d && break; done
[ -n "$lib" ] || { echo "skipped: there is no libnvrtc beside nvcc"; exit 77; }
${CC:-cc} -std=gnu11 -Isrc -Itests/driver -I"$root/include" -pthread tests/driver/nvrtc/program.c \
  -o "$TEST_DIR/program" \
  -L"$lib" -lnvrtc -Wl,-rpath,"$lib" -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined
"$WARPGRIND" --device=cpu --tool=none -q -- "$TEST_DIR/program"
