#!/usr/bin/env bash
# The programs of this folder on the real GPU: the findings are those of the virtual device.
TEST_DEVICE=gpu bash "$(dirname "$0")/api.sh"
