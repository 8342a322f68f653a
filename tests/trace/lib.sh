# Sourced by the tests of this folder.
cd "$ROOT" || exit 1
. tests/lib/check.sh
# build_program NAME: tests/trace/NAME.c with what makes up programs, as $TEST_DIR/NAME
build_program() {
  local san=
  make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" lib-trace lib-store lib-base > "$TEST_DIR/make.log" \
    2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
  [ "$SAN" = 0 ] || san="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
  # shellcheck disable=SC2086
  $CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter $san -Isrc -Itests/trace -o \
    "$TEST_DIR/$1" "tests/trace/$1.c" tests/trace/program.c \
    "$BUILD/obj/libtrace.a" "$BUILD/obj/libstore.a" "$BUILD/obj/libbase.a" -lsqlite3 -lzstd -lm \
      -pthread || { echo "FAIL $1: does not compile"; exit 1; }
}
