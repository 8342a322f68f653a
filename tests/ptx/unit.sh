#!/usr/bin/env bash
# quick: yes
# The parsed form, looked at from C, with sanitizers.
set -u
cd "$(dirname "$0")/../.." || exit 1
out=${TEST_DIR:-$(mktemp -d)}/unit_test
${CC:-gcc} -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined -pthread -Isrc -I"$BUILD/gen" \
  -o "$out" tests/ptx/unit_test.c src/ptx/*.c src/base/*.c -lm -lrt || { echo "FAIL build"; exit 1
    }
"$out"
