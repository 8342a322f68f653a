#!/usr/bin/env bash
# Of the barriers of a kernel with interrupts only those are checked at which somebody can be
# missing: kernels of programs/settled.cu, by their PTX.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
tests/lib/nvcc -std=c++17 -arch=sm_75 -lineinfo -Iinclude -o "$TEST_DIR/settled" \
  tests/interrupts/programs/settled.cu || { echo "FAIL build"; exit 1; }
"$WARPGRIND" ptx --interrupts "$TEST_DIR/settled" > "$TEST_DIR/ptx"
# states the memory of a launch
check memory_stated grep -q "^// kernel _Z3sumILb1EEvPiPKii: 20 bytes of memory for each caller (4\
 live and arguments, 16 for its place), 512 for each block with callers, besides dynamic shared\
 memory\$" \
  "$TEST_DIR/ptx"
number_of() {  # PATTERN KERNEL: so many lines of the kernel have it
  awk -v kernel="^[.]visible [.]entry _Z[0-9]+$2ILb1E" '$0 ~ kernel { on = 1 } /^}/ { on = 0 } on' \
    "$TEST_DIR/ptx" | grep -c "$1"
}
check sum_checked [ "$(number_of 'bar[a-z]*\.red' sum)" = 1 ]
check sum_unchecked [ "$(number_of 'bar\.sync' sum)" = 6 ]
check sum_uncounted [ "$(number_of 'red\.shared' sum)" = 0 ]
check some_end_checked [ "$(number_of 'bar[a-z]*\.red' some_end)" = 2 ]
check branches_checked [ "$(number_of 'bar[a-z]*\.red' branches)" = 2 ]
check behind_checked [ "$(number_of 'bar[a-z]*\.red' behind)" = 0 ]
check behind_uncounted [ "$(number_of 'red\.shared' behind)" = 0 ]
check tiles_checked [ "$(number_of 'bar[a-z]*\.red' tiles)" = 1 ]
check decided_checked [ "$(number_of 'bar[a-z]*\.red' decided)" = 2 ]
check last_checked [ "$(number_of 'bar[a-z]*\.red' last)" = 0 ]
