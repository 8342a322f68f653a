#!/usr/bin/env bash
# timeout: 1200
# --tool=all on every example, on the virtual device and behind the driver proxy: the errors and
# warnings of all tools, each at its line, and no others; no error about the correct twins.
set -u
. tests/gpumode/lib.sh
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"
  exit 1; }
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} WARPGRIND
number=0
for report in examples/${ALL_ONLY:-*}/report.txt; do
  name=$(basename "$(dirname "$report")")
  options=$(sed -n '1s/^\$ warpgrind \(.*\) \.\/.*/\1/p' "$report" | tr ' ' '\n' |
    grep -Ev '^--(tool|device)=' | tr '\n' ' ')
  for program in "$name" "${name}_ok"; do
    tests/lib/nvcc -w -cudart=shared -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/$program" \
      "examples/$name/$program.cu" > "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"
      echo "FAIL $program: nvcc"; }
  done
  number=$((number + 1))
  devices="cpu gpu"  # make check: every other example on both
  [ "${TEST_SIZE:-}" = usual ] && [ $((number % 2)) = 0 ] && devices=cpu
  for device in $devices; do
    # shellcheck disable=SC2086
    python3 tests/tools/all.py $device "$TEST_DIR/$name" $options > "$TEST_DIR/differs" 2>&1
    if [ -s "$TEST_DIR/differs" ]; then
      cat "$TEST_DIR/differs"; echo "FAIL $name $device"
    else
      echo "ok $name $device"
    fi
    # shellcheck disable=SC2086
    timeout 200 "$WARPGRIND" --device=$device --tool=all $options -- "$TEST_DIR/${name}_ok" > \
      "$TEST_DIR/out" 2> "$TEST_DIR/err"; code=$?
    if [ $code != 0 ] || grep -qE '^==[0-9]+== (Error|Warning): ' \
      <(grep -v race-same-value "$TEST_DIR/err"); then cat "$TEST_DIR/err"
      echo "FAIL ${name}_ok $device: exit code $code"; else echo "ok ${name}_ok $device"; fi
  done
done
