#!/usr/bin/env bash
# quick: yes
# timeout: 600
# examples/*/report.txt: what Warpgrind says about each example, word for word but for process ids
# and addresses; about its correct twin it says nothing. The first line of a report is the command
# that made it: its options are used. How long something hung and how often a loop turned differs
# from run to run.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
normal() { sed -E "s/^==[0-9]+== ?/==PID== /; s/progress for [0-9.]+ s/progress for N s/; "\
"s/turned about [0-9.]+( million)? times/turned about N times/; s/ +\$//; s/0x[0-9a-f]{5,}/0x…/g; "\
"s#$ROOT/##g; s#(/[^ :()]*)?/include/#…/include/#g; s#$TEST_DIR/?#./#g" "$1"; }
build() {
  tests/lib/nvcc -w -g -Xcompiler=-O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/$1" \
    "examples/${1%_ok}/$1.cu" > "$TEST_DIR/nvcc.log" 2>&1 ||
    { cat "$TEST_DIR/nvcc.log"; echo "FAIL $1: nvcc"; return 1; }
}
# --workers=1: the same thread is the first to be wrong each time
run() { (cd "$TEST_DIR" && "$WARPGRIND" --workers=1 $1 "./$2" > out 2> err); }
# A launch that is ended for a hang: the program's own words and the report come at the same time.
own_words_first() { grep -v '^==' "$1"; grep '^==' "$1"; }
for report in examples/*/report.txt; do
  name=$(basename "$(dirname "$report")") options=$(sed -n '1s/^\$ warpgrind \(.*\) \.\/.*/\1/p' \
    "$report")
  build "$name" && build "${name}_ok" || continue
  run "$options" "$name"; code=$?
  { head -n 1 "$report"; own_words_first "$TEST_DIR/err" > "$TEST_DIR/err.sorted"
    normal "$TEST_DIR/err.sorted" | sed '1{/^==PID==$/d}'; } > "$TEST_DIR/got"
  if [ "${BLESS:-0}" = 1 ]; then cp "$TEST_DIR/got" "$report"; fi
  if ! diff -u "$report" "$TEST_DIR/got"; then echo "FAIL $name: another report"
  elif [ $code != 99 ]; then echo "FAIL $name: exit code $code"
  else echo "ok $name"; fi
  run "$options" "${name}_ok"; code=$?
  if [ $code != 0 ] || grep -qE '^==[0-9]+== (Error|Warning|Note): ' "$TEST_DIR/err"
    then cat "$TEST_DIR/err"; echo "FAIL ${name}_ok: exit code $code"
  else echo "ok ${name}_ok"; fi
done
