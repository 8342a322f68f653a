#!/usr/bin/env bash
# quick: yes
# timeout: 900
# Every driver program of tests/driver in GPU mode: through the proxy, with the virtual device
# behind it as the real driver.
set -u
BLESS=0
. tests/gpumode/lib.sh
every_test c_program tests/driver/*.c
