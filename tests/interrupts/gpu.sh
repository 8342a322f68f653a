#!/usr/bin/env bash
# The tests of this folder on the real GPU: programs print what they print on the virtual device,
# and without Warpgrind the calls give their defaults.
export TEST_DEVICE=gpu
for script in programs errors findings behind_call recorded linked; do
  bash "$(dirname "$0")/$script.sh"
done
