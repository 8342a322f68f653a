#!/usr/bin/env bash
# --tool=count says the same on both devices: nothing is lost or counted twice on the way through
# the proxy (contexts that end, modules that are unloaded, graphs that are captured, cloned, updated
# and launched again).
set -u
. tests/gpumode/lib.sh
counts() {
  sed -n 's/^==[0-9]*== *//p' "$1" |
    sed -n '/^count: kernel/{s/^count: kernel //;h;n;s/:.*//;H;x;s/\n/ /;p}' |
    grep -v ' 0 instructions\|^spin ' | sort
}
for name in graphs_by_hand graphs_capture modules per_thread; do
  TEST_FILE=tests/driver/$name.c
  compile_c "$TEST_DIR/program" > "$TEST_DIR/said" 2>&1 || { echo "FAIL $name"
    cat "$TEST_DIR/said"; continue; }
  for device in cpu gpu; do
    "$WARPGRIND" --device=$device --tool=count --workers=1 -- "$TEST_DIR/program" > \
      "$TEST_DIR/out" 2> "$TEST_DIR/err"
    counts "$TEST_DIR/err" > "$TEST_DIR/$device"
  done
  if [ -s "$TEST_DIR/cpu" ] && diff "$TEST_DIR/cpu" "$TEST_DIR/gpu" > "$TEST_DIR/diff"
    then echo "ok $name"
  else echo "FAIL $name"; cat "$TEST_DIR/cpu" "$TEST_DIR/diff"; tail -n 5 "$TEST_DIR/err"; fi
done
