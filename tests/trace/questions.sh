#!/usr/bin/env bash
# timeout: 600
# Questions about recorded operations against the plain memory of made-up programs (questions.c): many small programs, and some whose chunks have many blocks.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" lib-trace lib-base > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter $san -Isrc -Itests/trace -o "$TEST_DIR/questions" tests/trace/questions.c tests/trace/program.c \
  "$BUILD/obj/libtrace.a" "$BUILD/obj/libbase.a" -lsqlite3 -lzstd -lm -pthread || { echo "FAIL questions: does not compile"; exit 1; }
check small  "$TEST_DIR/questions" 1 12
check tiny   "$TEST_DIR/questions" 1000 60 5 15
check large  "$TEST_DIR/questions" 2000 1 3 20000
