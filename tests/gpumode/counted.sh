#!/usr/bin/env bash
# timeout: 900
# The programs and kernels of driver_programs.sh and kernels.sh once more with an instrumented
# kernel in place of each: the added parameter is in lists and buffers of parameters, in graph
# nodes, in launches of every kind, and the program sees none of it.
set -u
BLESS=0
. tests/gpumode/lib.sh
# some fail on purpose, which is a finding here
export TEST_TOOL=count TEST_OPTIONS=--error-exitcode=0
# virtual_memory asks for the free memory to the byte, and counters take some.
mapfile -t files < <(ls tests/driver/*.c | grep -v virtual_memory.c)
every_test c_program "${files[@]}"
mapfile -t files < <(grep -l '^//!' tests/*/*.ptx)
every_test ptx_kernel "${files[@]}"
