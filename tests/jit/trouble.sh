#!/bin/bash
# Whatever happens to the compiler or its cache: results are the same, and -v says why kernels are
# interpreted.
# timeout: 600
set -eu
. tests/jit/jit.sh
host=$(ptxhost)
kernel=tests/kernels/branches.ptx
cache=$TEST_DIR/cache/jit
cp "$BUILD/lib/warpgrind-jit" "$TEST_DIR/compiler"

good() { run always -- "$host" $kernel; }
export WARPGRIND_JIT_HELPER=$TEST_DIR/nowhere
check missing good
check missing_says has "$TEST_DIR/log.always" "nowhere: No such file or directory"
for way in 'exit 1' 'kill -SEGV $$' 'head -c 40 /dev/zero >&3' 'head -c 4 <&3 > /dev/null'; do
  printf '#!/bin/sh\n%s\n' "$way" > "$TEST_DIR/bad"
  chmod +x "$TEST_DIR/bad"
  WARPGRIND_JIT_HELPER=$TEST_DIR/bad
  check "bad_helper" good
  check "bad_helper_says" has "$TEST_DIR/log.always" "is not compiled: the compiler"
done
WARPGRIND_JIT_HELPER=$TEST_DIR/compiler
# A program that ends soon pays nothing for the compiler.
check short_program run auto -- "$host" $kernel
check short_program_is_interpreted [ "$(compiled auto)" = 0 ]
check no_file_of_a_failure [ "$(find "$cache" -type f | wc -l)" = 0 ]

check compiles good
files=$(find "$cache" -type f | wc -l)
check cached [ "$files" -ge 1 ]
check cache_is_private [ "$(stat -c %a "$cache")" = 700 ]
first=$(compiled)
# A damaged file is made again.
for f in "$cache"/*; do printf 'x' | dd of="$f" bs=1 seek=200 conv=notrunc status=none; done
find "$cache" -type f -exec sha256sum {} + | sort > "$TEST_DIR/damaged"
check damaged good
find "$cache" -type f -exec sha256sum {} + | sort > "$TEST_DIR/repaired"
check damaged_is_repaired [ "$(cmp -s "$TEST_DIR/damaged" "$TEST_DIR/repaired"; echo $?)" = 1 ]
check damaged_compiled [ "$(compiled)" = "$first" ]
for f in "$cache"/*; do truncate -s 20 "$f"; done
check cut_off good
# From the cache, without a compiler that works.
check filled good
touch -r "$TEST_DIR/compiler" "$TEST_DIR/time"
head -c "$(stat -c %s "$TEST_DIR/compiler")" /dev/zero > "$TEST_DIR/compiler"
chmod +x "$TEST_DIR/compiler"
touch -r "$TEST_DIR/time" "$TEST_DIR/compiler"
check from_cache good
check from_cache_compiled [ "$(compiled)" = "$first" ]
# A folder that others can write is not trusted.
chmod 770 "$cache"
check open_folder good
check open_folder_is_not_used [ "$(compiled)" = 0 ]
chmod 700 "$cache"

# The program has no child that it did not start, and no descriptor of ours goes to its children.
cp "$BUILD/lib/warpgrind-jit" "$TEST_DIR/compiler2"
WARPGRIND_JIT_HELPER=$TEST_DIR/compiler2
$CC -std=gnu11 -g -O1 -Wall -Isrc -Itests/lib -o "$TEST_DIR/children" tests/jit/children.c \
  -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined
check children run always -- "$TEST_DIR/children" $kernel
check children_compiled [ "$(compiled)" -ge 1 ]
