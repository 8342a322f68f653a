#!/usr/bin/env bash
# quick: yes
# timeout: 200
# What is said of races, word for word but for process ids and addresses (BLESS=1 rewrites it); the
# same seed finds the same races at the same threads.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
normal() { sed -E "s/^==[0-9]+== ?/==PID== /; s/ +\$//; s/0x[0-9a-f]{8,}/0x…/g; s#$ROOT/##g; "\
"s#(/[^ :()]*)?/include/#…/include/#g; s#$TEST_DIR/?#./#g" "$1"; }
tests/lib/nvcc -w -g -O3 -lineinfo -gencode arch=compute_75,code=compute_75 -o "$TEST_DIR/report" \
  tests/racecheck/report.cu || { echo "FAIL nvcc"; exit 1; }
(cd "$TEST_DIR" && "$WARPGRIND" --device=cpu --workers=1 --tool=racecheck ./report > out 2> err)
normal "$TEST_DIR/err" > "$TEST_DIR/got"
[ "${BLESS:-0}" = 1 ] && cp "$TEST_DIR/got" tests/racecheck/report.txt
diff -u tests/racecheck/report.txt "$TEST_DIR/got" && echo "ok words" || echo "FAIL words"

for seed in 1 2 3; do
  for turn in first second; do
    (cd "$TEST_DIR" && "$WARPGRIND" --device=cpu --workers=1 --seed=$seed --tool=racecheck \
      ./report > out 2> err)
    normal "$TEST_DIR/err" > "$TEST_DIR/$turn"
  done
  cmp -s "$TEST_DIR/first" "$TEST_DIR/second" && grep -q 'race-shared' "$TEST_DIR/first" &&
    echo "ok seed $seed" || { diff "$TEST_DIR/first" "$TEST_DIR/second"; echo "FAIL seed $seed"; }
done
