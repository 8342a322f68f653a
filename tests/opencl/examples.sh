#!/usr/bin/env bash
# The programs of examples/opencl: each with a mistake is reported as NAME.expected says, and its
# twin without it is not.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build examples/opencl/example.c example
# what differs from run to run
same() { sed -E 's/^==[0-9]+==/==PID==/; s/0x[0-9a-f]{6,}/0x…/g; s/ +$//' "$1"; }
for kernel in examples/opencl/*.cl; do
  name=$(basename "$kernel" .cl)
  tool=$(sed -n 's|^// tools: ||p' "$kernel")
  timeout 100 "$WARPGRIND" --device=cpu --workers=1 --color=never -q --tool="$tool" \
    "$TEST_DIR/example" "$kernel" 2> "$TEST_DIR/$name.err"
  got=$?
  same "$TEST_DIR/$name.err" > "$TEST_DIR/$name.report"
  case $name in
    *_fixed)
      check "$name" eval '[ $got = 0 ] && [ ! -s "$TEST_DIR/$name.report" ]' ;;
    *)
      [ "${BLESS:-0}" != 1 ] || cp "$TEST_DIR/$name.report" "tests/opencl/$name.expected"
      check "$name" eval '[ $got = 99 ] &&
        diff -u "tests/opencl/$name.expected" "$TEST_DIR/$name.report"' ;;
  esac
done
