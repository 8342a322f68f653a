#!/usr/bin/env bash
# quick: yes
set -u
. tests/gpu_unit/lib.sh
gpu_unit plain_launches
