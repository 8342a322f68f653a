#!/usr/bin/env bash
# timeout: 600
# PTX cut into pieces: small texts whose pieces are known, and real ones, where every piece must
# assemble to the machine code that its kernels have in the whole.
set -u
cd "$ROOT" || exit 1
# shellcheck disable=SC2046
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined -pthread -Isrc -I"$BUILD/gen" \
  -o "$TEST_DIR/split" tests/gpumode/modules_split.c src/gpu/modules/split.c \
    $(ls src/base/*.c) -lrt || { echo "FAIL build"; exit 1; }
export ASAN_OPTIONS=detect_leaks=0
"$TEST_DIR/split"
ptxas=$(command -v ptxas) || { echo "skip pieces: ptxas is not installed"; exit 0; }

# same_pieces NAME FILE
same_pieces() {
  local name=$1 file=$2 folder=$TEST_DIR/pieces arch piece
  rm -rf "$folder"; mkdir -p "$folder"
  arch=$(sed -n 's/^\.target *\(sm_[0-9]*[a-z]*\).*/\1/p' "$file" | head -n 1)
  # for another ptxas than this one
  "$ptxas" -arch="$arch" -o "$folder/whole.cubin" "$file" 2> /dev/null || return 0
  "$TEST_DIR/split" "$file" "$folder" || { echo "FAIL $name"; return; }
  for piece in "$folder"/*.ptx; do
    "$ptxas" -arch="$arch" -o "${piece%.ptx}.cubin" "$piece" ||
      { echo "FAIL $name: $(basename "$piece") does not assemble"; return; }
  done
  rm "$folder"/*.ptx
  mv "$folder/whole.cubin" "$folder/whole"
  if python3 tests/gpumode/modules_split.py "$folder/whole" "$folder"/*.cubin; then
    echo "ok $name"
  else
    echo "FAIL $name"
  fi
}
for f in examples/*/ptx/*.ptx; do same_pieces "$(basename "$f" .ptx)" "$f"; done
if nvcc=$(command -v nvcc); then
  for f in tests/ptx/src/*.cu tests/runtime/symbols.cu; do
    "$nvcc" -std=c++17 -arch=compute_90a -lineinfo -Itests/lib -ptx -o "$TEST_DIR/whole.ptx" "$f" \
      > "$TEST_DIR/nvcc.log" 2>&1 || continue
    same_pieces "$(basename "$f" .cu)" "$TEST_DIR/whole.ptx"
  done
fi
