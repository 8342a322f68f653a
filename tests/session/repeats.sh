#!/usr/bin/env bash
# quick: yes
set -u
. tests/lib/unit.sh
command -v nvcc > /dev/null || { echo "skipped: there is no nvcc"; exit 0; }
export CUBIN=$TEST_DIR/repeats.cubin
nvcc -w -cubin -arch=sm_90 -o "$CUBIN" tests/sass/repeats.cu || { echo "FAIL nvcc"; exit 1; }
unit session/repeats "$BUILD"/obj/image/*.o -lzstd -llz4
