#!/usr/bin/env bash
# Findings survive the end of a program on a real GPU.
ENDS_DEVICE=gpu bash "$(dirname "$0")/ends.sh"
