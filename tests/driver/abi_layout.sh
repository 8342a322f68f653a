#!/bin/sh
# Compares src/cuda/abi.h with the cuda.h of an installed toolkit. Exit code 77: no toolkit here.
set -e
cd "$(dirname "$0")/../.."
nvcc=$(command -v nvcc) || { echo "skipped: nvcc is not installed"; exit 77; }
include=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include
[ -f "$include/cuda.h" ] || { echo "skipped: no cuda.h beside nvcc"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
${CC:-cc} -std=gnu11 -w -Isrc tests/driver/abi_layout.c -o "$out/ours"
${CC:-cc} -std=gnu11 -w -DTOOLKIT -D__CUDA_API_VERSION_INTERNAL -Isrc -I"$include" \
  tests/driver/abi_layout.c -o "$out/theirs"
"$out/ours" > "$out/ours.txt"
"$out/theirs" > "$out/theirs.txt"
diff "$out/ours.txt" "$out/theirs.txt"
echo "$(wc -l < "$out/ours.txt") sizes, offsets and values agree"
