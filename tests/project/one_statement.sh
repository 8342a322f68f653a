#!/usr/bin/env bash
# No comma operator saves braces: one statement a line. clang finds them; GCC has no such warning.
# Heads of loops may have one. make check reads the files of a folder as one, which takes a tenth of
# the time: names that several files define are errors then, but their code is looked at all the
# same. make check-long reads each file alone.
set -u
command -v clang > /dev/null || { echo "skip commas: clang is not installed"; exit 77; }
flags=(-fsyntax-only -Wno-everything -Wcomma -ferror-limit=0 -std=gnu11 -D_GNU_SOURCE
  -DWARPGRIND_LIBRARY -DWARPGRIND_VERSION='""' -I. -Isrc -I"$BUILD/gen" -Iinclude -Itests)
for folder in lib driver count channel trace; do flags+=(-Itests/$folder); done
nvcc=$(readlink -f "$(command -v nvcc)") && flags+=(-idirafter "${nvcc%/bin/nvcc}/include")
all=$TEST_DIR/all.c failed=0
commas() { clang "${flags[@]}" "$1" 2>&1 | grep 'misuse of comma\|fatal error' | sort -u; }
complain() {
  echo "statements joined by a comma:"
  echo "$1"
  failed=1
}

for folder in $(find src tests bench -name '*.c' -printf '%h\n' | sort -u); do
  { printf '#include "%s"\n' "$folder"/*.c
    echo 'static int planted(int a) { int b; b = 1, a = 2; return a + b; }'; } > "$all"
  found=$(commas "$all")
  case $found in *"/all.c:"*) ;;  # a compiler's cache may shorten the path
    *"'llvm-c/"* | *"'cu"*".h' file"* | *"'nvrtc.h'"*) ;;  # LLVM and nvcc are optional
    *) echo "$folder: the planted comma is not found: $found"; failed=1 ;;
  esac
  found=$(grep -v "/all\.c:\|fatal error" <<< "$found")
  [ -z "$found" ] || complain "$found"
done
if [ "${TEST_SIZE:-}" = long ]; then
  found=$(find src tests bench -name '*.c' | while read -r f; do commas "$f"; done |
    grep -v 'fatal error')
  [ -z "$found" ] || complain "$found"
fi
exit $failed
