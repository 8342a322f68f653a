#!/usr/bin/env bash
# timeout: 300
# What a name stands for, in the line at the top, the calculator and conditions; which operation a
# finding is about; and that every control has a name and can be reached by the keyboard.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
tests/lib/nvcc -w -g -O3 -lineinfo -Iinclude -arch=compute_75 -o "$TEST_DIR/names" \
  tests/viewer/names.cu > "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"
  exit 1; }
"$WARPGRIND" --device=cpu --workers=1 --tool=memcheck,initcheck,racecheck --record -q \
  -o "$TEST_DIR/names.wg" "$TEST_DIR/names" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
serve "$TEST_DIR/names.wg" || exit 1
node tests/viewer/names.mjs "$URL" "$TEST_DIR/names.png"
node tests/viewer/access.mjs "$URL"
end_server
