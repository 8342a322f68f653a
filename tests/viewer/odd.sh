#!/usr/bin/env bash
# timeout: 500
# Questions about a run of odd things (odd.cu), in a browser too; runs without launches, of killed
# programs, and with names that are HTML.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
. tests/lib/check.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
tests/lib/nvcc -w -g -O3 -lineinfo -Iinclude -arch=compute_75 -o "$TEST_DIR/odd" \
  tests/viewer/odd.cu > "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"
  exit 1; }
"$WARPGRIND" --device=cpu --tool=none --record -q -o "$TEST_DIR/odd.wg" "$TEST_DIR/odd" > \
  "$TEST_DIR/out" 2> "$TEST_DIR/err" || { cat "$TEST_DIR/err"; echo "FAIL recording"; exit 1; }
check program grep -q "^1 20 1$" "$TEST_DIR/out"
serve "$TEST_DIR/odd.wg" || exit 1
python3 tests/viewer/odd.py "$URL"
node tests/viewer/odd.mjs "$URL" "$TEST_DIR/odd.png"
end_server
# The same, on a page without a server.
check static_page "$WARPGRIND" view --static "$TEST_DIR/page" "$TEST_DIR/odd.wg"
[ "${TEST_SIZE:-}" != long ] ||
  node tests/viewer/odd.mjs "file://$TEST_DIR/page/index.html" "$TEST_DIR/page.png" |
  sed 's/^ok /&static_/; s/^FAIL /&static_/'
# The same names, meant to harm.
"$WARPGRIND" --device=cpu --tool=none --record --kernel-exclude=outlier -q -o "$TEST_DIR/less.wg" \
  "$TEST_DIR/odd" > "$TEST_DIR/out" 2>&1
python3 tests/viewer/harm.py "$TEST_DIR/less.wg" "$TEST_DIR/evil.wg"
tests/lib/seal "$TEST_DIR/evil.wg"
serve "$TEST_DIR/evil.wg" || exit 1
node tests/viewer/evil.mjs "$URL"
end_server
check evil_page "$WARPGRIND" view --static "$TEST_DIR/evil" "$TEST_DIR/evil.wg"
node tests/viewer/evil.mjs "file://$TEST_DIR/evil/index.html" static
# Every text of a file, in every view: also of a profile, and of two runs that are compared.
tests/lib/nvcc -w -g -O3 -std=c++17 -lineinfo -Iinclude -arch=compute_75 -o "$TEST_DIR/profiled" \
  tests/viewer/profiled.cu > "$TEST_DIR/nvcc.log" 2>&1 || cat "$TEST_DIR/nvcc.log"
"$WARPGRIND" --device=cpu --tool=profile -q -o "$TEST_DIR/profile.wg" "$TEST_DIR/profiled" > \
  "$TEST_DIR/out" 2>&1
for name in less profile; do
  python3 tests/viewer/harm.py "$TEST_DIR/$name.wg" "$TEST_DIR/all-$name.wg" all
  tests/lib/seal "$TEST_DIR/all-$name.wg"
  options=()
  [ $name = less ] && options=(--compare="$TEST_DIR/evil.wg")
  serve "$TEST_DIR/all-$name.wg" "${options[@]}" || continue
  node tests/viewer/evil.mjs "$URL" $name
  end_server
done
# No launch at all, and a program that is killed while it runs.
cat > "$TEST_DIR/none.cu" << 'END'
#include <cstdio>
__global__ void never() {}
int main() {
  int *p;
  cudaMalloc(&p, 400); cudaMemset(p, 0, 400); cudaFree(p);
  puts("none");
  return 0;
}
END
cat > "$TEST_DIR/killed.cu" << 'END'
#include <csignal>
__global__ void step(int *p) { p[threadIdx.x] += 1; }
int main() {
  int *p;
  cudaMalloc(&p, 400); cudaMemset(p, 0, 400);
  for (int i = 0; i < 20; i++) step<<<1, 100>>>(p);
  cudaDeviceSynchronize();
  raise(SIGKILL);
}
END
for name in none killed; do
  tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/$name" "$TEST_DIR/$name.cu" > \
    "$TEST_DIR/nvcc.log" 2>&1 || { echo "FAIL $name: nvcc"; continue; }
  "$WARPGRIND" --device=cpu --tool=none --record -q -o "$TEST_DIR/$name.wg" "$TEST_DIR/$name" > \
    "$TEST_DIR/$name.out" 2>&1
  serve "$TEST_DIR/$name.wg" || continue
  node tests/viewer/plain.mjs "$URL" $name "$TEST_DIR/$name.png"
  end_server
done
