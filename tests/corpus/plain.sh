#!/bin/bash
# tools/corpus over a folder of its own: one program that passes, one that says FAIL, one that does
# not compile.
command -v nvcc > /dev/null 2>&1 || { echo "nvcc is not installed"; exit 77; }
command -v python3 > /dev/null 2>&1 || { echo "python3 is not installed"; exit 77; }
set -eu
mkdir -p "$TEST_DIR/programs"
cat > "$TEST_DIR/programs/good.cu" <<'END'
#include <stdio.h>
__global__ void set(int *p) { *p = 7; }
int main() {
  int *d, h = 0;
  cudaMalloc(&d, 4);
  set<<<1, 1>>>(d);
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
  puts(h == 7 ? "PASS" : "FAIL");
  return 0;
}
END
sed 's/h == 7/h == 8/' "$TEST_DIR/programs/good.cu" > "$TEST_DIR/programs/wrong.cu"
echo 'int main() { return no_such_thing; }' > "$TEST_DIR/programs/broken.cu"
out=$(tools/corpus "$TEST_DIR/programs" --out "$TEST_DIR/out" --warpgrind "$WARPGRIND" --arch 75 \
  --markdown "$TEST_DIR/table.md")
echo "$out"
echo "$out" | grep -q '^pass .*plain/good'
echo "$out" | grep -q '^fail .*plain/wrong'
echo "$out" | grep -q '^build failure .*plain/broken .*no_such_thing'
echo "$out" | grep -q '^1 pass, 1 fail, 1 build failure$'
grep -q 'Pass: good' "$TEST_DIR/table.md"
! ls "$TEST_DIR/programs" | grep -v '\.cu$'
