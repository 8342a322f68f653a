#!/usr/bin/env bash
# quick: yes
set -u
cd "$ROOT" || exit 1
. tests/lib/session.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Isrc $san -pthread -o "$TEST_DIR/short_lived" \
  tests/channel/short_lived.c "${SESSION_OBJS[@]}" > "$TEST_DIR/cc" 2>&1 || { cat "$TEST_DIR/cc"
  echo "FAIL build"; exit 1; }
"$TEST_DIR/short_lived"
