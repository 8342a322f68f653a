#!/usr/bin/env bash
# quick: yes
# timeout: 120
# What racecheck does not look into is named with its kernel, on both devices, and for functions
# that access nothing nothing is said.
set -u
. tests/gpumode/lib.sh
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"
  exit 1; }
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
nvcc -w -cudart=shared -g -O3 -lineinfo -gencode arch=compute_75,code=compute_75 -o \
  "$TEST_DIR/unseen" "$ROOT/tests/racecheck/unseen.cu" || { echo "FAIL nvcc"; exit 1; }
cd "$TEST_DIR" || exit 1
for device in cpu gpu; do
  "$WARPGRIND" --device=$device --tool=racecheck ./unseen > out 2> err; code=$?
  check "$device exit_code" [ $code = 0 ]
  check "$device recursive" grep -q \
    'recursive(int\*): racecheck does not see what is accessed by the function .*down' err
  check "$device indirect" grep -q 'indirect(int\*, int): racecheck does not see what is accessed '\
'by functions that it calls through pointers' err
  check "$device no_more" [ "$(grep -c 'does not see' err)" = 2 ]
done
