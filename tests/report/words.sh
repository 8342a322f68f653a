#!/usr/bin/env bash
# quick: yes
# Reports say work-item of an OpenCL launch where they say thread of one of CUDA, those of a run
# file too.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086,SC2046
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-missing-field-initializers $san -pthread -Isrc -o \
  "$TEST_DIR/words" tests/report/words.c \
  "$BUILD"/obj/{base,channel,store,trace,trace/*,symbol,run,report}/*.o \
  "$BUILD"/obj/{tool_reports,tool_reports/*}/*.o \
    "$BUILD"/obj/tools/{kinds,fpcheck/weave_options}.o \
  -lsqlite3 $(make -s BUILD="$BUILD" print-symbol-libs) -lz -lzstd -llz4 -lm -ldl -lrt ||
    { echo "FAIL words: does not compile"; exit 1; }
cd "$TEST_DIR" || exit 1
check words          eval './words > words.text'
[ "${BLESS:-0}" != 1 ] || cp words.text "$ROOT/tests/report/words.text"
check saved          eval './words saved > saved.text'
check file           diff -u words.text saved.text
check text           diff -u "$ROOT/tests/report/words.text" words.text
# nothing of CUDA is left in the other report
sed -n '/^--- OpenCL/,$p' words.text > opencl
check no_cuda        eval \
  '! sed "s/([a-z-]*)//" opencl | grep -iE "thread|warp|\bblock|\bgrid|shared|cuda"'
