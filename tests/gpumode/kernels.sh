#!/usr/bin/env bash
# quick: yes
# timeout: 900
# Every kernel test (tests/*/*.ptx with a launch script) in GPU mode, with the virtual device as the
# real driver.
set -u
BLESS=0
. tests/gpumode/lib.sh
mapfile -t files < <(grep -l '^//!' tests/*/*.ptx)
every_test ptx_kernel "${files[@]}"
