#!/usr/bin/env bash
# timeout: 500
# Eleven programs with bugs that no tool names for them: their causes are found by clicks and keys
# only, as docs/tutorial.md teaches, in the number of steps that it says. Their twins are right.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
# build NAME: $TEST_DIR/NAME
build() {
  tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/$1" \
    "tests/viewer/hunts/$1.cu" > "$TEST_DIR/$1.log" 2>&1 ||
    { cat "$TEST_DIR/$1.log"; echo "FAIL $1: nvcc"; return 1; }
}
for name in heat rope panorama normalise weights flock levels torus words particles waves; do
  # the race of normalise shows only where warps do not keep step
  options=(--tool=memcheck,initcheck)
  [ $name = normalise ] && options=(--tool=none --seed=5)
  build $name && build ${name}_ok || continue
  "$WARPGRIND" --device=cpu --workers=1 -q "${options[@]}" "$TEST_DIR/${name}_ok" > \
    "$TEST_DIR/${name}_ok.out" 2> "$TEST_DIR/${name}_ok.err"
  if grep -q '^right' "$TEST_DIR/${name}_ok.out" && ! [ -s "$TEST_DIR/${name}_ok.err" ]; then
    echo "ok ${name}_twin"
  else cat "$TEST_DIR/${name}_ok."???; echo "FAIL ${name}_twin"
  fi
  "$WARPGRIND" --device=cpu --workers=1 -q "${options[@]}" --record -o "$TEST_DIR/$name.wg" \
    "$TEST_DIR/$name" > "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.err"
  grep -q '^WRONG' "$TEST_DIR/$name.out" && ! [ -s "$TEST_DIR/$name.err" ] ||
    { cat "$TEST_DIR/$name.out" "$TEST_DIR/$name.err"; echo "FAIL $name: recording"; continue; }
  serve "$TEST_DIR/$name.wg" || continue
  node tests/viewer/hunts.mjs $name "$URL" "$TEST_DIR" | tee "$TEST_DIR/$name.walk"
  end_server
  # the tutorial's table: | `name` | … | steps |
  steps=$(sed -n "s/^ok $name in \([0-9]*\) steps/\1/p" "$TEST_DIR/$name.walk")
  if grep -q "^| \`$name\` .*| $steps |\$" docs/tutorial.md; then echo "ok ${name}_table"
  else echo "FAIL ${name}_table: docs/tutorial.md does not say ${steps:-?} steps"
  fi
done
